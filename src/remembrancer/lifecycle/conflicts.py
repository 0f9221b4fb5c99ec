"""Conflict detection: facts of one entity that deny, replace or contradict each other, and what is done about it.

Three kinds, in this order, each pair once: *negation* (one denies what the other says), *supersession* (they say much
the same, more than a day apart), *semantic contradiction* (their vectors are near, their words are not). The first two
are judged by words within the facts of an entity, the third through the index, fact by fact; no kind compares every
pair. Closed and quarantined facts take no part.

Resolving closes the fact that loses and deletes nothing: its `invalidated_by` becomes the id of the one that is kept.
All closings of one call are one transaction. Run entity resolution first, since facts meet only through entities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from remembrancer.lifecycle.conflict import (
    Conflict,
    ConflictPolicy,
    Preference,
    Resolution,
    Verdict,
    require_policy,
    require_preference,
    verdict,
)
from remembrancer.lifecycle.conflict_candidates import Candidates, PlainCandidates, candidates_of
from remembrancer.lifecycle.conflict_pairs import Pairs, conflicts_within, contradiction
from remembrancer.lifecycle.plan import Change, Plan, plan_and_apply
from remembrancer.ports import MemoryIndex, MemoryStore
from remembrancer.ports.arguments import flag, similarity, whole_number
from remembrancer.records import (
    Clock,
    Fact,
    InvalidInputError,
    NewId,
    random_id,
    system_clock,
)
from remembrancer.records.base import Listed, Record
from remembrancer.records.instant import require_instant
from remembrancer.records.key import Id
from remembrancer.records.number import is_finite

Progress = Callable[[int], None]
"""Told how many groups and facts have been looked at."""

_RESOLUTIONS: Mapping[str, Verdict] = {
    "keep_a": Verdict("keep_a", "kept the first, closed the second"),
    "keep_b": Verdict("keep_b", "kept the second, closed the first"),
    "keep_both": Verdict(None, "kept both"),
}


class ConflictDetail(Record):
    """What was done with one conflict, in words; a `loser` was closed."""

    conflict: Conflict
    action: str
    loser: Id | None = None


class ConflictReport(Record):
    """What became of conflicts.

    Attributes:
        resolved: In how many one side was closed.
        skipped: How many were left as they are.
        details: Each conflict, in the order given.
        pass_id: The pass that closed facts, to undo it by; `None`: nothing was written.
    """

    resolved: int = 0
    skipped: int = 0
    details: Listed[ConflictDetail] = ()
    pass_id: Id | None = None


class ConflictPlan(Record):
    """A plan, and the report that applying it comes to."""

    plan: Plan
    report: ConflictReport


class ConflictDetector:
    """Finds conflicts among facts, and resolves them by a policy."""

    def __init__(
        self,
        store: MemoryStore,
        index: MemoryIndex,
        *,
        auto_resolve_supersession: bool = False,
        embedding_threshold: float = 0.8,
        semantic_overlap_threshold: float = 0.3,
        policy: ConflictPolicy = "manual-review",
        prefer: Preference = "newer",
        supersession_day_threshold: float = 1,
        batch_size: int = 1_000,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make a detector.

        Args:
            store: The memory.
            index: Similarity search over it.
            auto_resolve_supersession: Close the older fact of each supersession as soon as it is detected.
            embedding_threshold: The least cosine, included, at which two facts are about the same; -1 to 1.
            semantic_overlap_threshold: Below this word overlap such facts contradict each other, not included; above 1
                all of them do.
            policy: What `auto_resolve_all` does when it is given none; see `verdict`.
            prefer: Which side of a negation `negation-invalidates-positive` keeps: the newer, or always the negation.
            supersession_day_threshold: More than so many days must lie between two facts; 0 or more, not included.
            batch_size: How many facts are read at once, 1 or more.
            clock: Tells when a plan is made.
            new_id: Ids of passes.

        Raises:
            InvalidInputError: An option is out of its bounds; names it.
        """
        self._store = store
        self._index = index
        self._closes_superseded = flag(auto_resolve_supersession, field="auto_resolve_supersession")
        self._least_cosine = similarity(embedding_threshold, field="embedding_threshold")
        self._overlap = _number(semantic_overlap_threshold, field="semantic_overlap_threshold")
        self._policy = require_policy(policy, field="policy")
        self._prefer = require_preference(prefer, field="prefer")
        self._days = _number(supersession_day_threshold, field="supersession_day_threshold")
        self._batch_size = whole_number(batch_size, field="batch_size", least=1)
        self._clock = clock
        self._new_id = new_id

    async def detect(self, facts: Sequence[Fact] | None = None, *, progress: Progress | None = None) -> list[Conflict]:
        """Find conflicts: negations first, then supersessions, then contradictions.

        With `auto_resolve_supersession` the older fact of each supersession is closed before this returns.

        Args:
            facts: Look for conflicts among these, and between them and what the index finds near; closed ones are
                passed over. `None`: all facts that are neither closed nor quarantined.
            progress: Told now and then how much has been looked at.

        Raises:
            InvalidInputError: Not a list of facts.
            PlanOutdatedError: Others kept changing the facts to close; nothing was closed.
            ServerUnavailableError: The database could not be reached.
        """
        candidates: Candidates
        if facts is None:
            candidates = await candidates_of(self._store, self._index, page=self._batch_size)
        else:
            candidates = PlainCandidates(self._store, self._index, _live(facts))
        pairs, done = Pairs(), 0
        negated: list[Conflict] = []
        superseded: list[Conflict] = []
        async for group in candidates.groups():
            denials, replacements = conflicts_within(group, pairs, day_threshold=self._days)
            negated += denials
            superseded += replacements
            done = _count(done, progress)
        contradicting: list[Conflict] = []
        async for fact, near in candidates.near(min_similarity=self._least_cosine):
            found = (contradiction(fact, other, pairs, overlap_threshold=self._overlap) for other in near)
            contradicting += [conflict for conflict in found if conflict is not None]
            done = _count(done, progress)
        if self._closes_superseded and superseded:
            await self._resolve(superseded, [verdict(one, "supersede-on-newer") for one in superseded])
        return negated + superseded + contradicting

    async def resolve_conflict(self, conflict: Conflict, resolution: Resolution) -> ConflictReport:
        """Resolve one conflict by hand.

        Args:
            conflict: As `detect` gave it.
            resolution: `keep_a` closes the second fact in favour of the first, `keep_b` the reverse; `keep_both`
                writes nothing.

        Raises:
            InvalidInputError: Not a conflict, or no such resolution.
            PlanOutdatedError: Others kept changing the two facts; nothing was written.
        """
        chosen = _RESOLUTIONS.get(resolution) if isinstance(resolution, str) else None
        if chosen is None:
            raise InvalidInputError("resolution", f"expected one of {', '.join(_RESOLUTIONS)}, got {resolution!r}")
        return await self._resolve(_conflicts([conflict], field="conflict"), [chosen])

    async def auto_resolve_all(
        self,
        conflicts: Sequence[Conflict],
        policy: ConflictPolicy | None = None,
        *,
        prefer: Preference | None = None,
        dry_run: bool = False,
    ) -> ConflictReport:
        """Resolve conflicts by a policy, in one transaction.

        They are taken one by one in order: of several closings of one fact the last counts, and a fact that lost may
        still win later. Only the closing mark is written; whatever else changed in a fact since is kept.

        Args:
            conflicts: As `detect` gave them.
            policy: `None`: the detector's.
            prefer: `None`: the detector's.
            dry_run: Only say what would be done.

        Raises:
            InvalidInputError: Not conflicts, or no such policy.
            PlanOutdatedError: Others kept changing the facts; nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        listed, verdicts = self._judged(conflicts, policy, prefer)
        if flag(dry_run, field="dry_run"):
            return (await self._planned(listed, verdicts)).report
        return await self._resolve(listed, verdicts)

    async def plan(
        self,
        conflicts: Sequence[Conflict],
        policy: ConflictPolicy | None = None,
        *,
        prefer: Preference | None = None,
    ) -> ConflictPlan:
        """What `auto_resolve_all` would write, to be applied with `apply_plan`; writes nothing."""
        return await self._planned(*self._judged(conflicts, policy, prefer))

    def _judged(
        self, conflicts: Sequence[Conflict], policy: ConflictPolicy | None, prefer: Preference | None
    ) -> tuple[list[Conflict], list[Verdict]]:
        listed = _conflicts(conflicts, field="conflicts")
        chosen = self._policy if policy is None else require_policy(policy, field="policy")
        side = self._prefer if prefer is None else require_preference(prefer, field="prefer")
        return listed, [verdict(conflict, chosen, prefer=side) for conflict in listed]

    async def _resolve(self, conflicts: Sequence[Conflict], verdicts: Sequence[Verdict]) -> ConflictReport:
        planned = await plan_and_apply(self._store, lambda: self._planned(conflicts, verdicts), lambda made: made.plan)
        pass_id = None if planned.plan.is_empty else planned.plan.pass_id
        return planned.report.model_copy(update={"pass_id": pass_id})

    async def _planned(self, conflicts: Sequence[Conflict], verdicts: Sequence[Verdict]) -> ConflictPlan:
        stored = await self._stored(conflicts, verdicts)
        known = {one.id for conflict in conflicts for one in (conflict.a, conflict.b)}
        details: list[ConflictDetail] = []
        marks: dict[str, tuple[str, str]] = {}
        for conflict, (resolution, action) in zip(conflicts, verdicts, strict=True):
            if resolution is None or resolution == "keep_both":
                details.append(ConflictDetail(conflict=conflict, action=action))
                continue
            problem = _outdated(conflict, stored, known)
            if problem is not None:
                details.append(ConflictDetail(conflict=conflict, action=f"skipped: {problem}"))
                continue
            kept, lost = (conflict.a, conflict.b) if resolution == "keep_a" else (conflict.b, conflict.a)
            details.append(ConflictDetail(conflict=conflict, action=action, loser=lost.id))
            marks[lost.id] = (kept.id, f"{conflict.kind.replace('_', ' ')}: {action}")
        resolved = sum(detail.loser is not None for detail in details)
        return ConflictPlan(
            plan=self._plan(marks, stored),
            report=ConflictReport(resolved=resolved, skipped=len(details) - resolved, details=details),
        )

    def _plan(self, marks: Mapping[str, tuple[str, str]], stored: Mapping[str, Fact]) -> Plan:
        changes = []
        for loser, (keeper, reason) in marks.items():
            after = stored[loser].model_copy(update={"invalidated_by": keeper})
            changes.append(Change(before=stored[loser], after=after, reason=reason, superseded_by=keeper))
        keepers = dict.fromkeys(keeper for keeper, _ in marks.values() if keeper not in marks)
        return Plan(
            pass_id=self._new_id(),
            kind="conflicts",
            made_at=require_instant(self._clock(), field="clock"),
            changes=tuple(changes),
            seen=tuple(stored[keeper] for keeper in keepers),
        )

    async def _stored(self, conflicts: Sequence[Conflict], verdicts: Sequence[Verdict]) -> dict[str, Fact]:
        wanted = dict.fromkeys(
            one.id
            for conflict, (resolution, _) in zip(conflicts, verdicts, strict=True)
            if resolution is not None
            for one in (conflict.a, conflict.b)
        )
        listed, found = list(wanted), {}
        for start in range(0, len(listed), self._batch_size):
            found.update(await self._store.get_facts(listed[start : start + self._batch_size]))
        return found


def _outdated(conflict: Conflict, stored: Mapping[str, Fact], known: set[str]) -> str | None:
    """Why a conflict is none any more, if it is not: a side is gone, says something else, or was closed by others."""
    for side in (conflict.a, conflict.b):
        fact = stored.get(side.id)
        if fact is None:
            return f"{side.id} is no longer stored"
        if (fact.content, fact.valid_from) != (side.content, side.valid_from):
            return f"{side.id} was changed meanwhile"
        if not fact.is_live and fact.invalidated_by not in known:
            return f"{side.id} was closed meanwhile"
    return None


def _live(facts: object) -> list[Fact]:
    if isinstance(facts, str | bytes) or not isinstance(facts, Sequence):
        raise InvalidInputError("facts", f"expected a list of facts, got {type(facts).__name__}")
    for place, fact in enumerate(facts):
        if not isinstance(fact, Fact):
            raise InvalidInputError(f"facts.{place}", f"expected a Fact, got {type(fact).__name__}")
    return [fact for fact in facts if fact.is_live]


def _conflicts(values: object, *, field: str) -> list[Conflict]:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidInputError(field, f"expected a list of conflicts, got {type(values).__name__}")
    for place, value in enumerate(values):
        if not isinstance(value, Conflict):
            raise InvalidInputError(f"{field}.{place}", f"expected a Conflict, got {type(value).__name__}")
    return list(values)


def _number(value: object, *, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInputError(field, f"expected a number, got {type(value).__name__}")
    if not is_finite(value) or value < 0:
        raise InvalidInputError(field, f"must be 0 or more, and finite, got {value}")
    return float(value)


def _count(done: int, progress: Progress | None) -> int:
    if progress is not None:
        progress(done + 1)
    return done + 1
