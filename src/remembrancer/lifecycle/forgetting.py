"""Forgetting: an erasure planned, written, and looked at again until nothing of it is left."""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.lifecycle.erasure import ErasurePlan, plan_erasure
from remembrancer.lifecycle.plan import Change, apply_plan
from remembrancer.ports import MemoryStore
from remembrancer.ports.erasure import Erases
from remembrancer.records import (
    Clock,
    IdsByKind,
    InvalidInputError,
    NewId,
    NotFoundError,
    PlanOutdatedError,
    RemembranceError,
    random_id,
    system_clock,
)
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.erasure import Erasure, Source

_TRIES = 20
"""How often an erasure is planned anew when others write meanwhile."""


async def forget(
    store: MemoryStore,
    target: str | Source,
    *,
    hard: bool = True,
    dry_run: bool = False,
    clock: Clock = system_clock,
    new_id: NewId = random_id,
) -> Erasure:
    """Forget a record, or everything from a source, with all that was made from it alone.

    Erasure is for good and cannot be undone: texts, embeddings and copies go, in the records, their neighbours and the
    audit trail, which keeps ids, times and what was done. What others support stays, made anew without what is gone.

    Args:
        store: Where it is.
        target: Id of a record of any kind, or where records came from.
        hard: Erase; `False`: close what can be closed, which `undo` takes back. Messages then stay.
        dry_run: Say what would go, and write nothing.
        clock: Tells when it happens.
        new_id: Makes the id of the pass.

    Raises:
        NotFoundError: There is no record with this id.
        PlanOutdatedError: Others wrote to these records again and again. What was erased stays so.
        ServerUnavailableError: The database could not be reached.
    """
    done: list[ErasurePlan] = []
    for _ in range(_TRIES):
        try:
            planned = await plan_erasure(store, target, hard=hard, clock=clock, new_id=new_id)
        except NotFoundError:
            if not done:
                raise
            return _report(done, hard=hard)
        if dry_run or planned.plan.is_empty:
            return _report([*done, planned], hard=hard, dry_run=dry_run)
        try:
            await apply_plan(store, planned.plan, scrub=planned.scrub)
        except PlanOutdatedError as error:
            outdated = error
            continue
        done.append(planned)
        if not hard:
            return _report(done, hard=hard)
    if done:
        raise PlanOutdatedError(done[-1].plan.pass_id, changed=[change.record_id for change in done[-1].plan.changes])
    raise outdated


async def forget_everything(store: MemoryStore, *, dry_run: bool = False) -> Erasure:
    """Erase all that a namespace holds, passes and receipts too; its embedding space stays.

    Args:
        store: Whose records.
        dry_run: Say how much would go, and write nothing.

    Raises:
        RemembranceError: The store cannot erase.
        ServerUnavailableError: The database could not be reached; a large namespace may then be half empty.
    """
    if not isinstance(store, Erases):
        raise RemembranceError(f"{type(store).__name__} cannot erase, which this call needs")
    counts = await (store.count_all() if dry_run else store.forget_all())
    return Erasure(counts={kind: count for kind, count in counts.items() if count}, is_dry_run=dry_run)


def target_of(target: object, *, everything: bool, hard: bool) -> str | Source | None:
    """What a caller wants forgotten; `None`: everything.

    Raises:
        InvalidInputError: Neither or both, a target that is none, or everything that is only to be closed.
    """
    if everything != (target is None):
        raise InvalidInputError("target", "give an id, a Source, or everything=True, and one of them only")
    if everything and not hard:
        raise InvalidInputError("hard", "a whole namespace is erased or left alone; it is not closed")
    if target is None or isinstance(target, str | Source):
        return target
    raise InvalidInputError("target", f"expected an id or a Source, got {type(target).__name__}")


def _report(done: Iterable[ErasurePlan], *, hard: bool, dry_run: bool = False) -> Erasure:
    plans = [one for one in done if not one.plan.is_empty or one.kept]
    changes = [change for one in plans for change in one.plan.changes]
    gone = _ids(change for change in changes if change.after is None)
    closed = _ids(change for change in changes if _is_closing(change))
    removed = {(kind, one) for kind, ids in gone.items() for one in ids}
    rewritten = _ids(
        change
        for change in changes
        if change.after is not None and not _is_closing(change) and (change.kind, change.record_id) not in removed
    )
    counted = gone if hard else {**gone, **closed}
    return Erasure(
        erased=gone,
        closed=closed,
        rewritten=rewritten,
        kept=plans[0].kept if plans else {},
        counts={kind: len(ids) for kind, ids in counted.items()},
        is_hard=hard,
        is_dry_run=dry_run,
        pass_id=None if dry_run or not changes else plans[0].plan.pass_id,
    )


def _is_closing(change: Change) -> bool:
    return change.after is not None and change.kind in ("fact", "entity", "relationship") and not _is_live(change)


def _is_live(change: Change) -> bool:
    return bool(getattr(change.after, "is_live", True)) or not getattr(change.before, "is_live", True)


def _ids(changes: Iterable[Change]) -> IdsByKind:
    return {
        kind: tuple(sorted(set(ids)))
        for kind, ids in ids_by_kind((change.kind, [change.record_id]) for change in changes).items()
    }
