"""Entities of one name and what hangs on them: read one by one from outside, or set-wise inside the store.

The plain way is the reference. Where the store offers `GathersNamesakes`, only entities that share a name, and what
names those that will be absorbed, ever reach this process.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from remembrancer.lifecycle.entity_merge import Ends
from remembrancer.ports import MemoryStore
from remembrancer.ports.pushdown import GathersNamesakes
from remembrancer.records import Entity, Fact, Relationship, name_key
from remembrancer.records.entity import folded_name
from remembrancer.records.stated import named_by

R = TypeVar("R")


class Namesakes(Protocol):
    """One look at the entities of a store that share a name, and at what hangs on them."""

    async def groups(self) -> list[list[Entity]]:
        """Live entities of one folded name and type, two or more a group; names that fold to nothing share none."""
        ...

    async def facts_naming(self, entity_ids: Sequence[str]) -> list[Fact]:
        """Facts that mention one of these or state something of it, closed and quarantined ones too, by id."""
        ...

    async def relationships_at(self, entity_ids: Sequence[str]) -> list[Relationship]:
        """Relationships that begin or end at one of these, closed ones too, by id."""
        ...

    async def relationships_between(self, ends: Sequence[Ends]) -> list[Relationship]:
        """Live relationships with one of these ends and types, by id."""
        ...


class PlainNamesakes:
    """Reads every entity, and asks once for each that is looked at."""

    def __init__(self, store: MemoryStore, *, page: int) -> None:
        self._store = store
        self._page = page

    async def groups(self) -> list[list[Entity]]:
        """Entities of one name and type."""
        return _grouped(await self._all(lambda **page: self._store.find_entities(**page)))

    async def facts_naming(self, entity_ids: Sequence[str]) -> list[Fact]:
        """Facts that mention one of these or state something of it; no listing has only those that state it."""
        wanted = set(entity_ids)
        facts = await self._all(lambda **page: self._store.find_facts(include_invalidated=True, **page))
        return sorted((fact for fact in facts if not wanted.isdisjoint(named_by(fact))), key=lambda fact: fact.id)

    async def relationships_at(self, entity_ids: Sequence[str]) -> list[Relationship]:
        """Relationships that begin or end at one of these."""
        found: dict[str, Relationship] = {}
        for entity_id in entity_ids:
            edges = await self._store.get_relationships_for_entity(entity_id, include_invalidated=True)
            found.update((edge.id, edge) for edge in edges)
        return [found[edge_id] for edge_id in sorted(found)]

    async def relationships_between(self, ends: Sequence[Ends]) -> list[Relationship]:
        """Live relationships with one of these ends and types."""
        wanted = set(ends)
        found: dict[str, Relationship] = {}
        for source_id in dict.fromkeys(source_id for source_id, _, _ in ends):
            for edge in await self._store.get_relationships_for_entity(source_id, direction="out"):
                if (edge.source_id, edge.target_id, edge.relation_type) in wanted:
                    found[edge.id] = edge
        return [found[edge_id] for edge_id in sorted(found)]

    async def _all(self, read: Callable[..., Coroutine[Any, Any, list[R]]]) -> list[R]:
        found: list[R] = []
        while True:
            page = await read(limit=self._page, offset=len(found))
            found += page
            if len(page) < self._page:
                return found


class PushedNamesakes:
    """Lets the store look by itself, and reads what it names in pages."""

    def __init__(self, store: MemoryStore, gatherer: GathersNamesakes, *, page: int) -> None:
        self._store = store
        self._gatherer = gatherer
        self._page = page

    async def groups(self) -> list[list[Entity]]:
        """Entities of one name and type."""
        entity_ids = [entity_id for group in await self._gatherer.namesakes() for entity_id in group]
        return _grouped(await self._read(self._store.get_entities, entity_ids))

    async def facts_naming(self, entity_ids: Sequence[str]) -> list[Fact]:
        """Facts that mention one of these."""
        return await self._read(self._store.get_facts, await self._gatherer.fact_ids_naming(entity_ids))

    async def relationships_at(self, entity_ids: Sequence[str]) -> list[Relationship]:
        """Relationships that begin or end at one of these."""
        found = await self._gatherer.relationship_ids_at(entity_ids)
        return await self._read(self._store.get_relationships, found)

    async def relationships_between(self, ends: Sequence[Ends]) -> list[Relationship]:
        """Live relationships with one of these ends and types."""
        found = await self._gatherer.relationship_ids_between(ends)
        return await self._read(self._store.get_relationships, found)

    async def _read(
        self, get: Callable[[Sequence[str]], Coroutine[Any, Any, dict[str, R]]], ids: Sequence[str]
    ) -> list[R]:
        found: list[R] = []
        for start in range(0, len(ids), self._page):
            found += (await get(ids[start : start + self._page])).values()
        return found


def namesakes_of(store: MemoryStore, *, page: int) -> Namesakes:
    """The better of the two ways: set-wise where the store can."""
    if isinstance(store, GathersNamesakes):
        return PushedNamesakes(store, store, page=page)
    return PlainNamesakes(store, page=page)


def _grouped(entities: Iterable[Entity]) -> list[list[Entity]]:
    groups: dict[str, list[Entity]] = {}
    for entity in entities:
        if entity.is_live and folded_name(entity.name):
            groups.setdefault(name_key(entity.name, entity.entity_type), []).append(entity)
    return [group for group in groups.values() if len(group) > 1]
