"""Moving a memory to another embedding model."""

from __future__ import annotations

from remembrancer.lifecycle.reembedding import ReembedProgress, ReembedReport, reembed
from remembrancer.memory.base import MemoryBase
from remembrancer.ports import Embedder


class Reembedding(MemoryBase):
    """The method of `Memory` that changes its embedding model."""

    async def reembed(
        self,
        *,
        embedder: Embedder,
        batch_size: int = 100,
        progress: ReembedProgress | None = None,
        dry_run: bool = False,
    ) -> ReembedReport:
        """Make all vectors anew with another model, and move over to it; reads and writes go on meanwhile.

        Everything that has a vector gets a new one beside the old: messages, entities, facts and notes of the durable
        tiers of their texts, episodes and themes from those of their messages and facts. Until all have one, every
        answer comes from the old vectors; then the memory moves in one step, and the old ones are removed. This memory
        goes on with the new model. Others that were opened with the old one raise `EmbeddingSpaceMismatchError` from
        then on: open them anew.

        While it runs, writers of this namespace go one after the other. Broken off at any moment, it is run again and
        goes on. With the model that the memory has, it gives up what was begun, or removes what is left.

        Args:
            embedder: The new model; its vectors may have another length.
            batch_size: How many records are embedded and written at once, 1 to 1,000.
            progress: Told after each batch how many vectors were made.
            dry_run: Only try the model, and say how many records would get a new vector.

        Raises:
            InvalidInputError: An argument is wrong; the memory has no vectors; it is being re-embedded with a third
                model; the embedder gave vectors that cannot be searched, or none for a note of a tier.
            EmbeddingDimensionMismatchError: It gave a vector of another length than it says.
            ConcurrencyError: Somebody else has moved the memory meanwhile.
            ServerUnavailableError: The database or the embedder could not be reached; run it again.
            RemembranceError: A transaction that began before does not come to its end.
        """
        report = await reembed(self.store, embedder=embedder, batch_size=batch_size, progress=progress, dry_run=dry_run)
        if report.switched:
            self._embed_with(embedder)
        return report
