"""What was served to a run, kept until the run is scored; and what a run made, so that it can be hidden as a whole.

A fact may be drawn more than once in a run, and is withheld from it only if every draw withheld it: the chances
multiply. One that was served without a draw could not have been withheld at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from pydantic import Field

from remembrancer.records import InvalidInputError, Receipt
from remembrancer.records.base import Listed, Record
from remembrancer.records.key import NonEmptyKey, require_key, require_keys

MAX_RUNS = 10_000
"""How many runs a namespace keeps in its register; when more are opened, those opened first are forgotten."""

MAX_SERVED = 10_000
"""The most facts that the register keeps of one run."""

_LEAST_CHANCE = 1e-300


class ServedFact(Record):
    """What a run had to do with a fact.

    Attributes:
        fact_id: The fact; it need not be stored any more.
        is_served: Whether it was served; else chance withheld it.
        chance: How probable it was that chance withheld it, 0 to below 1; 0: it could not.
    """

    fact_id: NonEmptyKey
    is_served: bool
    chance: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False)


class Serving(Record):
    """Everything that was served to a run so far.

    Attributes:
        run_id: The run.
        facts: In the order in which they were served or drawn first, each once.
    """

    run_id: NonEmptyKey
    facts: Listed[ServedFact] = ()

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """What the run was given."""
        return tuple(one.fact_id for one in self.facts if one.is_served)

    @property
    def holdout(self) -> dict[str, float]:
        """What chance could have withheld from the run, and how probable that was."""
        return {one.fact_id: one.chance for one in self.facts if one.chance}

    def extended(self, more: Iterable[ServedFact]) -> Serving:
        """With what was served since.

        Raises:
            InvalidInputError: More than `MAX_SERVED` facts.
        """
        known = {one.fact_id: one for one in self.facts}
        for one in more:
            earlier = known.get(one.fact_id)
            known[one.fact_id] = one if earlier is None else _joined(earlier, one)
        if len(known) > MAX_SERVED:
            problem = f"more than {MAX_SERVED:,} facts were served to run {self.run_id!r}: score it, and begin another"
            raise InvalidInputError("run_id", problem)
        return self.model_copy(update={"facts": tuple(known.values())})


def _joined(earlier: ServedFact, later: ServedFact) -> ServedFact:
    both = earlier.chance and later.chance
    chance = max(earlier.chance * later.chance, _LEAST_CHANCE) if both else 0.0
    return ServedFact(fact_id=later.fact_id, is_served=earlier.is_served or later.is_served, chance=chance)


def served_facts(fact_ids: object, holdout: Mapping[str, float] | None) -> list[ServedFact]:
    """What was served, and what was drawn, as the register keeps it.

    Raises:
        InvalidInputError: Not ids, or a chance that is not above 0 and below 1.
    """
    served = dict.fromkeys(require_keys(fact_ids, field="fact_ids"))
    chances = dict(holdout or {})
    for fact_id, chance in chances.items():
        require_key(fact_id, field="holdout")
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance < 1:
            raise InvalidInputError(f"holdout.{fact_id}", f"expected a number above 0 and below 1, got {chance!r}")
    given = [ServedFact(fact_id=one, is_served=True, chance=chances.get(one, 0.0)) for one in served]
    drawn = [one for one in chances if one not in served]
    return given + [ServedFact(fact_id=one, is_served=False, chance=chances[one]) for one in drawn]


class RunReach(Record):
    """What a run made, by ids in order, each once.

    Attributes:
        fact_ids: Its facts, those read from its messages or episodes, and all that were made from these.
        relationship_ids: Its relationships; those that statements of the facts make are not listed.
    """

    fact_ids: Listed[str] = ()
    relationship_ids: Listed[str] = ()


@runtime_checkable
class TracksRuns(Protocol):
    """A store that knows what was served to a run, and what a run made."""

    async def serve_run(
        self, run_id: str, fact_ids: Sequence[str], *, holdout: Mapping[str, float] | None = None
    ) -> Serving:
        """Add to what was served to a run; it is durable once this returns.

        The register keeps the `MAX_RUNS` runs that were opened last.

        Args:
            run_id: The run; opened by its first serving, of no fact perhaps.
            fact_ids: What it was given.
            holdout: What chance could have withheld from it, served or not, and how probable that was.

        Raises:
            InvalidInputError: An argument is wrong, or the run was served more than `MAX_SERVED` facts.
        """
        ...

    async def get_serving(self, run_id: str) -> Serving | None:
        """What was served to a run; `None`: it is not in the register."""
        ...

    async def run_reach(self, run_id: str) -> RunReach:
        """What a run made, closed and quarantined records too."""
        ...

    async def find_receipt(self, idempotency_key: str) -> Receipt | None:
        """The receipt of the write that had this key first, or `None`."""
        ...
