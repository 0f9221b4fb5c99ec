"""Quarantine: what a run made, and all that was made from it, is hidden; a release shows it again as it was.

A hidden fact carries the tag `quarantined` and, right before it, a mark of each run for which it is hidden. It is shown
again when the last of them is released; a fact that somebody had tagged by hand has `quarantined` before any mark, and
keeps it. A relationship has no tags: it is closed, under an id that is made from the mark; one that a statement makes
goes with its fact.

The trust of a derived fact is the lowest of its sources: while one source is hidden, it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from remembrancer.lifecycle.plan import Change, Plan, plan_and_apply
from remembrancer.ports import MemoryStore
from remembrancer.ports.serving import RunReach, TracksRuns
from remembrancer.records import (
    QUARANTINE_TAG,
    Clock,
    Fact,
    IdsByKind,
    NewId,
    Relationship,
    RemembranceError,
    random_id,
    system_clock,
)
from remembrancer.records.base import Record
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.key import MAX_KEY_BYTES as _MOST_BYTES
from remembrancer.records.key import Id, derived_id, require_key

_PREFIX = f"{QUARANTINE_TAG}:"
_PAGE = 1_000
_TRIES = 20
"""How often a pass is planned anew when others write meanwhile."""


class QuarantineReport(Record):
    """What a quarantine or a release did.

    Attributes:
        run_id: The run.
        changed: Ids of the facts and relationships that were hidden or shown again, by kind.
        still_hidden: Facts that lost the mark of this run and stay hidden: for another run, or since somebody tagged
            them.
        pass_id: The pass, which can be undone; `None`: there was nothing to do.
    """

    run_id: str
    changed: IdsByKind = {}
    still_hidden: tuple[str, ...] = ()
    pass_id: Id | None = None


def run_mark(run_id: str) -> str:
    """The tag that says for which run a fact is hidden."""
    mark = f"{_PREFIX}{run_id}"
    return mark if len(mark.encode("utf-8")) <= _MOST_BYTES else f"{_PREFIX}{derived_id('run', run_id)}"


def marks_of(tags: Iterable[str]) -> tuple[str, ...]:
    """The marks of runs among some tags."""
    return tuple(tag for tag in tags if tag.startswith(_PREFIX))


def hidden_for(tags: Sequence[str], mark: str) -> tuple[str, ...]:
    """The tags of a fact that is hidden for one run more."""
    if mark in tags:
        return tuple(tags)
    if QUARANTINE_TAG not in tags:
        return (*tags, mark, QUARANTINE_TAG)
    place = tags.index(QUARANTINE_TAG)
    if _is_by_runs(tags, place):
        return (*tags[:place], mark, *tags[place:])
    return (*tags, mark)


def shown_for(tags: Sequence[str], mark: str) -> tuple[str, ...]:
    """The tags of a fact that is no longer hidden for one run."""
    if mark not in tags:
        return tuple(tags)
    by_runs = QUARANTINE_TAG in tags and _is_by_runs(tags, tags.index(QUARANTINE_TAG))
    kept = list(tags)
    kept.remove(mark)
    if by_runs and not _is_by_runs(kept, kept.index(QUARANTINE_TAG)):
        kept.remove(QUARANTINE_TAG)
    return tuple(kept)


def _is_by_runs(tags: Sequence[str], place: int) -> bool:
    return place > 0 and tags[place - 1].startswith(_PREFIX)


async def quarantine_run(
    store: MemoryStore, run_id: str, *, clock: Clock = system_clock, new_id: NewId = random_id
) -> QuarantineReport:
    """Hide the facts and relationships of a run, and all that was made from them, in one transaction.

    Facts of the run are those whose provenance names it, and those read from messages or episodes whose provenance
    does. Made from them are facts that name them as sources, and those with which a consolidation merged them. Closed
    ones are hidden too. Called again it hides what has come since.

    Args:
        store: Where they are.
        run_id: The run.
        clock: Tells when it happens.
        new_id: Makes the id of the pass.

    Raises:
        InvalidInputError: Not a run id.
        PlanOutdatedError: Others kept changing the same records. Nothing was written.
        ServerUnavailableError: The database could not be reached.
    """
    wanted = require_key(run_id, field="run_id")

    async def look() -> Plan:
        changes = await _hiding(store, wanted)
        return Plan(pass_id=new_id(), kind="quarantine", made_at=clock(), changes=changes)

    return _report(wanted, await plan_and_apply(store, look, lambda plan: plan, attempts=_TRIES))


async def release_run(
    store: MemoryStore, run_id: str, *, clock: Clock = system_clock, new_id: NewId = random_id
) -> QuarantineReport:
    """Show again what was hidden for a run, as it was before, in one transaction.

    What is hidden for another run too, or was tagged by hand, stays hidden.

    Args:
        store: Where it is.
        run_id: The run.
        clock: Tells when it happens.
        new_id: Makes the id of the pass.

    Raises:
        InvalidInputError: Not a run id.
        PlanOutdatedError: Others kept changing the same records. Nothing was written.
        ServerUnavailableError: The database could not be reached.
    """
    wanted = require_key(run_id, field="run_id")

    async def look() -> Plan:
        changes = await _showing(store, wanted)
        return Plan(pass_id=new_id(), kind="release", made_at=clock(), changes=changes)

    return _report(wanted, await plan_and_apply(store, look, lambda plan: plan, attempts=_TRIES))


async def is_quarantined(store: MemoryStore, run_id: str) -> bool:
    """Whether something is hidden for a run."""
    return bool(await store.find_facts(tags=[run_mark(run_id)], include_invalidated=True, limit=1))


async def _hiding(store: MemoryStore, run_id: str) -> list[Change]:
    mark = run_mark(run_id)
    reach = await require_runs(store).run_reach(run_id)
    facts = await store.get_facts(reach.fact_ids)
    changes: list[Change] = []
    for fact in facts.values():
        tags = hidden_for(fact.tags, mark)
        if tags != fact.tags:
            hidden = fact.model_copy(update={"tags": tags})
            changes.append(Change(before=fact, after=hidden, reason=f"quarantine of run {run_id}"))
    for edge in await _own_edges(store, reach):
        if edge.is_live:
            closed = edge.model_copy(update={"invalidated_by": _closer(mark)})
            changes.append(Change(before=edge, after=closed, reason=f"quarantine of run {run_id}"))
    return changes


async def _showing(store: MemoryStore, run_id: str) -> list[Change]:
    mark, reason = run_mark(run_id), f"release of run {run_id}"
    changes = [
        Change(before=fact, after=fact.model_copy(update={"tags": shown_for(fact.tags, mark)}), reason=reason)
        async for fact in _marked(store, mark)
    ]
    for edge in await _own_edges(store, await require_runs(store).run_reach(run_id)):
        if edge.invalidated_by == _closer(mark):
            opened = edge.model_copy(update={"invalidated_by": None, "closed_at": None})
            changes.append(Change(before=edge, after=opened, reason=reason))
    return changes


async def _own_edges(store: MemoryStore, reach: RunReach) -> list[Relationship]:
    """Relationships of a run; those that statements make go with their facts."""
    edges = await store.get_relationships(reach.relationship_ids)
    return [edge for edge in edges.values() if edge.fact_id is None]


async def _marked(store: MemoryStore, mark: str) -> AsyncIterator[Fact]:
    offset = 0
    while page := await store.find_facts(tags=[mark], include_invalidated=True, limit=_PAGE, offset=offset):
        for fact in page:
            yield fact
        offset += len(page)


def _closer(mark: str) -> str:
    return derived_id("quarantine", mark)


def _report(run_id: str, plan: Plan) -> QuarantineReport:
    hidden = [one.after for one in plan.changes if isinstance(one.after, Fact) and one.after.is_quarantined]
    still = tuple(sorted(fact.id for fact in hidden)) if plan.kind == "release" else ()
    changed = ids_by_kind(
        (kind, sorted(one.record_id for one in plan.changes if one.kind == kind and one.record_id not in still))
        for kind in ("fact", "relationship")
    )
    pass_id = None if plan.is_empty else plan.pass_id
    return QuarantineReport(run_id=run_id, changed=changed, still_hidden=still, pass_id=pass_id)


def require_runs(store: MemoryStore) -> TracksRuns:
    """The store as one that knows runs.

    Raises:
        RemembranceError: It does not.
    """
    if not isinstance(store, TracksRuns):
        raise RemembranceError(f"{type(store).__name__} keeps no register of runs, which this call needs")
    return store
