"""The durable tiers in memory: as durable as the store that they belong to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from remembrancer.inmemory.ranking import rank
from remembrancer.ports.arguments import query_vector, similarity, whole_number
from remembrancer.ports.tiers import (
    MAX_CANDIDATES,
    FoundItem,
    TierStore,
    checked_items,
    checked_tiers,
    renewed,
)
from remembrancer.records import EmbeddingSpace
from remembrancer.records.key import require_key
from remembrancer.records.tier import DURABLE_TIERS, Tier, TierItem

_Key = tuple[str, str | None, str]


class InMemoryTiers(TierStore):
    """Items of one namespace; made by the store, as `store.tiers`.

    Args:
        space: The store's embedding space; without one nothing can be put.
    """

    def __init__(self, space: EmbeddingSpace | None) -> None:
        self._space = space
        self._items: dict[_Key, TierItem] = {}

    @property
    def items(self) -> list[TierItem]:
        """All items, in the order in which they came first."""
        return list(self._items.values())

    def move(self, space: EmbeddingSpace) -> None:
        """Be in another embedding space, of which all items have vectors."""
        self._space = space

    def replace(self, items: Sequence[TierItem]) -> None:
        """Store items as they are, their uses too, each in place of the one with its tier, scope and id."""
        self._items.update({(item.tier, item.scope, item.id): item for item in items})

    async def put(self, items: Sequence[TierItem]) -> None:
        """Store items, all or none, each in place of the one with its tier, scope and id."""
        for item in checked_items(items, self._space):
            key = (item.tier, item.scope, item.id)
            former = self._items.get(key)
            self._items[key] = item if former is None else renewed(former, item)

    async def nearest(
        self,
        tiers: Sequence[Tier],
        embedding: Sequence[float],
        *,
        scope: str | None = None,
        limit: int = 20,
        min_similarity: float = 0.0,
    ) -> list[FoundItem]:
        """The nearest items of one scope, in the order of `tiers`, then best first, ties by id."""
        wanted = checked_tiers(tiers)
        dimensions = None if self._space is None else self._space.dimensions
        vector = query_vector(embedding, dimensions=dimensions, search="tiers.nearest")
        whose = None if scope is None else require_key(scope, field="scope")
        most, least = whole_number(limit, field="limit", most=MAX_CANDIDATES), similarity(min_similarity)
        found: list[FoundItem] = []
        for tier in wanted:
            items = {item.id: item for item in self._items.values() if (item.tier, item.scope) == (tier, whose)}
            listed = [(item_id, items[item_id].embedding) for item_id in sorted(items)]
            hits = rank(vector, listed, limit=most, min_similarity=least)
            found += [_found(items[hit.id], hit.score) for hit in hits]
        return found

    async def clear(self, tiers: Sequence[Tier] = DURABLE_TIERS) -> None:
        """Remove all items of these tiers, whatever their scope."""
        gone = checked_tiers(tiers)
        self._keep(lambda key: key[0] not in gone)

    def forget(self) -> None:
        """Remove everything, at once; for a store that is cleared."""
        self._keep(lambda _: False)

    def _keep(self, stays: Callable[[_Key], bool]) -> None:
        self._items = {key: item for key, item in self._items.items() if stays(key)}


def _found(item: TierItem, score: float) -> FoundItem:
    return FoundItem(
        tier=item.tier,
        id=item.id,
        text=item.text,
        metadata=copy.deepcopy(item.metadata),
        remembered_at=item.remembered_at,
        uses=item.uses,
        similarity=score,
    )
