"""Records that a retrieval sends as lists of their fields: the names would be half of what is sent and read.

The order of the fields is that of the lists in the statements under `cypher/retrieval/`. What a record rarely has is a
list of its own at the end, null where there is none of it, and what is never null stands in one text with its
neighbours: each value costs the client about the same, also a null.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from remembrancer.graph import records as rows
from remembrancer.graph.values import from_json
from remembrancer.records import Entity, Episode, Fact, Relationship, Theme

Values = Sequence[Any]

_ESCAPED = re.compile(r"\\(.)")
_PLAIN = {"n": "\n", "\\": "\\"}

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
EDGES: Final = {"MENTIONS": "entity_ids", "FROM_EPISODE": "source_episode_ids", "CITES": "source_message_ids"}
"""A fact's edges are texts: the type, the places in the record's list, the id."""
FACT: Final = (
    ("id", "content", "theme_id", "access_count", "valid_from", "recorded_at", "provenance", "edges"),
    {
        **dict.fromkeys(("statement", "invalidated_by", "valid_until", "closed_at", "last_accessed_at")),
        "tags": (),
    },
)
MESSAGE: Final = ("role", "timestamp", "id", "conversation", "speaker", "metadata", "content")
"""A message is one text, since there are hundreds: its place, role, timestamp and id; on the next lines the
conversation and the speaker, each after a colon with backslashes and line breaks escaped, or nothing for null; the
metadata as JSON; and to the end the content. One with provenance is a list of this text and the provenance."""
EPISODE: Final = ("id", "topic", "unread_message_ids", "started_at", "ended_at", "provenance", "contents")
THEME: Final = ("id", "label", "description", "provenance", "fact_ids")


def entity(values: Values) -> Entity:
    """The entity of a list."""
    return rows.entity_from(_with_provenance(_row(*ENTITY, values)))


def relationship(values: Values) -> Relationship:
    """The relationship of a list."""
    return rows.relationship_from(_with_provenance(_row(*RELATIONSHIP, values)))


def episode(values: Values) -> Episode:
    """The episode of a list, whose messages are texts."""
    row = _with_provenance(dict(zip(EPISODE, values, strict=True)))
    facts: list[tuple[int, str]] = []
    messages: list[tuple[int, rows.Row]] = []
    for item in row["contents"]:
        text, provenance = (item, None) if isinstance(item, str) else item
        heading, *lines = text.split("\n", 4)
        place, *fields = heading.split(" ")
        if lines:
            messages.append((int(place), _message(fields, lines, provenance)))
        else:
            facts.append((int(place), fields[0]))
    row["fact_ids"] = [fact_id for _, fact_id in sorted(facts)]
    # Not one by one: there are hundreds, and validated with their episode they take half the time.
    row["messages"] = [message for _, message in sorted(messages, key=itemgetter(0))]
    return Episode.model_validate({**row, "unread_message_ids": row["unread_message_ids"] or []})


def fact(values: Values) -> Fact:
    """The fact of a list."""
    row = _with_provenance(_row(*FACT, values))
    ids: dict[str, list[tuple[int, str]]] = {kind: [] for kind in EDGES}
    for edge in row.pop("edges"):
        kind, *places, target = edge.split(" ")
        ids[kind].extend((int(place), target) for place in places)
    row |= {field: [target for _, target in sorted(ids[kind])] for kind, field in EDGES.items()}
    return rows.fact_from(row)


def theme(values: Values) -> Theme:
    """The theme of a list."""
    return rows.theme_from(_with_provenance(dict(zip(THEME, values, strict=True))))


def _message(heading: Sequence[str], lines: Sequence[str], provenance: Values | None) -> rows.Row:
    row: rows.Row = dict(zip(MESSAGE, (*heading, *lines), strict=True))
    row |= {"conversation": _key(row["conversation"]), "speaker": _key(row["speaker"])}
    row |= {"metadata": from_json(row["metadata"]), "provenance": provenance}
    return _with_provenance(row)


def _key(line: str) -> str | None:
    """What stands on a line after a colon, its line breaks and backslashes escaped; an empty line is null."""
    if not line:
        return None
    return _ESCAPED.sub(lambda found: _PLAIN[found[1]], line[1:]) if "\\" in line else line[1:]


def _row(fields: Sequence[str], rare: Mapping[str, Any], values: Values) -> rows.Row:
    *common, rest = values
    row = dict(zip(fields, common, strict=True))
    row |= rare if rest is None else dict(zip(rare, rest, strict=True))
    return row


def _with_provenance(row: rows.Row) -> rows.Row:
    if row["provenance"] is not None:
        row["provenance"] = _row(*PROVENANCE, row["provenance"])
    return row
