"""Reading again what ingest could not read as it was asked to."""

from __future__ import annotations

from remembrancer.hierarchy.ingestion import IngestReport, Progress, retry_extraction
from remembrancer.memory.base import MemoryBase


class Rereading(MemoryBase):
    """The methods of `Memory` that make up for extractions that failed."""

    async def retry_extraction(
        self, *, limit: int | None = None, admission: bool = False, progress: Progress | None = None
    ) -> IngestReport:
        """Read the messages again from which nothing could be read, or only by the fallback of the extractor.

        They are stored, and their episodes say which they are. What is read now takes the place of what the fallback
        had read: those facts are closed with `extraction:reread`, unless both say the same, or somebody has tagged
        them. What fails again stays as it was, and is in the report; each episode is one transaction.

        Args:
            limit: The most episodes to try, 0 or more; `None`: all.
            admission: As for `ingest`; what is closed by the better reading stands in no fact's way.
            progress: Told after each episode how many messages have been tried.

        Raises:
            InvalidInputError: `limit` is not a whole number, 0 or more.
            ServerUnavailableError: The database or the embedder could not be reached; what was committed stays.
        """
        gatekeeper = self._gatekeeper(admission)
        return await retry_extraction(self._ingestion, limit=limit, progress=progress, gatekeeper=gatekeeper)
