"""Nodes and edges of Graphiti, as its models dump them: entities, episodes, communities and entity edges.

An entity edge becomes a fact, which has its words, and an edge between the two entities; `valid_at` and `invalid_at`
are their window, `expired_at` closes them. An episode becomes an episode of one message. The group stands in tags of
facts (`group:`), the attributes of entities and edges, and is the conversation of messages.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from remembrancer.lifecycle.foreign_records import (
    Taken,
    foreign_id,
    instant,
    leave,
    mapping,
    tag,
    text,
    texts,
    vector,
)
from remembrancer.records import Entity, Episode, Fact, InvalidInputError, Message, Provenance, Relationship, Theme
from remembrancer.records.base import build
from remembrancer.records.key import derived_id

EXPIRED = "graphiti:expired"
"""What closed a fact that Graphiti had expired."""

_NODE = frozenset(
    {"uuid", "name", "group_id", "labels", "created_at", "summary", "attributes", "name_embedding", "type"}
)
_EPISODE = frozenset(
    {"uuid", "name", "group_id", "labels", "created_at", "source", "source_description", "content", "valid_at",
     "entity_edges", "type"}
)  # fmt: skip
_EDGE = frozenset(
    {"uuid", "group_id", "source_node_uuid", "target_node_uuid", "created_at", "name", "fact", "fact_embedding",
     "episodes", "expired_at", "valid_at", "invalid_at", "reference_time", "attributes", "type"}
)  # fmt: skip


def read(group: str, record: Mapping[str, Any]) -> Taken:
    """What a node or edge of Graphiti becomes. Which it is tells its `type`, or else its fields.

    Raises:
        InvalidInputError: It is none, or a field of it is wrong; names the field.
    """
    kind = text(record, "type") or ""
    if "source_node_uuid" in record:
        # Those without words only repeat what episodes and facts say of one another, or join a community.
        return _edge(record) if "fact" in record else Taken(left=[kind or group or "edge without a fact"])
    if kind == "EpisodicNode" or (not kind and "content" in record and "valid_at" in record):
        return _episode(record)
    labels = texts(record, "labels")
    if kind == "CommunityNode" or group in ("communities", "community_nodes") or "Community" in labels:
        return _community(record)
    return _entity(record, labels)


def _created(record: Mapping[str, Any]) -> dt.datetime:
    created = instant(record, "created_at")
    if created is None:
        raise InvalidInputError("created_at", "missing")
    return created


def _named(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: record[name] for name in names if record.get(name) not in (None, "", [], {})}


def _entity(record: Mapping[str, Any], labels: list[str]) -> Taken:
    taken, created = Taken(), _created(record)
    special = [label for label in labels if label != "Entity"]
    entity = build(
        Entity,
        id=foreign_id("graphiti", text(record, "uuid", needed=True) or ""),
        name=text(record, "name", needed=True),
        entity_type=special[0].lower() if special else "concept",
        attributes={**mapping(record, "attributes"), **_named(record, "summary", "group_id", "labels")},
        provenance=Provenance(source="system", created_at=created),
        created_at=created,
        updated_at=created,
    )
    taken.entities.append(entity)
    _keep_vector(taken, entity.id, record, "name_embedding")
    leave(taken, record, _NODE)
    return taken


def _community(record: Mapping[str, Any]) -> Taken:
    taken = Taken()
    theme = build(
        Theme,
        id=foreign_id("graphiti", text(record, "uuid", needed=True) or ""),
        label=text(record, "name", needed=True),
        description=text(record, "summary") or "",
        provenance=Provenance(source="system", created_at=_created(record)),
    )
    taken.themes.append(theme)
    taken.left += [f"{name} of a community" for name in ("group_id",) if record.get(name)]
    leave(taken, record, _NODE)
    return taken


def _episode(record: Mapping[str, Any]) -> Taken:
    taken, created = Taken(), _created(record)
    given = text(record, "uuid", needed=True) or ""
    said = instant(record, "valid_at") or created
    source, group = text(record, "source"), text(record, "group_id")
    origin = Provenance(source="system", created_at=created)
    message = build(
        Message,
        id=_message_id(given),
        role="user" if source == "message" else "system",
        content=text(record, "content", needed=True),
        timestamp=said,
        conversation=group,
        metadata={"graphiti": _named(record, "uuid", "name", "source", "source_description", "labels")},
        provenance=origin,
    )
    episode = build(
        Episode,
        id=foreign_id("graphiti", given),
        topic=text(record, "name") or "",
        messages=[message],
        started_at=said,
        ended_at=said,
        fact_ids=[foreign_id("graphiti", one) for one in texts(record, "entity_edges")],
        provenance=origin,
    )
    taken.episodes.append(episode)
    leave(taken, record, _EPISODE)
    return taken


def _edge(record: Mapping[str, Any]) -> Taken:
    taken, created = Taken(), _created(record)
    given = text(record, "uuid", needed=True) or ""
    ends = [
        foreign_id("graphiti", text(record, one, needed=True) or "") for one in ("source_node_uuid", "target_node_uuid")
    ]
    episodes, expired = texts(record, "episodes"), instant(record, "expired_at")
    window = {
        "valid_from": instant(record, "valid_at", "reference_time") or created,
        "valid_until": instant(record, "invalid_at"),
        "recorded_at": created,
        "closed_at": expired,
        "provenance": Provenance(source="derived", created_at=created),
    }
    tags = tag(taken, "group", text(record, "group_id"))
    tags += [
        one for name, value in mapping(record, "attributes").items() for one in tag(taken, f"graphiti:{name}", value)
    ]
    fact = build(
        Fact,
        id=foreign_id("graphiti", given),
        content=text(record, "fact", needed=True),
        entity_ids=ends,
        source_episode_ids=[foreign_id("graphiti", one) for one in episodes],
        source_message_ids=[_message_id(one) for one in episodes],
        invalidated_by=None if expired is None else EXPIRED,
        tags=tags,
        **window,
    )
    edge = build(
        Relationship,
        id=derived_id("graphiti/edge", given),
        source_id=ends[0],
        target_id=ends[1],
        relation_type=text(record, "name", needed=True),
        attributes={**mapping(record, "attributes"), **_named(record, "fact", "group_id", "reference_time")},
        invalidated_by=None if expired is None else fact.id,
        **window,
    )
    taken.facts.append(fact)
    taken.relationships.append(edge)
    _keep_vector(taken, fact.id, record, "fact_embedding")
    leave(taken, record, _EDGE)
    return taken


def _keep_vector(taken: Taken, record_id: str, record: Mapping[str, Any], name: str) -> None:
    found = vector(record, name)
    if found is not None:
        taken.vectors[record_id] = found


def _message_id(given: str) -> str:
    return derived_id("graphiti/message", given)
