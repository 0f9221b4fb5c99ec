"""Coming from another memory."""

from __future__ import annotations

import os
from collections.abc import Sequence

from remembrancer.lifecycle.foreign_import import ForeignFormat, ForeignProgress, ForeignReport, import_foreign
from remembrancer.memory.base import MemoryBase


class Foreign(MemoryBase):
    """The method of `Memory` that takes in what other memories have dumped."""

    async def import_foreign(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        format: ForeignFormat | str,  # noqa: A002 - what it is called everywhere
        vectors_by: str | None = None,
        skip_bad: bool = False,
        progress: ForeignProgress | None = None,
    ) -> ForeignReport:
        """Take in memories of mem0 or Graphiti, as they dump them in JSON or JSON Lines.

        Everything is checked before anything is written. What is stored already stays as it is, so the same import
        done twice changes nothing, and one that was cut off is run again. Vectors are made by the memory's embedder.

        Args:
            paths: The files.
            format: `mem0`: memories and relations; `graphiti`: nodes and edges.
            vectors_by: The model that made the embeddings in the files; they are kept where it is the memory's own.
            skip_bad: Leave out records that are wrong, and count them.
            progress: Told now and then how many records have been taken in.

        Raises:
            InvalidInputError: A file cannot be read or is no JSON; or a record is wrong, and `skip_bad` is false: names
                file and line. Nothing was written.
            ServerUnavailableError: The database or the embedder could not be reached; run it again.
        """
        return await import_foreign(
            self.store,
            paths,
            format=format,
            embedder=self.embedder,
            vectors_by=vectors_by,
            skip_bad=skip_bad,
            progress=progress,
        )
