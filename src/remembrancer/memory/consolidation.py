"""Keeping a memory small."""

from __future__ import annotations

from remembrancer.lifecycle import ConsolidationReport, MemoryConsolidator, should_consolidate
from remembrancer.lifecycle.consolidation import DeleteMode, Progress
from remembrancer.memory.base import MemoryBase


class Consolidation(MemoryBase):
    """The methods of `Memory` that merge what says the same and prune what has faded."""

    async def consolidate(
        self,
        *,
        max_facts: int | None = None,
        max_episodes: int | None = None,
        dedup_threshold: float = 0.9,
        decay_half_life_days: float = 30,
        delete_mode: DeleteMode = "soft",
        debug: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ConsolidationReport:
        """Merge near duplicates, prune the facts that count least and the oldest episodes, and let themes follow.

        One transaction: all of it, or nothing. A soft consolidation can be undone by its `pass_id`.

        Args:
            max_facts: The most live facts that are to stay; `None`: none is pruned by decay.
            max_episodes: The most episodes that are to stay; `None`: none is pruned. Their messages stay.
            dedup_threshold: The least cosine, included, at which two facts are near duplicates; -1 to 1.
            decay_half_life_days: After how many days without use a fact counts half; above 0.
            delete_mode: `soft` closes pruned facts, `hard` removes them for good.
            debug: List every write in the report.
            dry_run: Only say what would be done.
            progress: Told how many facts have been looked at, and of how many.

        Raises:
            InvalidInputError: An argument is out of its bounds; names it.
            PlanOutdatedError: Others kept changing the same records. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        consolidator = MemoryConsolidator(
            self.store,
            self.index,
            max_facts=max_facts,
            max_episodes=max_episodes,
            dedup_threshold=dedup_threshold,
            decay_half_life_days=decay_half_life_days,
            delete_mode=delete_mode,
            debug=debug,
            clock=self._clock,
        )
        return await consolidator.consolidate(dry_run=dry_run, progress=progress)

    async def should_consolidate(self, *, max_facts: int | None = None, max_episodes: int | None = None) -> bool:
        """Whether the memory holds more live facts, or more episodes, than a threshold; see
        `remembrancer.lifecycle.should_consolidate`."""
        return await should_consolidate(self.store, max_facts=max_facts, max_episodes=max_episodes)
