"""Before-images: records put together again from what the audit trail kept of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from remembrancer.ports import MemoryStore
from remembrancer.ports.audit import AuditTrail
from remembrancer.records import (
    AnyRecord,
    AuditEntry,
    Entity,
    Episode,
    Fact,
    Message,
    RecordKind,
    Relationship,
    RemembranceError,
    Theme,
)
from remembrancer.records.fact import MAX_INTEGER

Reference = tuple[RecordKind, str]
"""Kind and id of a record."""

_MODELS: Mapping[RecordKind, type[AnyRecord]] = {
    "message": Message,
    "episode": Episode,
    "fact": Fact,
    "theme": Theme,
    "entity": Entity,
    "relationship": Relationship,
}


class ImageLostError(RemembranceError):
    """What a record was before cannot be told any more: nothing was kept, or a message that it held is gone."""


def require_trail(store: MemoryStore) -> AuditTrail:
    """The store as one that keeps an audit trail.

    Raises:
        RemembranceError: It keeps none.
    """
    if not isinstance(store, AuditTrail):
        raise RemembranceError(f"{type(store).__name__} keeps no audit trail, which this call needs")
    return store


async def stored_records(store: MemoryStore, references: Iterable[Reference]) -> dict[Reference, AnyRecord]:
    """Those of the records that are stored, whatever their kinds."""
    wanted: dict[RecordKind, list[str]] = {}
    for kind, record_id in references:
        wanted.setdefault(kind, []).append(record_id)
    found: dict[Reference, AnyRecord] = {}
    for kind, ids in wanted.items():
        records: Mapping[str, AnyRecord] = await _getter(store, kind)(ids)
        found |= {(kind, record_id): record for record_id, record in records.items()}
    return found


def _getter(store: MemoryStore, kind: RecordKind) -> Any:
    return {
        "message": store.get_messages,
        "episode": store.get_episodes,
        "fact": store.get_facts,
        "theme": store.get_themes,
        "entity": store.get_entities,
        "relationship": store.get_relationships,
    }[kind]


async def kept_messages(store: MemoryStore, entries: Iterable[AuditEntry]) -> dict[str, Message]:
    """The stored messages that before-images of episodes name by their ids alone."""
    ids: dict[str, None] = {}
    for entry in entries:
        if entry.record_kind == "episode" and entry.before is not None:
            held = json.loads(entry.before).get("messages", ())
            ids.update(dict.fromkeys(one for one in held if isinstance(one, str)))
    return await store.get_messages(list(ids)) if ids else {}


def image(
    entry: AuditEntry,
    now: AnyRecord | None,
    messages: Mapping[str, Message],
    *,
    only: Collection[str] | None = None,
) -> AnyRecord | None:
    """The record as it was before a pass; `None`: it was not stored.

    Args:
        entry: What the pass did to it.
        now: The record as it is stored now; `None`: it is not.
        messages: What `kept_messages` found.
        only: Take back these fields alone; `None`: every field that changed.

    Raises:
        ImageLostError: It cannot be told.
    """
    if entry.action == "created":
        return None
    if entry.before is None:
        raise ImageLostError(f"nothing is kept of {entry.record_kind} {entry.record_id}")
    held: dict[str, Any] = json.loads(entry.before)
    if "messages" in held:
        held["messages"] = [_message(one, messages) for one in held["messages"]]
    if entry.embedding is not None:
        held["embedding"] = list(entry.embedding)
    if now is None:
        return _MODELS[entry.record_kind].model_validate(held)
    if isinstance(now, Fact):
        held |= _uses_before(entry, held, now)
    fields = {name: getattr(now, name) for name in type(now).model_fields}
    fields |= {name: value for name, value in held.items() if only is None or name in only}
    return type(now).model_validate(fields)


def _message(held: str | dict[str, Any], messages: Mapping[str, Message]) -> Message:
    if isinstance(held, dict):
        return Message.model_validate(held)
    if held not in messages:
        raise ImageLostError(f"message {held} is gone")
    return messages[held]


def _uses_before(entry: AuditEntry, held: Mapping[str, Any], now: Fact) -> dict[str, Any]:
    """Usage before the pass, and what was counted since."""
    uses: dict[str, Any] = {}
    if "access_count" in held and now.access_count != entry.uses_after:
        since = (now.access_count or 0) - (entry.uses_after or 0)
        uses["access_count"] = min(max((held["access_count"] or 0) + since, 0), MAX_INTEGER)
    if "last_accessed_at" in held and now.last_accessed_at != entry.last_use_after:
        uses["last_accessed_at"] = now.last_accessed_at
    return uses
