"""The audit trail: what a lifecycle pass did to each record that it touched, when, and why.

A pass keeps of every record only what it takes to put it back: the fields that it changed, or the whole record when it
removed it. Whether a record is still as the pass left it is told by a fingerprint, not by a copy. Usage counts belong
to reads, and `recorded_at` and `closed_at` to the store: none of them makes a record another one.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from remembrancer.records.base import Listed, Record
from remembrancer.records.episode import Episode
from remembrancer.records.fact import MAX_INTEGER, Fact
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Text, without_repeats
from remembrancer.records.kind import AnyRecord, RecordKind, kind_of
from remembrancer.records.vector import Embedding, to_float32

PassKind = Literal[
    "resolution", "conflicts", "consolidation", "update", "restore", "undo", "forget", "quarantine", "release"
]
"""What a pass was for; `update`: a newer value of a single-valued fact closed an older one; `quarantine` and `release`:
the records of an agent's run were hidden, or shown again."""

Action = Literal["created", "changed", "closed", "reopened", "removed"]
"""What became of a record: `closed` and `reopened` where its mark of being closed came or went."""

USAGE = ("access_count", "last_accessed_at")
"""Fields of a fact that reads count up."""

_STAMPS = ("recorded_at", "closed_at")
_NAMING = ("fact_ids", "entity_ids", "source_episode_ids", "source_message_ids", "unread_message_ids")
_NAMING_ONE = ("theme_id", "source_id", "target_id", "fact_id")
_MARKS = ("invalidated_by", "superseded_by")


class AuditEntry(Record):
    """What one pass did to one record.

    Attributes:
        record_kind: Kind of the record.
        record_id: Its id.
        action: What became of it.
        reason: Why, in words.
        superseded_by: The record of its kind that replaces it.
        fields: Names of the fields that changed; of a record that was made or removed: none.
        before: What they held, as JSON without the embedding; of a removed record all fields; `None`: nothing is kept,
            since the record was made, or the pass was hard, or what it held was erased.
        embedding: The embedding before, when it changed or the record was removed.
        refers_to: Ids that `before` names.
        fingerprint: Of the record as the pass left it; `None`: removed.
        uses_after: Access count that the pass wrote, when it changed that.
        last_use_after: Time of the last use that the pass wrote, likewise.
    """

    record_kind: RecordKind
    record_id: Id
    action: Action
    reason: Text
    superseded_by: Id | None = None
    fields: Listed[str] = ()
    before: Text | None = None
    embedding: Embedding | None = None
    refers_to: Listed[Id] = ()
    fingerprint: str | None = None
    uses_after: int | None = None
    last_use_after: Instant | None = None


class Audit(Record):
    """What a write records of the pass that it is.

    Attributes:
        pass_id: The pass.
        kind: What it is for.
        at: When it was planned.
        is_hard: Whether what it changed and removed is gone for good.
        undoes: The pass that it takes back.
        entries: One for each record that it touched.
    """

    pass_id: Id
    kind: PassKind
    at: Instant
    is_hard: bool = False
    undoes: Id | None = None
    entries: Listed[AuditEntry] = ()

    @property
    def superseded(self) -> tuple[tuple[RecordKind, str], ...]:
        """Kind and id of every record that another one replaces."""
        return tuple((one.record_kind, one.record_id) for one in self.entries if one.superseded_by is not None)


class Scrub(Record):
    """What an erasure takes out of the audit trail in the transaction that it is.

    Attributes:
        erased: Ids of the records that are gone: audit edges at them go, and what entries of others keep of them.
        touched: These, and ids of records that are made anew or took their place: their entries keep no text.
        unlearns_speakers: Whether speakers may have gone, so that the list of their names must be made anew.
    """

    erased: Listed[Id]
    touched: Listed[Id]
    unlearns_speakers: bool = False


class Pass(Record):
    """A pass that was applied.

    Attributes:
        id: Its id.
        kind: What it was for.
        at: When it was planned.
        changes: How many records it touched.
        is_hard: Whether what it changed and removed is gone for good; such a pass cannot be undone.
        is_erased: Whether something that it would take to undo it was erased later.
        undoes: The pass that it took back.
        undone_by: The pass that took it back.
    """

    id: Id
    kind: PassKind
    at: Instant
    changes: int
    is_hard: bool = False
    is_erased: bool = False
    undoes: Id | None = None
    undone_by: Id | None = None


def audit_entry(
    before: AnyRecord | None,
    after: AnyRecord | None,
    *,
    reason: str,
    superseded_by: str | None = None,
    is_hard: bool = False,
) -> AuditEntry:
    """The entry for one change.

    Args:
        before: The record as it is stored; `None`: it is not.
        after: As it is to be; `None`: it is to be removed.
        reason: Why.
        superseded_by: What replaces it.
        is_hard: Keep nothing of what the record was.
    """
    known = after if before is None else before
    if known is None:
        raise ValueError("a change of nothing into nothing")
    common: dict[str, Any] = {
        "record_kind": kind_of(known),
        "record_id": known.id,
        "reason": reason,
        "superseded_by": superseded_by,
        "fingerprint": None if after is None else fingerprint(after),
    }
    if before is None:
        return AuditEntry(action="created", **common)
    fields = tuple(type(before).model_fields) if after is None else _changed_fields(before, after)
    kept = {} if is_hard else _kept(before, after, fields)
    if after is not None:
        common |= {"fields": fields, **_usage_written(after, fields)}
    return AuditEntry(action=_action(before, after), **common, **kept)


def _changed_fields(before: AnyRecord, after: AnyRecord) -> tuple[str, ...]:
    left, right = dict(comparable(before)), dict(comparable(after))
    for name in (*USAGE, *_STAMPS):
        if name in left:
            left[name], right[name] = getattr(before, name), getattr(after, name)
    if "closed_at" in left and is_open(after):
        right["closed_at"] = None  # a store keeps none on what is live
    right["recorded_at"] = left.get("recorded_at")
    return tuple(name for name in type(before).model_fields if left.get(name) != right.get(name))


def _kept(before: AnyRecord, after: AnyRecord | None, fields: tuple[str, ...]) -> dict[str, Any]:
    held = before.model_dump(mode="json", include=set(fields) - {"embedding", "messages"})
    embedding = getattr(before, "embedding", None) if "embedding" in fields else None
    if "embedding" in fields and embedding is None:
        held["embedding"] = None
    if isinstance(before, Episode) and "messages" in fields:
        later = {} if after is None or not isinstance(after, Episode) else {one.id: one for one in after.messages}
        # A message outlives its episode, so its id is enough unless the pass rewrote it.
        held["messages"] = [
            one.id if later.get(one.id, one) == one else one.model_dump(mode="json") for one in before.messages
        ]
    return {
        "before": json.dumps(held, ensure_ascii=True, sort_keys=True),
        "embedding": embedding,
        "refers_to": _named_in(held),
    }


def _named_in(held: dict[str, Any]) -> tuple[str, ...]:
    named = [one for name in _NAMING for one in held.get(name, ())]
    named += [held[name] for name in _NAMING_ONE if held.get(name)]
    statement = held.get("statement") or {}
    named += [statement[name] for name in ("subject_id", "object_id") if statement.get(name)]
    named += [one if isinstance(one, str) else one["id"] for one in held.get("messages", ())]
    return without_repeats(named)


def _usage_written(after: AnyRecord, fields: tuple[str, ...]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if isinstance(after, Fact) and "access_count" in fields:
        written["uses_after"] = after.access_count
    if isinstance(after, Fact) and "last_accessed_at" in fields:
        written["last_use_after"] = after.last_accessed_at
    return written


def _action(before: AnyRecord, after: AnyRecord | None) -> Action:
    if after is None:
        return "removed"
    if is_open(before) == is_open(after):
        return "changed"
    return "closed" if is_open(before) else "reopened"


def is_open(record: AnyRecord) -> bool:
    """Whether nothing has closed the record; messages, episodes and themes are never closed."""
    return bool(getattr(record, "is_live", True))


def comparable(record: AnyRecord) -> AnyRecord:
    """The record as two readers of one state see it: vectors in float32, no usage, no stamps of the store."""
    changes: dict[str, Any] = {name: None for name in (*USAGE, *_STAMPS) if getattr(record, name, None) is not None}
    embedding = getattr(record, "embedding", None)
    if embedding is not None:
        changes["embedding"] = tuple(to_float32(embedding))
    if isinstance(record, Episode):
        changes["messages"] = tuple(comparable(message) for message in record.messages)
    return record.model_copy(update=changes) if changes else record


def fingerprint(record: AnyRecord) -> str:
    """A digest that two records share exactly when one could not tell them apart: SHA-256, in hex."""
    alike = comparable(record)
    digest = hashlib.sha256()
    vectors = [alike, *(alike.messages if isinstance(alike, Episode) else ())]
    for one in vectors:
        embedding = getattr(one, "embedding", None)
        digest.update(b"-" if embedding is None else to_float32(embedding).tobytes())
        digest.update(b"|")
    text = alike.model_dump(mode="json", exclude={"embedding": True, "messages": {"__all__": {"embedding"}}})
    digest.update(json.dumps(text, ensure_ascii=True, sort_keys=True).encode("ascii"))
    return digest.hexdigest()


def with_uses_since(after: Fact, before: Fact, stored: Fact) -> Fact:
    """A fact as a pass writes it, with the uses that were counted since the pass read it.

    Args:
        after: As the pass wants it.
        before: As the pass read it.
        stored: As it is stored now.
    """
    if (stored.access_count, stored.last_accessed_at) == (before.access_count, before.last_accessed_at):
        return after
    since = (stored.access_count or 0) - (before.access_count or 0)
    last = after.last_accessed_at if stored.last_accessed_at == before.last_accessed_at else stored.last_accessed_at
    uses = min(max((after.access_count or 0) + since, 0), MAX_INTEGER)
    return after.model_copy(update={"access_count": uses, "last_accessed_at": last})
