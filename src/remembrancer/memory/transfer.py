"""Carrying a memory away and into another store: exports and imports."""

from __future__ import annotations

import os

from remembrancer.lifecycle.transfer_export import TransferProgress, export_to
from remembrancer.lifecycle.transfer_import import import_from
from remembrancer.lifecycle.transfer_lines import TransferReport
from remembrancer.memory.base import MemoryBase


class Transferring(MemoryBase):
    """The methods of `Memory` that write all of it to a file, and read such a file."""

    async def export_to(
        self, path: str | os.PathLike[str], *, progress: TransferProgress | None = None
    ) -> TransferReport:
        """Write everything that this memory holds to a file: JSON Lines, versioned, in an order of their own.

        Records with their embeddings, windows, stamps and usage counts, the audit trail, scored runs, verdicts of the
        gate, what was served to runs, receipts of idempotency keys and the items of the durable tiers. What is left
        behind is in the report and in the first line. Two exports of equal memories are equal, byte for byte. The file
        gets its name once it is complete. What others write meanwhile may be in it or not.

        Args:
            path: A file that does not exist yet.
            progress: Told now and then how many lines are written.

        Raises:
            InvalidInputError: The file exists already, or cannot be written.
            ServerUnavailableError: The database could not be reached.
        """
        return await export_to(self.store, path, progress=progress)

    async def import_from(
        self, path: str | os.PathLike[str], *, progress: TransferProgress | None = None
    ) -> TransferReport:
        """Read an export into this memory, which must be empty; exporting it again gives the same file.

        The whole file is checked before anything is written. An import that was cut off is run again with the same
        file, and goes on; until it is complete, reads find what is there so far.

        Args:
            path: The file.
            progress: Told now and then how many lines are stored.

        Raises:
            InvalidInputError: The memory is not empty; or the file cannot be read, is of another version, or damaged:
                names the line, for example `line 7`.
            EmbeddingSpaceMismatchError: Its vectors were made by another model than this memory's.
            ServerUnavailableError: The database could not be reached; run it again.
        """
        return await import_from(self.store, path, progress=progress)
