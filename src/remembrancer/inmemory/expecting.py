"""What a write expects of the records in memory, checked before its first step."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.inmemory.graph import RecordGraph, Reference
from remembrancer.records import (
    AnyRecord,
    Audit,
    Episode,
    InvalidInputError,
    Message,
    PlanOutdatedError,
    RecordBatch,
    kind_of,
)
from remembrancer.records.audit import comparable


def check_expected(graph: RecordGraph, batch: RecordBatch) -> None:
    """See that records are, or are not, stored as a batch expects, and that its pass can be recorded.

    Raises:
        PlanOutdatedError: They are not, or the pass that is to be undone was undone; names all that differ.
        InvalidInputError: The id of the pass is taken.
    """
    changed = dict.fromkeys(_changed(graph, batch))
    if batch.audit is not None:
        if batch.audit.pass_id in graph.trail.passes:
            raise InvalidInputError("audit.pass_id", f"pass {batch.audit.pass_id} was applied before")
        changed.update(dict.fromkeys(_of_pass(graph, batch, batch.audit)))
    if changed:
        raise PlanOutdatedError(batch.audit.pass_id if batch.audit else "without a pass", changed=list(changed))


def _changed(graph: RecordGraph, batch: RecordBatch) -> Iterator[str]:
    for expected in batch.expected_records:
        stored = stored_record(graph, (kind_of(expected), expected.id))
        if stored is None or comparable(stored) != comparable(expected):
            yield expected.id
    for kind, ids in batch.expected_absent.items():
        yield from (record_id for record_id in ids if graph.is_stored((kind, record_id)))


def _of_pass(graph: RecordGraph, batch: RecordBatch, audit: Audit) -> Iterator[str]:
    known = {(kind_of(expected), expected.id) for expected in batch.expected_records}
    for entity_id in batch.expected_unnamed:
        yield from (one for one in graph.named_by(("entity", entity_id), "fact") if ("fact", one) not in known)
    for entity_id in {*batch.removals.get("entity", ()), *batch.expected_unnamed}:
        for edge_id in graph.named_by(("entity", entity_id), "relationship"):
            # The edge of a statement follows its fact.
            stating = graph.relationships[edge_id].fact_id
            if ("relationship", edge_id) not in known and ("fact", stating) not in known:
                yield edge_id
    if audit.undoes is not None:
        undone = graph.trail.passes.get(audit.undoes)
        if undone is None or undone.undone_by is not None:
            yield audit.undoes


def stored_record(graph: RecordGraph, reference: Reference) -> AnyRecord | None:
    """The record, an episode with its messages."""
    record: AnyRecord | None = graph.get(reference)
    if isinstance(record, Episode):
        return record.model_copy(update={"messages": tuple(stored_messages(graph, record.id))})
    return record


def stored_messages(graph: RecordGraph, episode_id: str) -> list[Message]:
    """The messages of an episode in order, without those that were deleted; none for one that is not stored."""
    held = graph.episode_messages.get(episode_id, ())
    return [graph.messages[message_id] for message_id in held if message_id in graph.messages]
