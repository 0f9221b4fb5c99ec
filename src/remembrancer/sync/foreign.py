"""Coming from another memory, blocking: the twin of `remembrancer.memory.foreign`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from remembrancer.lifecycle.foreign_import import ForeignFormat, ForeignProgress, ForeignReport
from remembrancer.sync.base import SyncMemoryBase


class SyncForeign(SyncMemoryBase):
    """The method of `SyncMemory` that takes in what other memories have dumped."""

    def import_foreign(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        format: ForeignFormat | str,  # noqa: A002 - what it is called everywhere
        vectors_by: str | None = None,
        skip_bad: bool = False,
        progress: ForeignProgress | None = None,
    ) -> ForeignReport:
        """Take in memories of mem0 or Graphiti, as `Memory.import_foreign`."""
        return self.run(
            self._memory.import_foreign,
            paths,
            format=format,
            vectors_by=vectors_by,
            skip_bad=skip_bad,
            progress=progress,
        )
