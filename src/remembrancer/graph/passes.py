"""Lifecycle passes inside a writing transaction: what they expect is locked and compared, what they did is recorded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from remembrancer.graph import queries
from remembrancer.graph import records as rows
from remembrancer.graph.connection import Row, Transaction, first
from remembrancer.graph.receipts import ReceiptDraft
from remembrancer.graph.values import as_vector, closed_token, namespace_token
from remembrancer.records import (
    AnyRecord,
    Audit,
    AuditEntry,
    Fact,
    InvalidInputError,
    PlanOutdatedError,
    RecordBatch,
    RecordKind,
    kind_of,
)
from remembrancer.records.audit import comparable, with_uses_since
from remembrancer.records.stated import is_relational

T = TypeVar("T")

AT_ONCE = 1_000
"""Rows a statement: enough to be quick, few enough to keep the memory of client and server flat."""

_MARKS = ("invalidated_by", "valid_until", "closed_at", "access_count", "last_accessed_at")
"""What of a fact can be written without writing all of it."""

_PLURALS: Mapping[RecordKind, str] = {
    "entity": "entities",
    "message": "messages",
    "episode": "episodes",
    "fact": "facts",
    "theme": "themes",
    "relationship": "relationships",
}
MADE_FROM: Mapping[RecordKind, Callable[[Row], AnyRecord]] = {
    "entity": rows.entity_from,
    "message": rows.message_from,
    "episode": rows.episode_from,
    "fact": rows.fact_from,
    "theme": rows.theme_from,
    "relationship": rows.relationship_from,
}


class PassWriter:
    """Checks and records one pass in the transaction that it is handed.

    Why no order of two passes loses a change: each locks all that it expects, then compares it, and holds it until it
    is committed. Of two that rest on one record the later finds what the earlier made of it, and is refused.

    Beside that, a pass that merges an entity away looks for facts that name it. Whoever has made one name it before
    that look held the lock of the entity, since an edge takes the locks of both its ends, so the look sees the fact: it
    is new to the pass, or no longer as expected. Whoever comes later waits for the pass. If it is a pass, it has the
    entity from a fact that it merges or from the entity, expects that one, and is refused, since it was rewritten. A
    plain write expects nothing: it names the entity that was merged away, as it would have a day later.
    """

    def __init__(self, transaction: Transaction, *, namespace: str, space: int, dimensions: int) -> None:
        self._transaction = transaction
        self._namespace = namespace
        self._space = space
        self._dimensions = dimensions
        self._marked: list[Fact] = []

    async def check(self, batch: RecordBatch) -> RecordBatch:
        """Lock what the batch expects, compare it, and give the batch with the uses counted since.

        Raises:
            PlanOutdatedError: Records are not stored as expected; names all that differ.
        """
        if not batch.expected_records and batch.audit is None:
            return batch
        expected: dict[RecordKind, dict[str, AnyRecord]] = {kind: {} for kind in _PLURALS}
        for record in batch.expected_records:
            expected[kind_of(record)][record.id] = record
        await self._run("pass.lock", **{_PLURALS[kind]: sorted(known) for kind, known in expected.items()})
        changed: list[str] = []
        putting = {fact.id: fact for fact in batch.facts}
        for kind, known in expected.items():
            for ids in chunks(list(known)):
                found = await self._stored(kind, ids)
                changed += [one for one in ids if one not in found or comparable(found[one]) != comparable(known[one])]
                for one in found.values():
                    before = known[one.id]
                    if isinstance(one, Fact) and isinstance(before, Fact) and one.id in putting:
                        putting[one.id] = with_uses_since(putting[one.id], before, one)
        if batch.audit is not None:
            changed += await self._unknown_at_left(batch, expected)
        if changed:
            raise outdated(batch, changed)
        if batch.audit is not None and not batch.claims:
            read = expected["fact"]
            marked = [fact for fact in putting.values() if _only_marks(read.get(fact.id), fact)]
            self._marked = [putting.pop(fact.id) for fact in marked]
        return batch.model_copy(update={"facts": tuple(putting.values())})

    async def mark(self, draft: ReceiptDraft, *, now: dt.datetime) -> None:
        """Write the facts of which the pass changes marks alone; `check` took them out of the batch."""
        tokens = {"namespace_token": namespace_token(self._namespace), "closed_token": closed_token(self._namespace)}
        for facts in chunks(sorted(self._marked, key=lambda fact: fact.id)):
            marks = [{"id": fact.id, "properties": {name: getattr(fact, name) for name in _MARKS}} for fact in facts]
            draft.changed("fact", first(await self._run("fact.mark", rows=marks, now=now, **tokens))["changed"])

    async def _stored(self, kind: RecordKind, ids: Sequence[str]) -> dict[str, AnyRecord]:
        found = await self._run(f"{kind}.get", ids=list(ids))
        records = (MADE_FROM[kind](row[kind]) for row in found)
        return {record.id: record for record in records}

    async def _unknown_at_left(
        self, batch: RecordBatch, expected: Mapping[RecordKind, Mapping[str, AnyRecord]]
    ) -> list[str]:
        left = sorted({*batch.removals.get("entity", ()), *batch.expected_unnamed})
        if not left:
            return []
        unnamed = sorted(batch.expected_unnamed)
        row = first(await self._run("pass.naming", ids=left, unnamed=unnamed, facts=sorted(expected["fact"])))
        return [*row["facts"], *(one for one in row["relationships"] if one not in expected["relationship"])]

    async def record(self, audit: Audit, draft: ReceiptDraft) -> None:
        """Write the pass, what it did to each record, and the audit edges.

        Raises:
            InvalidInputError: A pass with this id was applied before.
            PlanOutdatedError: The pass that it takes back was taken back already, or there is none.
        """
        properties = {
            "kind": audit.kind,
            "at": audit.at,
            "changes": len(audit.entries),
            "is_hard": audit.is_hard,
            "undoes": audit.undoes,
        }
        put = first(await self._run("pass.put", id=audit.pass_id, properties=properties, undoes=audit.undoes))
        if not put["is_new"]:
            raise InvalidInputError("audit.pass_id", f"pass {audit.pass_id} was applied before")
        if not put["is_open"]:
            raise PlanOutdatedError(audit.pass_id, changed=[audit.undoes or ""])
        for numbered in chunks(list(enumerate(audit.entries))):
            entry_rows = [entry_row(position, entry) for position, entry in numbered]
            await self._run("pass.put_entries", pass_id=audit.pass_id, rows=entry_rows)
        for some in chunks([entry for entry in audit.entries if entry.superseded_by is not None]):
            await self._supersede(audit.pass_id, audit.at, some, draft)
        draft.superseded(audit.superseded)

    async def _supersede(
        self, pass_id: str, at: dt.datetime, entries: Sequence[AuditEntry], draft: ReceiptDraft
    ) -> None:
        edges: dict[str, list[Row]] = {"fact": [], "entity": []}
        for entry in sorted(entries, key=lambda one: (one.record_id, one.superseded_by)):
            if entry.record_kind in edges:
                edge = {"newer": entry.superseded_by, "older": entry.record_id, "reason": entry.reason}
                edges[entry.record_kind].append(edge)
        if not any(edges.values()):
            return
        made = await self._run("pass.supersede", pass_id=pass_id, at=at, facts=edges["fact"], entities=edges["entity"])
        draft.placeholders_made("fact", first(made)["facts"])
        draft.placeholders_made("entity", first(made)["entities"])

    async def _run(self, name: str, **parameters: Any) -> list[Row]:
        text = queries.load(name, self._space, self._dimensions)
        return await self._transaction.run(text, {"namespace": self._namespace, **parameters})


def outdated(batch: RecordBatch, changed: Sequence[str]) -> PlanOutdatedError:
    """The error for a batch that was made against another state."""
    plan = batch.audit.pass_id if batch.audit is not None else "without a pass"
    return PlanOutdatedError(plan, changed=list(dict.fromkeys(changed)))


def chunks(items: Sequence[T]) -> Iterator[list[T]]:
    """The items, `AT_ONCE` at a time."""
    for start in range(0, len(items), AT_ONCE):
        yield list(items[start : start + AT_ONCE])


def _only_marks(before: AnyRecord | None, after: Fact) -> bool:
    """Whether a fact changes in its marks alone, and nothing else follows them: its statement, if any, is no edge."""
    if not isinstance(before, Fact) or is_relational(after):
        return False
    same = dict.fromkeys(_MARKS)
    return comparable(before).model_copy(update=same) == comparable(after).model_copy(update=same)


def entry_row(position: int, entry: AuditEntry) -> Row:
    """What `pass.put_entries` writes of an entry."""
    properties = {
        **entry.model_dump(exclude={"embedding", "refers_to", "fields"}),
        "fields": list(entry.fields) or None,
        "refers_to": list(entry.refers_to) or None,
    }
    return {"position": position, "properties": properties, "embedding": as_vector(entry.embedding)}
