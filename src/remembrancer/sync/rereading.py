"""Reading again what ingest could not read as it was asked to."""

from __future__ import annotations

from remembrancer.hierarchy.ingestion import IngestReport, Progress
from remembrancer.sync.base import SyncMemoryBase


class SyncRereading(SyncMemoryBase):
    """The methods of `SyncMemory` that make up for extractions that failed."""

    def retry_extraction(
        self, *, limit: int | None = None, admission: bool = False, progress: Progress | None = None
    ) -> IngestReport:
        """Read messages again that could not be read as asked, as `Memory.retry_extraction`."""
        return self.run(self._memory.retry_extraction, limit=limit, admission=admission, progress=progress)
