"""Items of a key-value store as records: how a path and a key become ids and tags, and a value a record.

An item is an `Entity` of the type `langgraph_item` that holds path, key and value as attributes. Each text by which
it can be found is a `Fact` that mentions it, tagged with every beginning of its path; the first of them stands for the
item in listings, and there is always one. An item that expires has an edge to the `Entity` of its path
(`langgraph_namespace`), whose window ends then. Ids are made from path and key alone, so that one item is one record.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from remembrancer.records import Entity, Fact, Provenance, Relationship
from remembrancer.records.key import MAX_KEY_BYTES, derived_id

ITEM_TYPE = "langgraph_item"
PATH_TYPE = "langgraph_namespace"
EXPIRES = "expires_in"
FURTHER_TEXT = "langgraph-text"
"""Tag of facts that carry a further text of an item; listings leave them out."""

_UNDER, _IN = "langgraph:", "langgraph="
_SEPARATOR = "."

Path = tuple[str, ...]


@dataclass(frozen=True)
class StoredItem:
    """An item as it is stored.

    Attributes:
        texts: How many facts carry its texts, at least one.
        ttl: Minutes that it is kept after its last use; `None`: for good.
    """

    path: Path
    key: str
    value: dict[str, Any]
    created_at: dt.datetime
    updated_at: dt.datetime
    texts: int = 1
    ttl: float | None = None

    @property
    def id(self) -> str:
        """The id of its entity."""
        return item_id(self.path, self.key)

    @property
    def name(self) -> str:
        """Path and key, to read."""
        return f"{_SEPARATOR.join(self.path)}/{self.key}"

    @property
    def fact_ids(self) -> list[str]:
        """The facts that carry its texts."""
        return [fact_id(self.id, place) for place in range(self.texts)]

    def entity(self) -> Entity:
        """The record that holds it."""
        attributes: dict[str, Any] = {
            "namespace": list(self.path),
            "key": self.key,
            "value": self.value,
            "texts": self.texts,
            "ttl": self.ttl,
        }
        return _entity(self.id, self.name, ITEM_TYPE, attributes, created=self.created_at, updated=self.updated_at)

    def facts(self, texts: Sequence[str], vectors: Sequence[Sequence[float] | None]) -> list[Fact]:
        """The facts by which it is found; without texts one that has its name."""
        tags = [*map(tag_under, beginnings(self.path)), tag_in(self.path)]
        return [
            Fact(
                id=fact_id(self.id, place),
                content=text,
                entity_ids=[self.id],
                embedding=None if vector is None else tuple(vector),
                valid_from=self.updated_at,
                tags=[*tags, FURTHER_TEXT] if place else tags,
                provenance=_provenance(self.updated_at),
            )
            for place, (text, vector) in enumerate(zip(texts or [self.name], vectors or [None], strict=True))
        ]

    def expiry(self, now: dt.datetime) -> Relationship | None:
        """The edge that says until when it is kept, used now; `None`: it is kept for good."""
        if self.ttl is None:
            return None
        return Relationship(
            id=expiry_id(self.id),
            source_id=self.id,
            target_id=path_id(self.path),
            relation_type=EXPIRES,
            valid_from=now,
            valid_until=now + dt.timedelta(minutes=self.ttl),
            provenance=_provenance(now),
        )


def item_from(entity: Entity) -> StoredItem:
    """Read an item back."""
    held = entity.attributes
    return StoredItem(
        path=tuple(held["namespace"]),
        key=held["key"],
        value=held["value"],
        created_at=entity.created_at,
        updated_at=entity.updated_at,
        texts=held["texts"],
        ttl=held["ttl"],
    )


def path_entity(path: Path, now: dt.datetime) -> Entity:
    """The record by which a path is listed."""
    return _entity(path_id(path), _SEPARATOR.join(path), PATH_TYPE, {"namespace": list(path)}, created=now, updated=now)


def path_from(entity: Entity) -> Path:
    """Read a path back."""
    return tuple(entity.attributes["namespace"])


def item_id(path: Path, key: str) -> str:
    """The id of an item; other path, other key, other id."""
    return derived_id(ITEM_TYPE, str(len(path)), *path, key)


def path_id(path: Path) -> str:
    """The id of a path."""
    return derived_id(PATH_TYPE, *path)


def fact_id(item: str, place: int) -> str:
    """The id of the fact with an item's text number `place`, from 0."""
    return derived_id("langgraph_text", item, str(place))


def expiry_id(item: str) -> str:
    """The id of the edge that ends an item."""
    return derived_id(EXPIRES, item)


def beginnings(path: Path) -> Iterable[Path]:
    """The path and everything above it, the root first."""
    return (path[:depth] for depth in range(len(path) + 1))


def tag_under(path: Path) -> str:
    """The tag of everything at or below a path."""
    return _tag(_UNDER, path)


def tag_in(path: Path) -> str:
    """The tag of everything at a path itself."""
    return _tag(_IN, path)


def _tag(kind: str, path: Path) -> str:
    # No label has a full stop, so that joined with it no two paths meet.
    text = kind + _SEPARATOR.join(path)
    size = len(text.encode("utf-8"))
    return text if size <= MAX_KEY_BYTES else f"{kind}sha256.{hashlib.sha256(text.encode('utf-8')).hexdigest()}..{size}"


def _entity(
    entity_id: str, name: str, kind: str, attributes: dict[str, Any], *, created: dt.datetime, updated: dt.datetime
) -> Entity:
    return Entity(
        id=entity_id,
        name=name,
        entity_type=kind,
        attributes=attributes,
        created_at=created,
        updated_at=updated,
        provenance=_provenance(updated),
    )


def _provenance(now: dt.datetime) -> Provenance:
    return Provenance(source="agent", tool_name="langgraph", created_at=now)
