"""Where conflict detection gets its candidates: fact by fact from outside, or set-wise inside the store.

The plain way is the reference. Where the store offers `GathersConflictCandidates`, vectors never travel, and the facts
of an entity are read when it is that entity's turn, so that what is in memory at once is bounded by the largest group.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from remembrancer.ports import MemoryIndex, MemoryStore
from remembrancer.ports.pushdown import FactOutline, GathersConflictCandidates
from remembrancer.records import QUARANTINE_TAG, Fact

NEAR_AT_MOST = 50
"""How many facts near to one are looked at, itself among them."""

_OUTLINES_AT_ONCE = 5_000
_SEARCHES_AT_ONCE = 500

Neighbours = tuple[FactOutline, Sequence[FactOutline]]
"""A fact, and those near to it that share an entity with it, nearest first."""


class Candidates(Protocol):
    """Facts that may be in conflict."""

    def groups(self) -> AsyncIterator[Sequence[FactOutline]]:
        """The facts of each entity that two or more mention, in order of listing; entities by first mention."""
        ...

    def near(self, *, min_similarity: float) -> AsyncIterator[Neighbours]:
        """Facts with a vector in order of listing, and what is near to them; those without may be left out."""
        ...


class PlainCandidates:
    """Holds every fact and asks the index once for each."""

    def __init__(self, store: MemoryStore, index: MemoryIndex, facts: Sequence[Fact]) -> None:
        self._store = store
        self._index = index
        self._facts = {fact.id: fact for fact in facts}

    @classmethod
    async def read(cls, store: MemoryStore, index: MemoryIndex, *, page: int) -> PlainCandidates:
        """All facts of a store that are neither closed nor quarantined."""
        facts: list[Fact] = []
        while True:
            found = await store.find_facts(exclude_tags=[QUARANTINE_TAG], limit=page, offset=len(facts))
            facts += found
            if len(found) < page:
                return cls(store, index, facts)

    async def groups(self) -> AsyncIterator[Sequence[FactOutline]]:
        """The facts of each entity that two or more mention."""
        groups: dict[str, list[FactOutline]] = {}
        for fact in self._facts.values():
            for entity_id in dict.fromkeys(fact.entity_ids):
                groups.setdefault(entity_id, []).append(_outline(fact))
        for group in groups.values():
            if len(group) > 1:
                yield group

    async def near(self, *, min_similarity: float) -> AsyncIterator[Neighbours]:
        """What is near to each fact."""
        for fact in self._facts.values():
            if fact.embedding is None or not fact.entity_ids:
                continue
            hits = await self._index.search_facts(
                fact.embedding,
                limit=NEAR_AT_MOST,
                min_similarity=min_similarity,
                include_invalidated=False,
                include_quarantined=False,
            )
            near = await self._known([hit.id for hit in hits if hit.id != fact.id])
            mentioned = set(fact.entity_ids)
            yield _outline(fact), [_outline(other) for other in near if not mentioned.isdisjoint(other.entity_ids)]

    async def _known(self, fact_ids: Sequence[str]) -> list[Fact]:
        others = [fact_id for fact_id in fact_ids if fact_id not in self._facts]
        stored = await self._store.get_facts(others) if others else {}
        found = [self._facts.get(fact_id) or stored.get(fact_id) for fact_id in fact_ids]
        return [fact for fact in found if fact is not None and fact.is_live and not fact.is_quarantined]


class PushedCandidates:
    """Lets the store look by itself."""

    def __init__(self, store: GathersConflictCandidates) -> None:
        self._store = store

    async def groups(self) -> AsyncIterator[Sequence[FactOutline]]:
        """The facts of each entity that two or more mention."""
        batch: list[str] = []
        counted = 0
        for entity_id, count in await self._store.shared_entities():
            if batch and counted + count > _OUTLINES_AT_ONCE:
                for group in await self._store.facts_by_entity(batch):
                    yield group
                batch, counted = [], 0
            batch.append(entity_id)
            counted += count
        if batch:
            for group in await self._store.facts_by_entity(batch):
                yield group

    async def near(self, *, min_similarity: float) -> AsyncIterator[Neighbours]:
        """What is near to each fact that has anything near to it."""
        fact_ids = await self._store.active_fact_ids()
        for start in range(0, len(fact_ids), _SEARCHES_AT_ONCE):
            page = fact_ids[start : start + _SEARCHES_AT_ONCE]
            for neighbours in await self._store.facts_near(page, min_similarity=min_similarity, limit=NEAR_AT_MOST):
                yield neighbours


async def candidates_of(store: MemoryStore, index: MemoryIndex, *, page: int) -> Candidates:
    """The better of the two ways: set-wise where the store can and the index is its own."""
    if isinstance(store, GathersConflictCandidates) and index.serves(store):
        return PushedCandidates(store)
    return await PlainCandidates.read(store, index, page=page)


def _outline(fact: Fact) -> FactOutline:
    statement_key = None if fact.statement is None else fact.statement.key
    return FactOutline(fact.id, fact.content, fact.valid_from, fact.valid_until, statement_key)
