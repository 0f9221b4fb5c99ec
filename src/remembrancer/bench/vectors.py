"""An embedder that embeds a text once, however many methods of a run ask for it."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.ports import Embedder


class RememberingEmbedder:
    """Passes new texts on to another embedder and keeps every vector in this process."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder, under whose name and dimensions it goes."""
        self._embedder = embedder
        self._known: dict[str, Sequence[float]] = {}

    @property
    def model(self) -> str:
        """Name of the wrapped model."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector a text, in order."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, await self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]
