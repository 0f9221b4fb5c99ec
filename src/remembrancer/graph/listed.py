"""Records that a retrieval sends as lists of their fields: the names would be half of what is sent and read.

The order of the fields is that of the lists in the statements under `cypher/retrieval/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from remembrancer.graph import records as rows
from remembrancer.graph.values import from_json
from remembrancer.records import Entity, Episode, Fact, Relationship, Theme

Values = Sequence[Any]

PROVENANCE: Final = ("source", "agent_id", "tool_name", "run_id", "node_id", "confidence", "created_at")
ENTITY: Final = (
    *("id", "name", "entity_type", "attributes", "superseded_by", "created_at", "updated_at", "invalidated_at"),
    "provenance",
)
RELATIONSHIP: Final = (
    *("id", "source_id", "target_id", "relation_type", "fact_id", "weight", "attributes", "invalidated_by"),
    *("valid_from", "valid_until", "recorded_at", "closed_at", "provenance"),
)
MESSAGE: Final = ("id", "role", "content", "conversation", "speaker", "metadata", "timestamp", "provenance")
EPISODE: Final = (
    *("id", "topic", "unread_message_ids", "started_at", "ended_at", "provenance", "fact_ids", "messages"),
)
FACT: Final = (
    *("id", "content", "statement", "theme_id", "invalidated_by", "access_count"),
    *("valid_from", "valid_until", "recorded_at", "closed_at", "last_accessed_at", "provenance"),
    *("entity_ids", "source_episode_ids", "source_message_ids", "tags"),
)
THEME: Final = ("id", "label", "description", "provenance", "fact_ids")


def entity(values: Values) -> Entity:
    """The entity of a list."""
    return rows.entity_from(_row(ENTITY, values))


def relationship(values: Values) -> Relationship:
    """The relationship of a list."""
    return rows.relationship_from(_row(RELATIONSHIP, values))


def episode(values: Values) -> Episode:
    """The episode of a list, whose messages are lists too."""
    row = _row(EPISODE, values)
    messages = []
    for listed in row["messages"]:
        message = _row(MESSAGE, listed)
        message["metadata"] = from_json(message["metadata"])
        messages.append(message)
    # Not one by one: there are hundreds, and validated with their episode they take half the time.
    return Episode.model_validate({**row, "messages": messages, "unread_message_ids": row["unread_message_ids"] or []})


def fact(values: Values) -> Fact:
    """The fact of a list."""
    return rows.fact_from(_row(FACT, values))


def theme(values: Values) -> Theme:
    """The theme of a list."""
    return rows.theme_from(_row(THEME, values))


def _row(fields: tuple[str, ...], values: Values) -> rows.Row:
    row = dict(zip(fields, values, strict=True))
    if row["provenance"] is not None:
        row["provenance"] = dict(zip(PROVENANCE, row["provenance"], strict=True))
    return row
