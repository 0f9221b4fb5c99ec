"""Small random memories and questions to them, for tests that compare two ways of answering.

Vectors lie 15 degrees apart and queries 7 degrees beside one of them, so that scores are either the same number or far
from each other, and no rounding decides an order.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from remembrancer.records import QUARANTINE_TAG, Entity, Episode, Fact, MemoryQuery, RecordBatch, Relationship, Theme
from remembrancer.testing.samples import (
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)

_TYPES = ("person", "place")
_RELATIONS = ("use", "own", "lead")
_TAGS = ("lesson", "rare", QUARANTINE_TAG)

_days = st.integers(0, 4).map(day)
_some_days = st.none() | _days
_vectors = st.none() | st.integers(0, 11).map(lambda steps: direction(15 * steps))
_closed = st.sampled_from([False, False, False, True])


def _ids(kind: Any, most: int) -> st.SearchStrategy[str]:
    return st.integers(1, most).map(lambda number: sample_id(kind, number))


@st.composite
def _closing(draw: st.DrawFn, reason: str) -> dict[str, Any]:
    return {"invalidated_by": reason, "closed_at": draw(_days)} if draw(_closed) else {}


@st.composite
def _entities(draw: st.DrawFn, number: int) -> Entity:
    return entity(
        number,
        entity_type=draw(st.sampled_from(_TYPES)),
        embedding=draw(_vectors),
        attributes={"number": number},
        created_at=draw(_days),
        invalidated_at=draw(_days) if draw(_closed) else None,
        superseded_by=sample_id("entity", 1) if draw(_closed) else None,
    )


@st.composite
def _relationships(draw: st.DrawFn, number: int) -> Relationship:
    return relationship(
        number,
        draw(st.integers(1, 8)),
        draw(st.integers(1, 8)),
        relation_type=draw(st.sampled_from(_RELATIONS)),
        valid_from=draw(_days),
        valid_until=draw(_some_days),
        recorded_at=draw(_days),
        **draw(_closing(sample_id("relationship", 1))),
    )


@st.composite
def _facts(draw: st.DrawFn, number: int) -> Fact:
    return fact(
        number,
        entity_ids=draw(st.lists(_ids("entity", 8), max_size=3)),
        source_episode_ids=draw(st.lists(_ids("episode", 4), max_size=2)),
        theme_id=draw(st.none() | _ids("theme", 4)),
        embedding=draw(_vectors),
        valid_from=draw(_days),
        valid_until=draw(_some_days),
        tags=draw(st.lists(st.sampled_from(_TAGS), max_size=2)),
        recorded_at=draw(_days),
        **draw(_closing("reason")),
    )


@st.composite
def _themes(draw: st.DrawFn, number: int) -> Theme:
    return theme(number, fact_ids=draw(st.lists(_ids("fact", 12), max_size=4)), embedding=draw(_vectors))


@st.composite
def _episodes(draw: st.DrawFn, number: int) -> Episode:
    return episode(
        number,
        messages=[message(number, embedding=draw(_vectors))],
        fact_ids=draw(st.lists(_ids("fact", 12), max_size=2)),
        embedding=draw(_vectors),
    )


@st.composite
def batches(draw: st.DrawFn) -> RecordBatch:
    """A memory with dangling names, self-loops, parallel and closed edges, closed and quarantined facts."""

    def some(one: Any, most: int) -> list[Any]:
        return [draw(one(number)) for number in range(1, draw(st.integers(0, most)) + 1)]

    return RecordBatch(
        entities=some(_entities, 7),
        relationships=some(_relationships, 14),
        facts=some(_facts, 10),
        themes=some(_themes, 3),
        episodes=some(_episodes, 3),
    )


@st.composite
def queries(draw: st.DrawFn) -> MemoryQuery:
    """A question along any of the paths."""
    fields: dict[str, Any] = {
        "limit": draw(st.sampled_from([1, 2, 3, 20])),
        "max_hops": draw(st.integers(0, 5)),
        "valid_at": draw(_some_days),
        "believed_at": draw(st.none() | st.none() | _days),
        "changed_since": draw(st.none() | st.none() | _days),
        "min_similarity": draw(st.sampled_from([0.0, 0.5, 0.9])),
        "include_invalidated": draw(st.booleans()),
        "tags": draw(st.lists(st.sampled_from(_TAGS), max_size=2)),
        "entity_types": draw(st.none() | st.lists(st.sampled_from(_TYPES), max_size=1)),
        "relation_types": draw(st.none() | st.lists(st.sampled_from(_RELATIONS), max_size=2)),
    }
    path = draw(st.sampled_from(["entities", "embedding", "embedding", "tags"]))
    if path == "entities":
        fields["entity_ids"] = draw(st.lists(_ids("entity", 8), min_size=1, max_size=3))
    elif path == "embedding":
        fields["embedding"] = direction(15 * draw(st.integers(0, 11)) + 7)
    return MemoryQuery(**fields)


@st.composite
def walks(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of a walk."""
    return {
        "seeds": draw(st.lists(_ids("entity", 8), max_size=4)),
        "max_hops": draw(st.integers(0, 5)),
        "valid_at": draw(_some_days),
        "believed_at": draw(st.none() | st.none() | _days),
        "relation_types": draw(st.lists(st.sampled_from(_RELATIONS), max_size=2)),
        "include_invalidated": draw(st.booleans()),
        "max_entities": draw(st.sampled_from([0, 1, 2, 3, 5, 500])),
    }
