"""Re-embedding, blocking: the twin of `remembrancer.memory.reembedding`."""

from __future__ import annotations

from remembrancer.lifecycle.reembedding import ReembedProgress, ReembedReport
from remembrancer.ports import Embedder
from remembrancer.sync.base import SyncMemoryBase


class SyncReembedding(SyncMemoryBase):
    """The method of `SyncMemory` that changes its embedding model."""

    def reembed(
        self,
        *,
        embedder: Embedder,
        batch_size: int = 100,
        progress: ReembedProgress | None = None,
        dry_run: bool = False,
    ) -> ReembedReport:
        """Make all vectors anew with another model, and move over to it, as `Memory.reembed`."""
        report = self.run(
            self._memory.reembed, embedder=embedder, batch_size=batch_size, progress=progress, dry_run=dry_run
        )
        self.index, self.embedder = self._memory.index, self._memory.embedder
        return report
