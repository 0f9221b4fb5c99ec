"""Keeping a memory small, blocking: the twin of `remembrancer.memory.consolidation`."""

from __future__ import annotations

from remembrancer.lifecycle import ConsolidationReport
from remembrancer.lifecycle.consolidation import DeleteMode, Progress
from remembrancer.sync.base import SyncMemoryBase


class SyncConsolidation(SyncMemoryBase):
    """The methods of `SyncMemory` that merge what says the same and prune what has faded."""

    def consolidate(
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
        """Merge near duplicates and prune, as `Memory.consolidate`; `progress` is called in the background thread."""
        return self.run(
            self._memory.consolidate,
            max_facts=max_facts,
            max_episodes=max_episodes,
            dedup_threshold=dedup_threshold,
            decay_half_life_days=decay_half_life_days,
            delete_mode=delete_mode,
            debug=debug,
            dry_run=dry_run,
            progress=progress,
        )

    def should_consolidate(self, *, max_facts: int | None = None, max_episodes: int | None = None) -> bool:
        """Whether the memory holds more than a threshold, as `Memory.should_consolidate`."""
        return self.run(self._memory.should_consolidate, max_facts=max_facts, max_episodes=max_episodes)
