"""Undo: a soft pass taken back exactly, record by record, as a pass of its own.

The audit trail holds what each record was before. A record that is no longer as the pass left it is not touched: the
undo is then refused as a whole, since somebody has built on it. Uses counted since the pass are kept.
"""

from __future__ import annotations

from remembrancer.lifecycle.images import ImageLostError, image, kept_messages, require_trail, stored_records
from remembrancer.lifecycle.plan import Change, Plan
from remembrancer.ports import MemoryStore
from remembrancer.records import (
    Clock,
    InvalidInputError,
    NewId,
    NotFoundError,
    Pass,
    PlanOutdatedError,
    random_id,
    system_clock,
)
from remembrancer.records.audit import fingerprint
from remembrancer.records.key import require_id

_AT_ONCE = 1_000


async def plan_undo(
    store: MemoryStore, pass_id: str, *, clock: Clock = system_clock, new_id: NewId = random_id
) -> Plan:
    """Plan to take back a pass: once it is applied with `apply_plan`, every record is again what it was before.

    An undo is a pass too, and can be undone.

    Args:
        store: Where the pass was applied.
        pass_id: The pass.
        clock: Tells when the plan is made.
        new_id: Makes the id of the undo.

    Raises:
        NotFoundError: There is no such pass.
        InvalidInputError: The pass was hard, has been taken back already, or rests on something that was erased.
        PlanOutdatedError: Records that the pass touched have changed since; names them.
    """
    trail = require_trail(store)
    taken_back = await trail.get_pass(require_id(pass_id, field="pass_id"))
    if taken_back is None:
        raise NotFoundError("pass", [pass_id], namespace=store.namespace)
    _check_undoable(taken_back)
    changes: list[Change] = []
    changed: list[str] = []
    for offset in range(0, taken_back.changes, _AT_ONCE):
        entries = await trail.pass_entries(pass_id, limit=_AT_ONCE, offset=offset)
        current = await stored_records(store, ((entry.record_kind, entry.record_id) for entry in entries))
        messages = await kept_messages(store, entries)
        for entry in entries:
            now = current.get((entry.record_kind, entry.record_id))
            if entry.fingerprint != (None if now is None else fingerprint(now)):
                changed.append(entry.record_id)
                continue
            try:
                before = image(entry, now, messages)
            except ImageLostError:
                changed.append(entry.record_id)
                continue
            changes.append(Change(before=now, after=before, reason=f"undo: {entry.reason}"))
    if changed:
        raise PlanOutdatedError(pass_id, changed=changed)
    return Plan(pass_id=new_id(), kind="undo", made_at=clock(), changes=tuple(changes), undoes=pass_id)


def _check_undoable(taken_back: Pass) -> None:
    if taken_back.is_hard:
        raise InvalidInputError("pass_id", f"pass {taken_back.id} removed records for good: it cannot be undone")
    if taken_back.undone_by is not None:
        raise InvalidInputError("pass_id", f"pass {taken_back.id} was undone already, by pass {taken_back.undone_by}")
    if taken_back.is_erased:
        problem = "what it would take to undo it was erased"
        raise InvalidInputError("pass_id", f"pass {taken_back.id} cannot be undone: {problem}")
