"""The embedder: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from remembrancer.records.errors import InvalidInputError


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def model(self) -> str:
        """Name of the model; with `dimensions` it names the embedding space."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in order.

        Raises:
            ServerUnavailableError: A remote model could not be reached.
        """
        ...


async def embedded(embedder: Embedder, texts: Sequence[str]) -> Sequence[Sequence[float]]:
    """One vector a text, in order, as the embedder gave them; their values are for the caller to check.

    Raises:
        InvalidInputError: The embedder gave another number of vectors than it was given texts.
        ServerUnavailableError: A remote model could not be reached.
    """
    vectors = await embedder.embed(texts)
    if len(vectors) != len(texts):
        raise InvalidInputError("embedder", f"gave {len(vectors):,} vectors for {len(texts):,} texts")
    return vectors
