"""How the contract suites get the stores that they examine: through a fixture `open_store` that the user defines."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from remembrancer.ports import MemoryIndex, MemoryStore
from remembrancer.records import Clock, EmbeddingSpace, system_clock


@runtime_checkable
class IndexedStore(MemoryStore, Protocol):
    """A store with an index that is live on it."""

    @property
    def index(self) -> MemoryIndex:
        """What is written to the store is found here."""
        ...


class OpenStore(Protocol):
    """What the fixture `open_store` yields: opens stores, as many as a test wants, and closes them at its end."""

    async def __call__(
        self, *, space: EmbeddingSpace | None = None, clock: Clock = system_clock, namespace: str | None = None
    ) -> IndexedStore:
        """Open a store.

        Args:
            space: The embedding space; `None`: no record has an embedding.
            clock: The store's clock.
            namespace: Opened before, it is the same memory again; `None`: a fresh one, empty.
        """
        ...
