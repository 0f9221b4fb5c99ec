"""Memories of mem0, as `get_all()` gives them: `results`, and `relations` where there is a graph.

A memory becomes a fact. Whose it is stands in tags (`user:`, `agent:`, `run:`, `app:`), as do its categories and what
its metadata hold. A relation becomes two entities and an edge; it tells no time, so it holds from 1970 on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remembrancer.lifecycle.foreign_records import (
    NO_START,
    Taken,
    foreign_id,
    instant,
    leave,
    mapping,
    tag,
    text,
    texts,
)
from remembrancer.records import Entity, Fact, InvalidInputError, Provenance, Relationship
from remembrancer.records.base import build
from remembrancer.records.key import derived_id

_OWNERS = {
    "user_id": "user",
    "agent_id": "agent",
    "run_id": "run",
    "app_id": "app",
    "actor_id": "actor",
    "role": "role",
}
_TAGGED = {"immutable": "mem0:immutable", "hash": "mem0:hash", "structured_attributes": "mem0:structured"}
_KNOWN = (
    frozenset({"id", "memory", "text", "data", "metadata", "categories", "created_at", "updated_at", "expiration_date"})
    | set(_OWNERS)
    | set(_TAGGED)
)
_RELATION = frozenset({"source", "relationship", "relation", "target", "destination"})


def read(group: str, record: Mapping[str, Any]) -> Taken:
    """What a record of mem0 becomes.

    Raises:
        InvalidInputError: It is none, or a field of it is wrong; names the field.
    """
    if group == "relations" or ("source" in record and ("relationship" in record or "relation" in record)):
        return _relation(record)
    return _memory(record)


def _memory(record: Mapping[str, Any]) -> Taken:
    taken = Taken()
    given, content = text(record, "id", needed=True), text(record, "memory", "text", "data", needed=True)
    created = instant(record, "created_at", "updated_at")
    if created is None:
        raise InvalidInputError("created_at", "missing: a fact needs a time from which it holds")
    tags = [one for name, short in (_OWNERS | _TAGGED).items() for one in tag(taken, short, record.get(name))]
    tags += [one for category in texts(record, "categories") for one in tag(taken, "category", category)]
    tags += [one for name, value in mapping(record, "metadata").items() for one in tag(taken, f"mem0:{name}", value)]
    fact = build(
        Fact,
        id=foreign_id("mem0/memory", given or ""),
        content=content,
        provenance=build(
            Provenance,
            source="agent",
            agent_id=text(record, "agent_id"),
            run_id=text(record, "run_id"),
            created_at=created,
        ),
        valid_from=created,
        valid_until=instant(record, "expiration_date"),
        recorded_at=instant(record, "updated_at", "created_at"),
        tags=list(dict.fromkeys(tags)),
    )
    taken.facts.append(fact)
    taken.left += [name for name in ("memory", "text", "data") if record.get(name) and record[name] != content]
    leave(taken, record, _KNOWN)
    return taken


def _relation(record: Mapping[str, Any]) -> Taken:
    taken = Taken()
    source, target = text(record, "source", needed=True), text(record, "target", "destination", needed=True)
    name = text(record, "relationship", "relation", needed=True)
    origin = Provenance(source="agent", created_at=NO_START)
    for called in (source, target):
        entity = build(
            Entity,
            id=derived_id("mem0/entity", called),
            name=called,
            entity_type="concept",
            provenance=origin,
            created_at=NO_START,
            updated_at=NO_START,
        )
        taken.entities.append(entity)
    edge = build(
        Relationship,
        id=derived_id("mem0/relation", source, name, target),
        source_id=taken.entities[0].id,
        target_id=taken.entities[1].id,
        relation_type=name,
        valid_from=NO_START,
        provenance=origin,
    )
    taken.relationships.append(edge)
    chosen = {"relationship": name, "relation": name, "target": target, "destination": target}
    taken.left += [name for name, value in chosen.items() if record.get(name) and record[name] != value]
    leave(taken, record, _RELATION)
    return taken
