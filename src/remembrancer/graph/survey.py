"""What a consolidation looks for, found inside Neo4j: many facts a statement, and only what is pruned comes out."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from remembrancer.graph.connection import Row
from remembrancer.graph.nearness import Block, Nearness
from remembrancer.ports import Hit
from remembrancer.ports.arguments import similarity, whole_number
from remembrancer.ports.pushdown import NearDuplicates
from remembrancer.records import SIMILARITY_TOLERANCE, EmbeddingSpace, InvalidInputError
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_ids, without_repeats
from remembrancer.records.packed import PackedIds

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)

_FEW = 10
"""How many neighbours are looked for at first; at this number the nearest few are found as surely as with 100."""

_SEARCHES_A_STATEMENT = 250
_STATEMENTS_AT_ONCE = 4  # the database runs one statement on one core
_VECTORS_AT_ONCE = 1_000
_COMPARED_AT_MOST = 500_000
"""More facts are searched for one by one: their comparisons would take longer, since they grow with the square."""

_VECTORS_HELD = 8_000
"""So many vectors are compared with all others while those are read once: 18 MB at 384 dimensions, cut forms too."""


class _Reading(Protocol):
    @property
    def space(self) -> EmbeddingSpace | None: ...

    async def _read(self, name: str, **parameters: Any) -> list[Row]: ...

    async def _read_ids(self, name: str) -> PackedIds: ...


class FactSurvey:
    """The part of a store in Neo4j that surveys its facts; fulfils `remembrancer.ports.pushdown.SurveysFacts`."""

    async def active_fact_ids(self: _Reading) -> PackedIds:
        """Ids of the facts that are neither closed nor quarantined, in listing order; one statement."""
        return await self._read_ids("survey.active")

    async def near_duplicates(
        self: _Reading, fact_ids: Sequence[str], *, min_similarity: float, limit: int
    ) -> dict[str, list[Hit]]:
        """For each of these facts those near to it, nearest first; a few hundred facts a statement."""
        wanted = without_repeats(require_ids(fact_ids, field="fact_ids"))
        least = similarity(min_similarity) - SIMILARITY_TOLERANCE
        most = whole_number(limit, field="limit", least=1)
        if self.space is None:
            return {}
        found: dict[str, list[Hit]] = {}
        turn = asyncio.Semaphore(_STATEMENTS_AT_ONCE)

        async def search(ids: Sequence[str]) -> None:
            async with turn:
                rows = await self._read("survey.near", ids=ids, least=least, few=min(_FEW, most), limit=most)
            for row in rows:
                found[row["id"]] = [Hit(*hit) for hit in row["near"]]

        parts = [
            wanted[start : start + _SEARCHES_A_STATEMENT] for start in range(0, len(wanted), _SEARCHES_A_STATEMENT)
        ]
        try:
            async with asyncio.TaskGroup() as searches:
                for part in parts:
                    searches.create_task(search(list(part)))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0]  # noqa: B904 - one failure, told as it is
        return {fact_id: found[fact_id] for fact_id in wanted if fact_id in found}

    async def duplicates_among(
        self: _Reading, fact_ids: PackedIds, *, min_similarity: float, limit: int
    ) -> NearDuplicates:
        """For each of these facts those of them near to it, nearest first; their vectors are compared here.

        A search costs milliseconds and screening a pair of vectors some nanoseconds, so up to some hundred thousand
        facts it takes less to screen all pairs. Of more than half a million none is compared: for all of them the index
        must be asked. What is held at once does not grow with their number, but for what is found.
        """
        least = similarity(min_similarity) - SIMILARITY_TOLERANCE
        most = whole_number(limit, field="limit", least=1)
        if self.space is None:
            return NearDuplicates({}, ())
        if len(fact_ids) > _COMPARED_AT_MOST:
            return NearDuplicates({}, fact_ids)
        nearness = Nearness(len(fact_ids), least=least, limit=most)
        for start in range(0, len(fact_ids), _VECTORS_HELD):
            held: list[Block] = []
            async for places, vectors in _vectors(self, fact_ids, start):
                block = await asyncio.to_thread(nearness.block, places, vectors)
                is_held = block.places[0] < start + _VECTORS_HELD
                await asyncio.to_thread(_compare, nearness, held, block, with_itself=is_held)
                if is_held:
                    held.append(block)
        near = {
            fact_ids[place]: [Hit(fact_ids[other], score) for other, score in found]
            for place, found in nearness.clear()
        }
        return NearDuplicates(near, PackedIds(fact_ids[place] for place in nearness.unclear()))

    async def weakest_facts(
        self: _Reading,
        count: int,
        *,
        uses: Mapping[str, int],
        without: Collection[str],
        now: dt.datetime,
        half_life_days: float,
    ) -> list[str]:
        """Ids of the facts that decay has weakened most, least score first; one statement."""
        most = whole_number(count, field="count")
        if half_life_days <= 0:
            raise InvalidInputError("half_life_days", f"must be above 0, got {half_life_days}")
        rows = await self._read(
            "survey.weakest",
            now=(require_instant(now, field="now") - _EPOCH) // _MICROSECOND,
            half_life=float(half_life_days),
            uses=dict(uses),
            without=dict.fromkeys(without, True),
            count=most,
        )
        return [row["id"] for row in rows]

    async def theme_ids_naming(self: _Reading, fact_ids: Collection[str]) -> list[str]:
        """Ids of the themes that list one of these facts, in order; one statement."""
        wanted = sorted(set(require_ids(fact_ids, field="fact_ids")))
        return [row["id"] for row in await self._read("survey.themes_naming", ids=wanted)]

    async def mean_embedding(self: _Reading, fact_ids: Sequence[str]) -> tuple[float, ...] | None:
        """The mean of the stored embeddings of these facts in float32, read as vectors, a thousand at once."""
        wanted = without_repeats(require_ids(fact_ids, field="fact_ids"))
        if self.space is None:
            return None
        total, count = np.zeros(self.space.dimensions), 0
        for start in range(0, len(wanted), _VECTORS_AT_ONCE):
            for row in await self._read("survey.embeddings", ids=list(wanted[start : start + _VECTORS_AT_ONCE])):
                total += row["embedding"].to_numpy()
                count += 1
        mean = (total / count).astype(np.float32) if count else total
        return tuple(mean.tolist()) if mean.any() else None


async def _vectors(
    store: _Reading, fact_ids: Sequence[str], start: int
) -> AsyncIterator[tuple[list[int], list[NDArray[Any]]]]:
    """The vectors of these facts from a place on, with their places, some at once.

    The next are read while the last are compared.
    """

    def reading(place: int) -> asyncio.Task[list[Row]]:
        ids = list(fact_ids[place : place + _VECTORS_AT_ONCE])
        return asyncio.create_task(store._read("survey.vectors", ids=ids))

    following = reading(start)
    try:
        for place in range(start, len(fact_ids), _VECTORS_AT_ONCE):
            rows = await following
            if place + _VECTORS_AT_ONCE < len(fact_ids):
                following = reading(place + _VECTORS_AT_ONCE)
            if rows:
                yield [place + row["place"] for row in rows], [row["embedding"].to_numpy() for row in rows]
    finally:
        following.cancel()


def _compare(nearness: Nearness, held: Sequence[Block], block: Block, *, with_itself: bool) -> None:
    for one in held:
        nearness.compare(one, block)
    if with_itself:
        nearness.compare(block, block)
