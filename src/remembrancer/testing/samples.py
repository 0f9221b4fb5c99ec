"""Records to test with: valid, short, told apart by a number that also makes their ids."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

from remembrancer.records import (
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    Message,
    Provenance,
    RecordKind,
    Relationship,
    Theme,
)

START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
"""When the samples were made."""

SPACE = EmbeddingSpace(model="samples", dimensions=4)
"""An embedding space small enough to write its vectors by hand."""

MADE = Provenance(source="agent", created_at=START)

_LETTERS: dict[RecordKind, str] = {
    "message": "a",
    "relationship": "b",
    "theme": "c",
    "episode": "d",
    "entity": "e",
    "fact": "f",
}


def sample_id(kind: RecordKind, number: int) -> str:
    """Id of the sample of a kind with this number, 0 to 2**48 - 1; ids sort like their numbers."""
    return f"{_LETTERS[kind]}0000000-0000-4000-8000-{number:012x}"


def day(number: float) -> dt.datetime:
    """So many days after `START`."""
    return START + dt.timedelta(days=number)


def direction(degrees: float) -> tuple[float, ...]:
    """A vector of `SPACE`; the cosine of two is that of the angle between them."""
    angle = math.radians(degrees)
    return (math.cos(angle), math.sin(angle), 0.0, 0.0)


def entity(number: int, **fields: Any) -> Entity:
    """An entity."""
    whole = {"name": f"Entity {number}", "entity_type": "concept", "created_at": START, "updated_at": START}
    return Entity(**{"id": sample_id("entity", number), "provenance": MADE, **whole, **fields})


def relationship(number: int, source: int, target: int, **fields: Any) -> Relationship:
    """A relationship between two sample entities."""
    ends = {"source_id": sample_id("entity", source), "target_id": sample_id("entity", target)}
    whole = {"id": sample_id("relationship", number), "relation_type": "use", "valid_from": START, "provenance": MADE}
    return Relationship(**{**whole, **ends, **fields})


def fact(number: int, *, entities: Sequence[int] = (), episodes: Sequence[int] = (), **fields: Any) -> Fact:
    """A fact that mentions sample entities and was read from sample episodes."""
    whole = {
        "id": sample_id("fact", number),
        "content": f"fact {number}",
        "entity_ids": [sample_id("entity", one) for one in entities],
        "source_episode_ids": [sample_id("episode", one) for one in episodes],
        "valid_from": START,
        "provenance": MADE,
    }
    return Fact(**{**whole, **fields})


def message(number: int, **fields: Any) -> Message:
    """A message, a minute after the one with the number before."""
    whole = {
        "id": sample_id("message", number),
        "role": "user",
        "content": f"message {number}",
        "timestamp": START + dt.timedelta(minutes=number),
    }
    return Message(**{**whole, **fields})


def episode(number: int, *, messages: Sequence[Message] = (), facts: Sequence[int] = (), **fields: Any) -> Episode:
    """An episode of messages that names sample facts."""
    whole = {
        "id": sample_id("episode", number),
        "topic": f"episode {number}",
        "messages": list(messages),
        "started_at": messages[0].timestamp if messages else START,
        "ended_at": messages[-1].timestamp if messages else START,
        "fact_ids": [sample_id("fact", one) for one in facts],
        "provenance": MADE,
    }
    return Episode(**{**whole, **fields})


def theme(number: int, *, facts: Sequence[int] = (), **fields: Any) -> Theme:
    """A theme of sample facts."""
    fact_ids = [sample_id("fact", one) for one in facts]
    whole = {"id": sample_id("theme", number), "label": f"theme {number}", "fact_ids": fact_ids, "provenance": MADE}
    return Theme(**{**whole, **fields})
