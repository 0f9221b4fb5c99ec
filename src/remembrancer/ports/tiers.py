"""The durable tiers of a store: items found by similarity within one tier and one scope.

A scope is compared by equality inside the search, before it is cut: however many items other scopes have, they take no
place in an answer.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from remembrancer.records import EmbeddingSpace, InvalidInputError
from remembrancer.records.tier import DURABLE_TIERS, Tier, TierItem, require_tier
from remembrancer.records.vector import stored_vector

MAX_CANDIDATES = 5_000
"""The most items of one tier that a search gives."""


@dataclass(frozen=True)
class FoundItem:
    """A stored item that was found by similarity; the other fields are as of `TierItem`.

    Attributes:
        similarity: The cosine of its vector with the one asked for.
    """

    tier: Tier
    id: str
    text: str
    metadata: dict[str, Any] | None
    remembered_at: dt.datetime
    uses: int
    similarity: float


@runtime_checkable
class TierStore(Protocol):
    """Items of one namespace's durable tiers."""

    async def put(self, items: Sequence[TierItem]) -> None:
        """Store items, all or none, each in place of the one with its tier, scope and id.

        Uses add up. A procedural item without metadata keeps that of the one before.

        Raises:
            InvalidInputError: An item that cannot be stored; names it, for example `items.2.embedding`.
            EmbeddingDimensionMismatchError: A vector of another length than the embedding space has.
        """
        ...

    async def nearest(
        self,
        tiers: Sequence[Tier],
        embedding: Sequence[float],
        *,
        scope: str | None = None,
        limit: int = 20,
        min_similarity: float = 0.0,
    ) -> list[FoundItem]:
        """The nearest items of one scope, in the order of `tiers`, then best first, ties by id.

        Args:
            tiers: Where to look.
            embedding: Query vector.
            scope: Only items with exactly this scope; `None`: only those without one.
            limit: The most items of each tier, 0 to `MAX_CANDIDATES`.
            min_similarity: The least cosine, -1 to 1, included; `SIMILARITY_TOLERANCE` less still passes.
        """
        ...

    async def clear(self, tiers: Sequence[Tier] = DURABLE_TIERS) -> None:
        """Remove all items of these tiers, whatever their scope."""
        ...


@runtime_checkable
class KeepsTiers(Protocol):
    """A store with durable tiers of its own."""

    @property
    def tiers(self) -> TierStore:
        """The tiers of the store's namespace."""
        ...


def checked_items(items: object, space: EmbeddingSpace | None) -> list[TierItem]:
    """Items as they are to be written: in the order of tier, scope and id, each once, vectors in float32.

    Of two with one key the last counts; their uses add up, and a procedural one without metadata takes that of the one
    before.

    Raises:
        InvalidInputError: Not items, or the store has no embedding space.
        EmbeddingDimensionMismatchError: A vector of another length than the embedding space has.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Sequence):
        raise InvalidInputError("items", f"expected a list of items, got {type(items).__name__}")
    kept: dict[tuple[str, str, str], TierItem] = {}
    for place, item in enumerate(items):
        if not isinstance(item, TierItem):
            raise InvalidInputError(f"items.{place}", f"expected a TierItem, got {type(item).__name__}")
        if space is None:
            raise InvalidInputError(f"items.{place}.embedding", "the store has no embedding space; open it with one")
        vector = stored_vector(item.embedding, dimensions=space.dimensions, field=f"items.{place}.embedding")
        checked = item.model_copy(update={"embedding": vector})
        key = (item.tier, item.scope or "", item.id)
        kept[key] = renewed(kept[key], checked) if key in kept else checked
    return [kept[key] for key in sorted(kept)]


def renewed(former: TierItem, later: TierItem) -> TierItem:
    """The item after it was remembered again."""
    keeps = later.tier == "procedural" and later.metadata is None
    metadata = former.metadata if keeps else later.metadata
    return later.model_copy(update={"uses": former.uses + later.uses, "metadata": metadata})


def checked_tiers(tiers: object) -> list[Tier]:
    """Names of durable tiers, each once.

    Raises:
        InvalidInputError: Not a list, or one that is not durable.
    """
    if isinstance(tiers, str | bytes) or not isinstance(tiers, Sequence):
        raise InvalidInputError("tiers", f"expected a list of tiers, got {type(tiers).__name__}")
    found: dict[Tier, None] = {}
    for place, tier in enumerate(tiers):
        known = require_tier(tier, field=f"tiers.{place}")
        if known not in DURABLE_TIERS:
            raise InvalidInputError(f"tiers.{place}", f"the {known} tier is in no store")
        found[known] = None
    return list(found)
