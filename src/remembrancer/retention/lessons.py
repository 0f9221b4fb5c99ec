"""Which lessons a run is given: those that have proved themselves, and a few on trial."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from remembrancer.ports import MemoryStore, OutcomeLedger
from remembrancer.ports.arguments import keys, whole_number
from remembrancer.records import CANDIDATE_TAG, QUARANTINE_TAG, Fact, InvalidInputError
from remembrancer.records.key import require_key
from remembrancer.retention.statistics import RandomSource

_PAGE = 1_000


@dataclass(frozen=True)
class Lessons:
    """What one run is given; iterates over the facts.

    Attributes:
        facts: Verified ones first, then those on trial; without embeddings.
        holdout: Candidates of this run that chance could have withheld, with the probability of that; to be recorded
            with the run's score. Empty when nothing was left to chance.
    """

    facts: tuple[Fact, ...]
    holdout: Mapping[str, float] = field(default_factory=dict)

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """Ids of the facts, to be recorded with the run's score."""
        return tuple(fact.id for fact in self.facts)

    @property
    def withheld(self) -> tuple[str, ...]:
        """Candidates that chance withheld from this run."""
        served = set(self.fact_ids)
        return tuple(fact_id for fact_id in self.holdout if fact_id not in served)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)


async def retrieve_gated_lessons(
    store: MemoryStore,
    *,
    tags: Sequence[str],
    candidate_tag: str = CANDIDATE_TAG,
    max_facts: int = 10,
    candidate_slots: int = 2,
    ledger: OutcomeLedger | None = None,
    rest_after_trials: int | None = None,
    holdout: float = 0.0,
    rng: RandomSource = random.random,
) -> Lessons:
    """Choose the lessons for a run among the live facts with any of some tags, and count their use.

    A fact with the candidate tag is on trial, all others are verified. Verified ones are served newest first. Slots
    that candidates leave unused go to verified facts; those that verified facts leave unused go to nobody. Quarantined
    facts are never served.

    Args:
        store: Where the facts are.
        tags: Facts with at least one of these; empty: all facts.
        candidate_tag: Marks facts on trial.
        max_facts: The most facts to serve, 0 or more.
        candidate_slots: The most of them that may be on trial, 0 or more.
        ledger: Tells how many trials each candidate has had: those with most go first, so that trials come to an end,
            and of equals the oldest. Without one candidates are served newest first.
        rest_after_trials: Candidates with so many trials are left out, 0 or more; needs a ledger.
        holdout: With this probability, 0 to below 1, each candidate that would be served is withheld instead, whatever
            happens to the others. Its slot stays empty, so that the run differs from another in that fact alone. What
            was drawn stands in the answer's `holdout`.
        rng: Draws for the holdout, once a candidate.

    Raises:
        InvalidInputError: An argument is wrong; names it. Nothing was counted.
    """
    wanted = keys(tags, field="tags")
    on_trial = require_key(candidate_tag, field="candidate_tag")
    most = whole_number(max_facts, field="max_facts")
    slots = min(whole_number(candidate_slots, field="candidate_slots"), most)
    rested = None if rest_after_trials is None else whole_number(rest_after_trials, field="rest_after_trials")
    probability = _checked_holdout(holdout)
    found = [fact async for fact in _candidates(store, wanted, on_trial)] if slots else []
    if ledger is not None:
        found = await _by_trials(found, ledger, rested)
    candidates = found[:slots]
    excluded = [QUARANTINE_TAG, on_trial]
    verified = await store.find_facts(tags=wanted, exclude_tags=excluded, limit=most - len(candidates))
    chances = {fact.id: probability for fact in candidates} if probability else {}
    withheld = {fact_id for fact_id in chances if rng() < probability}
    # A fact that is promoted between the two reads is in both.
    served = {fact.id: fact for fact in (*verified, *candidates) if fact.id not in withheld}
    await store.touch_facts(list(served))
    return Lessons(tuple(fact.model_copy(update={"embedding": None}) for fact in served.values()), chances)


def _checked_holdout(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInputError("holdout", f"expected a number, got {type(value).__name__}")
    if not 0 <= value < 1:  # refuses NaN as well
        raise InvalidInputError("holdout", f"must be 0 to below 1, got {value}")
    return float(value)


async def _candidates(store: MemoryStore, tags: Sequence[str], candidate_tag: str) -> AsyncIterator[Fact]:
    # There are far fewer facts on trial than facts with the tags, so those are gone through.
    async for fact in on_trial(store, candidate_tag):
        if not tags or not set(tags).isdisjoint(fact.tags):
            yield fact


async def on_trial(store: MemoryStore, candidate_tag: str) -> AsyncIterator[Fact]:
    """All live facts on trial, newest first, each once; quarantined ones are not."""
    seen: set[str] = set()
    offset = 0
    while True:
        page = await store.find_facts(tags=[candidate_tag], exclude_tags=[QUARANTINE_TAG], limit=_PAGE, offset=offset)
        for fact in page:
            if fact.id not in seen:
                seen.add(fact.id)
                yield fact
        if len(page) < _PAGE:
            return
        offset += _PAGE


async def _by_trials(candidates: Sequence[Fact], ledger: OutcomeLedger, rest_after: int | None) -> list[Fact]:
    stats = await ledger.get_fact_stats_batch([fact.id for fact in candidates]) if candidates else {}
    trials = {fact.id: stats[fact.id].trials if fact.id in stats else 0 for fact in candidates}
    awake = [fact for fact in candidates if rest_after is None or trials[fact.id] < rest_after]
    return sorted(awake, key=lambda fact: (-trials[fact.id], fact.valid_from, fact.id))
