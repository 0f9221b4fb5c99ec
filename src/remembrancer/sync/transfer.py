"""Exports and imports, blocking: the twin of `remembrancer.memory.transfer`."""

from __future__ import annotations

import os

from remembrancer.lifecycle.transfer_export import TransferProgress
from remembrancer.lifecycle.transfer_lines import TransferReport
from remembrancer.sync.base import SyncMemoryBase


class SyncTransferring(SyncMemoryBase):
    """The methods of `SyncMemory` that write all of it to a file, and read such a file."""

    def export_to(self, path: str | os.PathLike[str], *, progress: TransferProgress | None = None) -> TransferReport:
        """Write everything that this memory holds to a file, as `Memory.export_to`."""
        return self.run(self._memory.export_to, path, progress=progress)

    def import_from(self, path: str | os.PathLike[str], *, progress: TransferProgress | None = None) -> TransferReport:
        """Read an export into this memory, as `Memory.import_from`."""
        return self.run(self._memory.import_from, path, progress=progress)
