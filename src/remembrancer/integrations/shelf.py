"""Keeping items in a memory's store: read, search, list, and write what changed in one transaction."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembrancer.integrations import items as records
from remembrancer.integrations.filters import passes
from remembrancer.integrations.items import Path, StoredItem
from remembrancer.ports import Embedder, MemoryIndex, MemoryStore
from remembrancer.ports.embedder import embedded
from remembrancer.records import QUARANTINE_TAG, Clock, Entity, RecordBatch
from remembrancer.records.base import build

logger = logging.getLogger(__name__)

_PAGE = 200
_PATHS_AT_ONCE = 1_000

Place = tuple[Path, str]
Scored = tuple[StoredItem, float | None]


@dataclass(frozen=True)
class Put:
    """An item to write. `texts` are what it is found by, in order; `ttl` in minutes."""

    value: Mapping[str, Any]
    texts: Sequence[str]
    ttl: float | None


class Shelf:
    """Items of one memory."""

    def __init__(self, store: MemoryStore, index: MemoryIndex, embedder: Embedder | None, *, clock: Clock) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._clock = clock
        self._has_warned = False

    async def get(self, places: Iterable[Place]) -> dict[Place, StoredItem]:
        """The items at these places that are stored and have not expired."""
        return {(item.path, item.key): item for item in await self._read(records.item_id(*one) for one in places)}

    async def search(
        self, path: Path, *, query: str | None, wanted: Mapping[str, Any], limit: int, offset: int
    ) -> list[Scored]:
        """Items at or below a path that pass a filter.

        With a query and an embedder by similarity, those without a vector behind them; else the last written first.
        """
        if query and self._embedder is None and not self._has_warned:
            self._has_warned = True
            logger.warning("the memory has no embedder: searches give what was written last, not what is similar")
        if limit == 0:
            return []
        found: dict[str, Scored] = {}
        end = offset + limit
        if query and self._embedder is not None:
            (vector,) = await self._vectors([query], self._embedder)
            if vector is not None:
                async for item, score in self._similar(path, vector, least=end):
                    if passes(item.value, wanted):
                        found.setdefault(item.id, (item, score))
                    if len(found) >= end:
                        break
        if len(found) < end:
            async for item in self._listed(path, least=end):
                if passes(item.value, wanted):
                    found.setdefault(item.id, (item, None))
                if len(found) >= end:
                    break
        return list(found.values())[offset:end]

    async def paths(self) -> list[Path]:
        """Every path that holds an item, expired ones included, in order."""
        found: list[Path] = []
        page: list[Entity] = []
        while not found or len(page) == _PATHS_AT_ONCE:
            page = await self._store.find_entities(
                entity_type=records.PATH_TYPE, include_invalidated=True, limit=_PATHS_AT_ONCE, offset=len(found)
            )
            found += map(records.path_from, page)
            if not page:
                break
        return sorted(found)

    async def write(self, puts: Mapping[Place, Put | None], *, used: Iterable[StoredItem]) -> None:
        """Put items, delete those that are `None`, and keep those that were used for longer; in one transaction."""
        refreshed = [item for item in used if item.ttl is not None and (item.path, item.key) not in puts]
        if not puts and not refreshed:
            return
        now = self._clock()
        stored = {item.id: item for item in await self._read((records.item_id(*one) for one in puts), whole=True)}
        new = [_item(place, put, stored, now) for place, put in puts.items() if put is not None]
        texts = [one.texts for one in puts.values() if one is not None]
        vectors = await self._embedded(texts)
        gone = [
            stored[one]
            for one in (records.item_id(*place) for place, put in puts.items() if put is None)
            if one in stored
        ]
        kept_facts = {fact_id for item in new for fact_id in item.fact_ids}
        former = [fact_id for item in stored.values() for fact_id in item.fact_ids if fact_id not in kept_facts]
        unending = [records.expiry_id(item.id) for item in new if item.ttl is None and item.id in stored]
        edges = [item.expiry(now) for item in (*new, *refreshed)]
        await self._store.write(
            build(
                RecordBatch,
                entities=[
                    *(item.entity() for item in new),
                    *(records.path_entity(path, now) for path in dict.fromkeys(item.path for item in new)),
                ],
                facts=[
                    fact for item, own, made in zip(new, texts, vectors, strict=True) for fact in item.facts(own, made)
                ],
                relationships=[edge for edge in edges if edge is not None],
                removals={"entity": [item.id for item in gone], "fact": former, "relationship": unending},
            )
        )
        await self._close_paths({item.path for item in gone} - {item.path for item in new}, now)

    async def sweep(self) -> int:
        """Remove the expired items for good; how many there were."""
        expired: list[StoredItem] = []
        now = self._clock()
        for path in await self.paths():
            edges = await self._store.get_relationships_for_entity(
                records.path_id(path), direction="in", relation_type=records.EXPIRES
            )
            ids = [edge.source_id for edge in edges if edge.valid_until is not None and edge.valid_until <= now]
            expired += await self._read(ids, whole=True)
        await self.write({(item.path, item.key): None for item in expired}, used=())
        return len(expired)

    async def _read(self, ids: Iterable[str], *, whole: bool = False) -> list[StoredItem]:
        """Items by id, in that order; `whole`: expired ones too."""
        stored = await self._store.get_entities(list(dict.fromkeys(ids)))
        found = [records.item_from(entity) for entity in stored.values()]
        return found if whole else await self._unexpired(found)

    async def _unexpired(self, found: list[StoredItem]) -> list[StoredItem]:
        ending = [records.expiry_id(item.id) for item in found if item.ttl is not None]
        if not ending:
            return found
        edges = await self._store.get_relationships(ending)
        now = self._clock()
        over = {edge.source_id for edge in edges.values() if edge.valid_until is not None and edge.valid_until <= now}
        return [item for item in found if item.id not in over]

    async def _similar(self, path: Path, vector: Sequence[float], *, least: int) -> AsyncIterator[Scored]:
        """Items by similarity, best first; one with several texts comes by each of them."""
        asked, seen = max(2 * least, _PAGE // 4), 0
        while True:
            hits = await self._index.search_facts(
                vector, limit=asked, min_similarity=-1.0, include_quarantined=False, tags=[records.tag_under(path)]
            )
            facts = await self._store.get_facts([hit.id for hit in hits[seen:]])
            owners = {fact.id: fact.entity_ids[0] for fact in facts.values() if fact.entity_ids}
            read = {item.id: item for item in await self._read(owners.values())}
            for hit in hits[seen:]:
                item = read.get(owners.get(hit.id, ""))
                # Of two writers at once one may leave a text behind that the item no longer has.
                if item is not None and hit.id in item.fact_ids:
                    yield item, hit.score
            if len(hits) < asked:
                return
            asked, seen = 4 * asked, asked

    async def _listed(self, path: Path, *, least: int) -> AsyncIterator[StoredItem]:
        """Items, the last written first."""
        size, offset = max(least, _PAGE), 0
        while True:
            facts = await self._store.find_facts(
                tags=[records.tag_under(path)],
                exclude_tags=[records.FURTHER_TEXT, QUARANTINE_TAG],
                include_invalidated=True,
                limit=size,
                offset=offset,
            )
            for item in await self._read(fact.entity_ids[0] for fact in facts if fact.entity_ids):
                yield item
            if len(facts) < size:
                return
            offset += size

    async def _close_paths(self, left: Iterable[Path], now: dt.datetime) -> None:
        """No longer list the paths where nothing is left; one that gets an item meanwhile is listed again."""
        empty = [path for path in left if not await self._holds_any(path)]
        if not empty:
            return
        await self._store.write(build(RecordBatch, removals={"entity": [records.path_id(path) for path in empty]}))
        back = [records.path_entity(path, now) for path in empty if await self._holds_any(path)]
        if back:
            await self._store.write(build(RecordBatch, entities=back))

    async def _holds_any(self, path: Path) -> bool:
        return bool(await self._store.find_facts(tags=[records.tag_in(path)], include_invalidated=True, limit=1))

    async def _embedded(self, texts: Sequence[Sequence[str]]) -> list[list[Sequence[float] | None]]:
        """For each list of texts its vectors; every text is embedded once."""
        distinct = list(dict.fromkeys(text for own in texts for text in own))
        if self._embedder is None or not distinct:
            return [[None] * len(own) for own in texts]
        made = dict(zip(distinct, await self._vectors(distinct, self._embedder), strict=True))
        return [[made[text] for text in own] for own in texts]

    async def _vectors(self, texts: list[str], embedder: Embedder) -> list[Sequence[float] | None]:
        vectors = await embedded(embedder, texts)
        # A vector of zeros has no direction: of a text without words, for example.
        return [vector if any(vector) else None for vector in vectors]


def _item(place: Place, put: Put, stored: Mapping[str, StoredItem], now: dt.datetime) -> StoredItem:
    path, key = place
    former = stored.get(records.item_id(path, key))
    return StoredItem(
        path=path,
        key=key,
        value=dict(put.value),
        created_at=now if former is None else former.created_at,
        updated_at=now,
        texts=max(1, len(put.texts)),
        ttl=put.ttl,
    )
