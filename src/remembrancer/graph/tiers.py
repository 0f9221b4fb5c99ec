"""The durable tiers in Neo4j: `(:TierItem)` nodes with a vector index of their own, which knows tier and scope."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.graph.spaces import SpaceGuard
from remembrancer.graph.values import as_json, as_vector, from_json
from remembrancer.ports.arguments import query_vector, similarity, whole_number
from remembrancer.ports.tiers import MAX_CANDIDATES, FoundItem, TierStore, checked_items, checked_tiers
from remembrancer.records import SIMILARITY_TOLERANCE, EmbeddingSpace
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_key
from remembrancer.records.tier import DURABLE_TIERS, Tier, TierItem

_CLEARED_AT_ONCE = 5_000


class Neo4jTiers(TierStore):
    """Items of one namespace in a Neo4j database; made by the store, as `store.tiers`.

    Args:
        database: Where the items live; its schema is up to date.
        namespace: Whose memory.
        guard: Keeps to the embedding space that the namespace is in.
        number: Number of the namespace's embedding space.
        space: That space; without one nothing can be put, and nothing is found.
    """

    def __init__(
        self, database: Database, namespace: str, *, guard: SpaceGuard, number: int, space: EmbeddingSpace | None
    ) -> None:
        self._database = database
        self._guard = guard
        self._namespace = namespace
        self._number = number
        self._space = space

    async def put(self, items: Sequence[TierItem]) -> None:
        """Store items in one transaction, each in place of the one with its tier, scope and id."""
        checked = checked_items(items, self._space)
        if not checked or self._space is None:
            return
        text = queries.load("tier.put", self._number, self._space.dimensions)
        parameters = {"namespace": self._namespace, "rows": [_row(item) for item in checked]}

        async def work(transaction: Transaction) -> None:
            pending = await self._guard.entered(transaction)
            await transaction.run(text, parameters)
            await self._guard.outdate(transaction, pending, items=checked)

        await self._database.write(work)

    async def nearest(
        self,
        tiers: Sequence[Tier],
        embedding: Sequence[float],
        *,
        scope: str | None = None,
        limit: int = 20,
        min_similarity: float = 0.0,
    ) -> list[FoundItem]:
        """The nearest items of one scope, in one statement for all tiers."""
        wanted = checked_tiers(tiers)
        dimensions = None if self._space is None else self._space.dimensions
        vector = query_vector(embedding, dimensions=dimensions, search="tiers.nearest")
        whose = "" if scope is None else require_key(scope, field="scope")
        most, least = whole_number(limit, field="limit", most=MAX_CANDIDATES), similarity(min_similarity)
        if self._space is None or not wanted or not most:
            return []
        parameters = {
            "tiers": wanted,
            "scope": whose,
            "embedding": as_vector(vector),
            "limit": most,
            "least": least - SIMILARITY_TOLERANCE,
        }
        found = await self._guard.searched("tier.nearest", parameters)
        return [_found(row) for row in found]

    async def clear(self, tiers: Sequence[Tier] = DURABLE_TIERS) -> None:
        """Remove all items of these tiers, whatever their scope."""
        for tier in checked_tiers(tiers):
            while await self._remove_some(tier):
                continue

    async def _remove_some(self, tier: Tier) -> int:
        parameters = {"namespace": self._namespace, "tier": tier, "limit": _CLEARED_AT_ONCE}

        async def work(transaction: Transaction) -> int:
            removed: int = first(await transaction.run(queries.load("tier.clear"), parameters))["removed"]
            return removed

        return await self._database.write(work)


def _row(item: TierItem) -> Row:
    return {
        "tier": item.tier,
        "scope": item.scope or "",
        "id": item.id,
        "text": item.text,
        "metadata": None if item.metadata is None else as_json(item.metadata),
        "keeps_metadata": item.tier == "procedural" and item.metadata is None,
        "embedding": as_vector(item.embedding),
        "remembered_at": item.remembered_at,
        "uses": item.uses,
    }


def _found(row: Row) -> FoundItem:
    metadata = row["metadata"]
    return FoundItem(
        tier=row["tier"],
        id=row["id"],
        text=row["text"],
        metadata=None if metadata is None else from_json(metadata),
        remembered_at=require_instant(row["remembered_at"], field="remembered_at"),
        uses=row["uses"],
        similarity=min(1.0, max(-1.0, row["similarity"])),
    )
