"""What is told of a record's past, and of what it rests on, from the records in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from remembrancer.inmemory.expecting import stored_record
from remembrancer.inmemory.graph import RecordGraph
from remembrancer.records import (
    AnyRecord,
    Entity,
    Episode,
    Fact,
    Message,
    RecordKind,
    Relationship,
)
from remembrancer.records.base import Record
from remembrancer.records.history import Evidence, History, Mark, history_of

R = TypeVar("R", bound=Record)

_BY_RANK: tuple[RecordKind, ...] = ("fact", "entity", "episode", "message", "theme", "relationship")


def history(graph: RecordGraph, record_id: str) -> History:
    """What is known of an id."""
    return history_of(
        record_id,
        marks=[_mark(graph, kind, record_id) for kind in _BY_RANK if graph.is_stored((kind, record_id))],
        steps=graph.trail.steps(record_id),
        newer=graph.trail.newer(record_id),
        older=graph.trail.older(record_id),
    )


def _mark(graph: RecordGraph, kind: RecordKind, record_id: str) -> Mark:
    record = graph.get((kind, record_id))
    if isinstance(record, Fact | Relationship):
        closed_by = record.invalidated_by or None
        names = closed_by is not None and closed_by != record_id and graph.is_stored((kind, closed_by))
        return Mark(kind=kind, closed_by=closed_by, closed_at=record.closed_at, names_record=names)
    if isinstance(record, Entity):
        names = record.superseded_by is not None and graph.is_stored((kind, record.superseded_by))
        return Mark(kind=kind, closed_by=record.superseded_by, closed_at=record.invalidated_at, names_record=names)
    return Mark(kind=kind)


def evidence(graph: RecordGraph, record_id: str, *, limit: int) -> Evidence | None:
    """What a stored record rests on; `None` when there is none."""
    kind = next((kind for kind in _BY_RANK if graph.is_stored((kind, record_id))), None)
    record = None if kind is None else stored_record(graph, (kind, record_id))
    if kind is None or record is None:
        return None
    facts = _facts_on(graph, record)
    listed = facts[:limit]
    sources = [record] if isinstance(record, Fact) else listed
    held = {"messages": ()} if isinstance(record, Episode) else {}
    return Evidence(
        record_id=record_id,
        record_kind=kind,
        record=_bare(record).model_copy(update=held),
        provenance=record.provenance,
        messages=_messages(graph, record, sources),
        episodes=_episodes(graph, record, sources),
        facts=[_bare(fact) for fact in listed],
        fact_count=len(facts),
        replaces=graph.trail.older(record_id) if kind in ("fact", "entity") else (),
    )


def _facts_on(graph: RecordGraph, record: AnyRecord) -> list[Fact]:
    match record:
        case Relationship():
            ends = ({*graph.named_by(("entity", one), "fact")} for one in (record.source_id, record.target_id))
            ids: Iterable[str] = set.intersection(*ends)
        case Entity():
            ids = graph.named_by(("entity", record.id), "fact")
        case Fact() | Episode() | Message():
            ids = ()
        case _:
            ids = {fact_id for fact_id in record.fact_ids if fact_id in graph.facts}
    return [graph.facts[fact_id] for fact_id in graph.in_order("fact", ids)]


def _messages(graph: RecordGraph, record: AnyRecord, sources: Sequence[Fact]) -> list[Message]:
    found: dict[str, Message] = {}
    if isinstance(record, Message):
        found[record.id] = record
    if isinstance(record, Episode):
        found |= {message.id: message for message in record.messages}
    for fact in sources:
        cited = [graph.messages[one] for one in fact.source_message_ids if one in graph.messages]
        if not fact.source_message_ids:
            episodes = (stored_record(graph, ("episode", one)) for one in fact.source_episode_ids)
            cited = [message for one in episodes if isinstance(one, Episode) for message in one.messages]
        found |= {message.id: message for message in cited}
    return [_bare(message) for message in sorted(found.values(), key=lambda one: (one.timestamp, one.id))]


def _episodes(graph: RecordGraph, record: AnyRecord, sources: Sequence[Fact]) -> list[Episode]:
    ids = [one for fact in sources for one in fact.source_episode_ids]
    if isinstance(record, Episode):
        ids.append(record.id)
    if isinstance(record, Message):
        ids += graph.named_by(("message", record.id), "episode")
    found = [graph.episodes[one] for one in dict.fromkeys(ids) if one in graph.episodes]
    ordered = sorted(found, key=lambda one: (one.started_at, one.id))
    return [_bare(episode).model_copy(update={"messages": ()}) for episode in ordered]


def _bare(record: R) -> R:
    return record.model_copy(update={"embedding": None}, deep=True) if hasattr(record, "embedding") else record
