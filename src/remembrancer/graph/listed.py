"""Records that a retrieval sends as lists of their fields: the names would be half of what is sent and read.

The order of the fields is that of the lists in the statements under `cypher/retrieval/`. What a record rarely has is a
list of its own at the end, null where there is none of it: each value costs the client about the same, also a null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from remembrancer.graph import records as rows
from remembrancer.graph.values import from_json
from remembrancer.records import Entity, Episode, Fact, Relationship, Theme

Values = Sequence[Any]

PROVENANCE: Final = (
    ("source", "created_at"),
    dict.fromkeys(("agent_id", "tool_name", "run_id", "node_id", "confidence")),
)
ENTITY: Final = (
    ("id", "name", "entity_type", "created_at", "updated_at", "provenance"),
    dict.fromkeys(("attributes", "superseded_by", "invalidated_at")),
)
RELATIONSHIP: Final = (
    ("id", "source_id", "target_id", "relation_type", "weight", "valid_from", "recorded_at", "provenance"),
    dict.fromkeys(("fact_id", "attributes", "invalidated_by", "valid_until", "closed_at")),
)
MESSAGE: Final = (
    ("heading", "content", "conversation", "speaker"),  # the heading: role, timestamp, id
    dict.fromkeys(("metadata", "provenance")),
)
FACT: Final = (
    (
        *("id", "content", "theme_id", "access_count", "valid_from", "recorded_at", "provenance"),
        *("entity_ids", "source_episode_ids", "source_message_ids"),
    ),
    {
        **dict.fromkeys(("statement", "invalidated_by", "valid_until", "closed_at", "last_accessed_at")),
        "tags": (),
    },
)
EPISODE: Final = ("id", "topic", "unread_message_ids", "started_at", "ended_at", "provenance", "fact_ids", "messages")
THEME: Final = ("id", "label", "description", "provenance", "fact_ids")


def entity(values: Values) -> Entity:
    """The entity of a list."""
    return rows.entity_from(_with_provenance(_row(*ENTITY, values)))


def relationship(values: Values) -> Relationship:
    """The relationship of a list."""
    return rows.relationship_from(_with_provenance(_row(*RELATIONSHIP, values)))


def episode(values: Values) -> Episode:
    """The episode of a list, whose messages are lists too."""
    row = _with_provenance(dict(zip(EPISODE, values, strict=True)))
    # Not one by one: there are hundreds, and validated with their episode they take half the time.
    messages = [_message(listed) for listed in row["messages"]]
    return Episode.model_validate({**row, "messages": messages, "unread_message_ids": row["unread_message_ids"] or []})


def fact(values: Values) -> Fact:
    """The fact of a list."""
    return rows.fact_from(_with_provenance(_row(*FACT, values)))


def theme(values: Values) -> Theme:
    """The theme of a list."""
    return rows.theme_from(_with_provenance(dict(zip(THEME, values, strict=True))))


def _message(values: Values) -> rows.Row:
    row = _with_provenance(_row(*MESSAGE, values))
    role, timestamp, message_id = row.pop("heading").split(" ", 2)
    return {
        **row,
        "id": message_id,
        "role": role,
        "timestamp": timestamp,
        "metadata": from_json(row["metadata"]),
    }


def _row(fields: Sequence[str], rare: Mapping[str, Any], values: Values) -> rows.Row:
    *common, rest = values
    row = dict(zip(fields, common, strict=True))
    row |= rare if rest is None else dict(zip(rare, rest, strict=True))
    return row


def _with_provenance(row: rows.Row) -> rows.Row:
    if row["provenance"] is not None:
        row["provenance"] = _row(*PROVENANCE, row["provenance"])
    return row
