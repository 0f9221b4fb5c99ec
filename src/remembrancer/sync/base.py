"""What every part of a blocking memory stands on: the asynchronous memory and the thread in which it runs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from remembrancer.memory import Memory
from remembrancer.ports import (
    Clusterer,
    Embedder,
    Extractor,
    LanguageModel,
    MemoryIndex,
    MemoryStore,
    OutcomeLedger,
    Segmenter,
)
from remembrancer.records import Clock, system_clock
from remembrancer.sync.background import Background

P = ParamSpec("P")
R = TypeVar("R")


class SyncMemoryBase:
    """The wiring. Each module beside this one has the methods of one concern; `SyncMemory` has them all.

    Attributes:
        store: The asynchronous store; `run` calls its methods.
        index: The asynchronous index, likewise.
        embedder: As for `Memory`.
    """

    def __init__(
        self,
        store: MemoryStore,
        index: MemoryIndex,
        *,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        llm: LanguageModel | None = None,
        ledger: OutcomeLedger | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Wire a memory over an open store that no other event loop uses; end it with `close` or a `with` statement.

        Args:
            store: As for `Memory`.
            index: As for `Memory`.
            embedder: As for `Memory`.
            segmenter: As for `Memory`.
            extractor: As for `Memory`.
            clusterer: As for `Memory`.
            llm: As for `Memory`.
            ledger: As for `Memory`.
            clock: As for `Memory`.
        """
        memory = Memory(
            store,
            index,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            llm=llm,
            ledger=ledger,
            clock=clock,
        )
        self._hold(nullcontext(memory))

    def _hold(self, context: AbstractAsyncContextManager[Memory]) -> None:
        self._background = Background(context)
        self._memory = self._background.open()
        self.store = self._memory.store
        self.index = self._memory.index
        self.embedder = self._memory.embedder
        self.ledger = self._memory.ledger

    @classmethod
    @contextmanager
    def _holding(cls, context: AbstractAsyncContextManager[Memory]) -> Iterator[Self]:
        memory = cls.__new__(cls)
        memory._hold(context)
        with memory:
            yield memory

    @property
    def namespace(self) -> str:
        """Whose memory."""
        return self._memory.namespace

    def run(self, function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a coroutine function on the memory's event loop, for what this class does not wrap.

        For example `memory.run(memory.store.get_fact, fact_id)`.

        Raises:
            MemoryClosedError: The memory is closed, or was closed before the call came to its end.
            RemembranceError: Called on the memory's own event loop, which would wait for itself.
        """
        return self._background.call(function, *args, **kwargs)

    def close(self) -> None:
        """Cut off the calls that still run, write what is outstanding and let go of the database.

        A call that is cut off raises `MemoryClosedError` at once. Closing twice is fine.

        Raises:
            ServerUnavailableError: What was outstanding could not be written.
            RemembranceError: Called on the memory's own event loop.
        """
        self._background.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
