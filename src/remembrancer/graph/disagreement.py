"""Facts that may be in conflict or doubled, found inside Neo4j: many a statement, and no vector comes out."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import Any, Protocol

from remembrancer.graph.connection import Row
from remembrancer.graph.values import as_vector, asked
from remembrancer.ports import Hit
from remembrancer.ports.arguments import query_vector, similarity, whole_number
from remembrancer.ports.pushdown import FactOutline
from remembrancer.records import SIMILARITY_TOLERANCE, EmbeddingSpace
from remembrancer.records.key import require_ids, without_repeats

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

_FEW = 10
_CROWD = 100
_SEARCHES_A_STATEMENT = 125
_VECTORS_A_STATEMENT = 500
_STATEMENTS_AT_ONCE = 4  # the database runs one statement on one core

Neighbours = tuple[FactOutline, list[FactOutline]]


class _Reading(Protocol):
    @property
    def space(self) -> EmbeddingSpace | None: ...

    async def _read(self, name: str, **parameters: Any) -> list[Row]: ...


class DisagreementSearch:
    """The part of a store in Neo4j that gathers candidates for conflicts, and for admission.

    It fulfils `remembrancer.ports.pushdown.FindsSimilarFacts`, and with `FactSurvey` `GathersConflictCandidates`.
    """

    async def shared_entities(self: _Reading) -> list[tuple[str, int]]:
        """Entities that two or more live, unquarantined facts mention, by first mention, and by how many."""
        return [(row["id"], row["facts"]) for row in await self._read("conflict.shared_entities")]

    async def facts_by_entity(self: _Reading, entity_ids: Sequence[str]) -> list[list[FactOutline]]:
        """For each entity the facts that mention it, in listing order; one statement."""
        wanted = list(require_ids(entity_ids, field="entity_ids"))
        found: list[list[FactOutline]] = [[] for _ in wanted]
        if wanted:
            for row in await self._read("conflict.by_entity", ids=wanted):
                found[row["place"]] = [_outline(*fact) for fact in row["facts"]]
        return found

    async def facts_near(
        self: _Reading, fact_ids: Sequence[str], *, min_similarity: float, limit: int
    ) -> list[Neighbours]:
        """For each of these facts those near to it that share an entity with it; a hundred facts a statement."""
        wanted = without_repeats(require_ids(fact_ids, field="fact_ids"))
        least = similarity(min_similarity) - SIMILARITY_TOLERANCE
        most = whole_number(limit, field="limit", least=1)
        if self.space is None or not wanted:
            return []
        turn = asyncio.Semaphore(_STATEMENTS_AT_ONCE)

        async def search(ids: Sequence[str]) -> list[Row]:
            async with turn:
                return await self._read(
                    "conflict.near", ids=ids, least=least, few=min(_FEW, most), limit=most, crowd=_CROWD
                )

        parts = range(0, len(wanted), _SEARCHES_A_STATEMENT)
        searches = [
            asyncio.ensure_future(search(list(wanted[start : start + _SEARCHES_A_STATEMENT]))) for start in parts
        ]
        try:
            rows = [row for found in await asyncio.gather(*searches) for row in found]
        finally:
            for one in searches:
                one.cancel()
            await asyncio.gather(*searches, return_exceptions=True)
        by_id = {row["fact"][0]: row for row in rows}
        return [
            (_outline(*by_id[fact_id]["fact"]), [_outline(*other) for other in by_id[fact_id]["near"]])
            for fact_id in wanted
            if fact_id in by_id
        ]

    async def similar_facts(
        self: _Reading, embeddings: Sequence[Sequence[float]], *, min_similarity: float, limit: int
    ) -> list[list[Hit]]:
        """For each vector the nearest facts, closed and quarantined ones too; a few hundred vectors a statement."""
        dimensions = None if self.space is None else self.space.dimensions
        vectors = [
            query_vector(embedding, dimensions=dimensions, search=f"similar_facts.{place}")
            for place, embedding in enumerate(embeddings)
        ]
        least = similarity(min_similarity) - SIMILARITY_TOLERANCE
        most = whole_number(limit, field="limit", least=1)
        found: list[list[Hit]] = [[] for _ in vectors]
        if dimensions is None:
            return found
        for start in range(0, len(vectors), _VECTORS_A_STATEMENT):
            part = [as_vector(vector) for vector in vectors[start : start + _VECTORS_A_STATEMENT]]
            for row in await self._read(
                "conflict.similar", embeddings=part, least=least, limit=most, asked=asked(most)
            ):
                found[start + row["place"]].append(Hit(row["id"], row["score"]))
        return found


def _outline(fact_id: str, content: str, start: int, end: int | None, statement_key: str | None) -> FactOutline:
    return FactOutline(fact_id, content, _instant(start), None if end is None else _instant(end), statement_key)


def _instant(microseconds: int) -> dt.datetime:
    return _EPOCH + dt.timedelta(microseconds=microseconds)
