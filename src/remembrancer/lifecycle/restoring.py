"""Restoring one record: what was closed is live again, what a soft pass removed is there again.

Only the record itself comes back, and a fact its place in its theme, with the theme if that is gone; a theme comes with
those of its facts that are there and in no other one. A merged entity is reopened without the facts and relationships
that went to the one that stands for it: to unmerge, undo the pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remembrancer.lifecycle.images import ImageLostError, image, kept_messages, require_trail, stored_records
from remembrancer.lifecycle.plan import Change, Plan
from remembrancer.lifecycle.themes import centroid
from remembrancer.ports import MemoryStore
from remembrancer.records import (
    AnyRecord,
    AuditEntry,
    Clock,
    Entity,
    Fact,
    InvalidInputError,
    NewId,
    NotFoundError,
    Pass,
    Relationship,
    Theme,
    random_id,
    system_clock,
)
from remembrancer.records.audit import is_open
from remembrancer.records.key import require_id, without_repeats

_MARKS = ("invalidated_by", "closed_at", "valid_until", "invalidated_at", "superseded_by")
_REASON = "restored"

Trail = Sequence[tuple[Pass, AuditEntry]]


async def plan_restore(
    store: MemoryStore, record_id: str, *, clock: Clock = system_clock, new_id: NewId = random_id
) -> Plan:
    """Plan to bring a record back: reopen it when it is closed, put it back when a soft pass removed it.

    A window that the closing pass ended is open again as it was before.

    Args:
        store: Where the record is, or was.
        record_id: A fact, relationship or entity that is closed; or any record that a soft pass removed.
        clock: Tells when the plan is made, and when an entity was updated.
        new_id: Makes the id of the pass.

    Raises:
        NotFoundError: There is no such record, and nothing is kept of one.
        InvalidInputError: The record is not closed.
        ImageLostError: A soft pass removed it, but what it held is gone.
    """
    wanted = require_id(record_id, field="record_id")
    trail = await _trail(store, wanted)
    stored = await stored_records(
        store, ((kind, wanted) for kind in ("fact", "entity", "relationship", "theme", "episode"))
    )
    closed = next((record for record in stored.values() if not is_open(record)), None)
    if closed is not None:
        changes = await _reopening(store, closed, trail, clock=clock)
    elif stored:
        raise InvalidInputError("record_id", f"{wanted} is not closed")
    else:
        changes = await _returning(store, wanted, trail)
    return Plan(pass_id=new_id(), kind="restore", made_at=clock(), changes=tuple(changes))


async def _reopening(store: MemoryStore, closed: AnyRecord, trail: Trail, *, clock: Clock) -> list[Change]:
    reopened = closed.model_copy(update=_marks_before(closed, trail))
    if isinstance(reopened, Entity):
        reopened = reopened.model_copy(update={"updated_at": clock()})
    if not isinstance(reopened, Fact) or reopened.theme_id is None:
        return [Change(before=closed, after=reopened, reason=_REASON)]
    changes = [Change(before=closed, after=reopened, reason=_REASON)]
    theme = await store.get_theme(reopened.theme_id)
    if theme is not None:
        return changes if reopened.id in theme.fact_ids else [*changes, await _rejoined(store, theme, reopened)]
    try:
        again = await _removed(store, reopened.theme_id, await _trail(store, reopened.theme_id))
    except (NotFoundError, ImageLostError):
        reopened = reopened.model_copy(update={"theme_id": None})
        return [Change(before=closed, after=reopened, reason=f"{_REASON}; its theme is gone")]
    assert isinstance(again, Theme)  # noqa: S101 - what a fact names as its theme
    return [*changes, *await _with_facts(store, again, {reopened.id: reopened})]


async def _trail(store: MemoryStore, record_id: str) -> Trail:
    return [(one, entry) for one, entry in await require_trail(store).record_entries(record_id) if not one.undone_by]


def _marks_before(closed: AnyRecord, trail: Trail) -> dict[str, object]:
    """The marks and the theme of a record before the pass that closed it; no marks where none closed it."""
    marks: dict[str, object] = dict.fromkeys(_MARKS)
    if isinstance(closed, Fact | Relationship):
        marks["valid_until"] = closed.valid_until
    closing = next((entry for _, entry in reversed(trail) if entry.action == "closed"), None)
    if closing is not None and closing.before is not None:
        changed = [name for name in (*_MARKS, "theme_id") if name in closing.fields]
        before = image(closing, closed, {}, only=changed)
        marks |= {name: getattr(before, name, None) for name in changed}
    return {name: value for name, value in marks.items() if name in type(closed).model_fields}


async def _rejoined(store: MemoryStore, theme: Theme, fact: Fact) -> Change:
    members = (*theme.fact_ids, fact.id)
    facts = await store.get_facts(members)
    vectors = [facts[one].embedding if one in facts else None for one in members]
    joined = theme.model_copy(update={"fact_ids": members, "embedding": centroid(vectors)})
    return Change(before=theme, after=joined, reason=f"fact {fact.id} was restored")


async def _returning(store: MemoryStore, record_id: str, trail: Trail) -> list[Change]:
    record = await _removed(store, record_id, trail)
    if isinstance(record, Theme):
        return await _with_facts(store, record, {})
    return [Change(before=None, after=record, reason=_REASON)]


async def _removed(store: MemoryStore, record_id: str, trail: Trail) -> AnyRecord:
    """The record as it was when a pass removed it."""
    removal = next((entry for _, entry in reversed(trail) if entry.action == "removed"), None)
    if removal is None or removal.before is None:
        raise NotFoundError("record", [record_id], namespace=store.namespace)
    record = image(removal, None, await kept_messages(store, [removal]))
    assert record is not None  # noqa: S101 - what was removed was there
    return record


async def _with_facts(store: MemoryStore, theme: Theme, reopened: Mapping[str, Fact]) -> list[Change]:
    """A theme that was removed, with the facts that name it still, are reopened with it, or live in no other one."""
    stored = {**await store.get_facts(theme.fact_ids), **reopened}
    listed = without_repeats([*theme.fact_ids, *reopened])
    members = [
        fact
        for one in listed
        if (fact := stored.get(one)) and (fact.theme_id == theme.id or (fact.theme_id is None and fact.is_live))
    ]
    if [fact.id for fact in members] != list(theme.fact_ids):
        embedding = centroid(fact.embedding for fact in members) or theme.embedding
        theme = theme.model_copy(update={"fact_ids": tuple(fact.id for fact in members), "embedding": embedding})
    joining = [
        Change(
            before=fact, after=fact.model_copy(update={"theme_id": theme.id}), reason=f"theme {theme.id} was restored"
        )
        for fact in members
        if fact.theme_id is None
    ]
    return [Change(before=None, after=theme, reason=_REASON), *joining]
