"""The four small memories beside the conversations, over the memory's own store and embedder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from remembrancer.memory.base import MemoryBase
from remembrancer.ports.tiers import KeepsTiers
from remembrancer.records.tier import Tier
from remembrancer.tiers import EpisodicTier, ProceduralTier, TieredMemory, WorkingShelf, WorkingTier


class Tiers(MemoryBase):
    """The method of `Memory` that sets tiers up."""

    @cached_property
    def _shelves(self) -> dict[str, WorkingShelf]:
        return {}

    def tiered(
        self,
        *,
        name: str = "memory",
        working: bool | WorkingTier | Mapping[str, object] = True,
        semantic: bool = False,
        episodic: bool | EpisodicTier | Mapping[str, object] = False,
        procedural: bool | ProceduralTier | Mapping[str, object] = False,
        default_tier: Tier = "working",
        k: int = 5,
        threshold: float = 0.7,
    ) -> TieredMemory:
        """Set up working, semantic, episodic and procedural memory; nothing is read or written yet.

        The durable tiers live in this namespace, whatever the name, and need an embedder. The working tier lives in
        this object; asked for by one name twice, it is the same.

        Args:
            name: Whose working tier.
            working: Whether there is one, or how: `WorkingTier`.
            semantic: Whether there is one.
            episodic: Whether there is one, or how: `EpisodicTier`.
            procedural: Whether there is one, or how: `ProceduralTier`.
            default_tier: Where an entry goes that names none.
            k: The most hits of a recall, 0 to 1,000.
            threshold: The least cosine of a hit in a durable tier, -1 to 1, included.

        Raises:
            InvalidInputError: No tier is on, the default tier is off, the store keeps no durable tiers, or a setting is
                out of its bounds; names it.
            SemanticSearchUnavailableError: A durable tier is on, and the memory has no embedder.
        """
        has_vectors = self.store.space is not None or self.embedder is None
        return TieredMemory(
            self.store.tiers if isinstance(self.store, KeepsTiers) and has_vectors else None,
            self.embedder,
            name=name,
            working=working,
            semantic=semantic,
            episodic=episodic,
            procedural=procedural,
            default_tier=default_tier,
            k=k,
            threshold=threshold,
            clock=self._clock,
            shelves=self._shelves,
            namespace=self.namespace,
        )

    def _clear_shelves(self) -> None:
        for shelf in self._shelves.values():
            shelf.clear()
