"""The blocking twin of `Memory`: the same names and signatures, for programs that do not wait.

Each `SyncMemory` runs one event loop in a daemon thread of its own. So it may be used from many threads at once, and
in a notebook or a coroutine, where an event loop runs already; a call from a coroutine blocks that coroutine's loop
until the answer is there. What a caller hands in (an embedder, a stream of messages, `progress`) is used on the
background loop and must not call the memory back.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar

from remembrancer.hierarchy.ingestion import Incoming, IngestReport, Progress
from remembrancer.memory import DEFAULT_NAMESPACE, AnyRecord, Memory
from remembrancer.ports import Clusterer, Embedder, Extractor, MemoryIndex, MemoryStore, Segmenter
from remembrancer.records import Clock, MemoryQuery, MemoryResult, RemembranceError, Subgraph, system_clock
from remembrancer.retrieval import DEFAULT_MAX_SUBGRAPH_ENTITIES
from remembrancer.retrieval.recall import Recall, RecallWeights

if TYPE_CHECKING:
    import neo4j

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_PATIENCE = 10.0  # seconds that calls which were cut off by closing get to come to an end


class MemoryClosedError(RemembranceError, RuntimeError):
    """The memory was closed, before the call or while it ran: open it again.

    A call that was cut off may have written everything or nothing; repeating it with the same messages, or the same
    idempotency key, doubles nothing.
    """


class SyncMemory:
    """A memory whose methods block; opened by `connect`, `local` or `in_memory` in a `with` statement.

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
            clock: As for `Memory`.
        """
        memory = Memory(
            store,
            index,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            clock=clock,
        )
        self._hold(nullcontext(memory))

    def _hold(self, context: AbstractAsyncContextManager[Memory]) -> None:
        self._background = _Background(context)
        self._memory = self._background.open()
        self.store = self._memory.store
        self.index = self._memory.index
        self.embedder = self._memory.embedder

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

    @classmethod
    @contextmanager
    def connect(
        cls,
        uri: str | None = None,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        driver: neo4j.AsyncDriver | None = None,
        namespace: str | None = None,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        migrate: bool = True,
        clock: Clock = system_clock,
    ) -> Iterator[SyncMemory]:
        """Connect to a Neo4j and open one namespace of it, as `Memory.connect`.

        A ready `driver` must be one that no other event loop uses.
        """
        opening = Memory.connect(
            uri,
            auth=auth,
            database=database,
            driver=driver,
            namespace=namespace,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            migrate=migrate,
            clock=clock,
        )
        with cls._holding(opening) as memory:
            yield memory

    @classmethod
    @contextmanager
    def local(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        clock: Clock = system_clock,
    ) -> Iterator[SyncMemory]:
        """Open one namespace of a private Neo4j on this machine, as `Memory.local`."""
        opening = Memory.local(
            path,
            namespace=namespace,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            clock=clock,
        )
        with cls._holding(opening) as memory:
            yield memory

    @classmethod
    @contextmanager
    def in_memory(
        cls,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        clock: Clock = system_clock,
    ) -> Iterator[SyncMemory]:
        """Open a memory that lives in this process and ends with it, as `Memory.in_memory`."""
        opening = Memory.in_memory(
            namespace=namespace,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            clock=clock,
        )
        with cls._holding(opening) as memory:
            yield memory

    def ingest(
        self, messages: Incoming, *, idempotency_key: str | None = None, progress: Progress | None = None
    ) -> IngestReport:
        """Take messages in, as `Memory.ingest`; `progress` is called in the background thread."""
        return self.run(self._memory.ingest, messages, idempotency_key=idempotency_key, progress=progress)

    def recall(
        self,
        text: str,
        *,
        limit: int = 20,
        valid_at: dt.datetime | None = None,
        believed_at: dt.datetime | None = None,
        include_invalidated: bool = False,
        whole_messages: bool = False,
        weights: RecallWeights | None = None,
    ) -> Recall:
        """Find what speaks to a question, best evidence first, as `Memory.recall`."""
        return self.run(
            self._memory.recall,
            text,
            limit=limit,
            valid_at=valid_at,
            believed_at=believed_at,
            include_invalidated=include_invalidated,
            whole_messages=whole_messages,
            weights=weights,
        )

    def retrieve(self, query: MemoryQuery, *, filter_first: bool = True) -> MemoryResult:
        """Answer a structured query, as `Memory.retrieve`."""
        return self.run(self._memory.retrieve, query, filter_first=filter_first)

    def subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int = 2,
        valid_at: dt.datetime | None = None,
        relation_types: Sequence[str] = (),
        include_invalidated: bool = False,
        max_entities: int = DEFAULT_MAX_SUBGRAPH_ENTITIES,
    ) -> Subgraph:
        """Walk from some entities along their relationships, as `Memory.subgraph`."""
        return self.run(
            self._memory.subgraph,
            seeds,
            max_hops=max_hops,
            valid_at=valid_at,
            relation_types=relation_types,
            include_invalidated=include_invalidated,
            max_entities=max_entities,
        )

    def get(self, record_id: str) -> AnyRecord | None:
        """The record with this id, as `Memory.get`."""
        return self.run(self._memory.get, record_id)

    def clear(self) -> None:
        """Remove everything in this namespace, for good."""
        return self.run(self._memory.clear)

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


class _Background(Generic[T]):
    """An event loop in a daemon thread that holds one asynchronous context open and runs calls beside it."""

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._context = context
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._holder = self._loop.create_task(self._hold())
        self._opened: Future[T] = Future()
        self._ended: Future[None] = Future()
        self._lock = threading.Lock()
        self._is_closed = False
        self._calls: set[Future[Any]] = set()
        self._tasks: set[asyncio.Task[Any] | None] = set()
        self._thread = threading.Thread(target=self._serve, name="remembrancer", daemon=True)

    def open(self) -> T:
        """Start the thread and enter the context."""
        self._thread.start()
        try:
            return self._opened.result()
        except BaseException:  # an interrupt of the waiting thread included
            self._is_closed = True
            self._tell(self._holder.cancel)
            self._thread.join()
            raise

    def call(self, function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a coroutine function beside the others, and wait for its end."""
        self._refuse_own_thread()

        async def noted() -> R:
            task = asyncio.current_task()
            self._tasks.add(task)
            try:
                return await function(*args, **kwargs)
            finally:
                self._tasks.discard(task)

        with self._lock:
            if self._is_closed:
                raise MemoryClosedError("the memory is closed: open it again")
            running = asyncio.run_coroutine_threadsafe(noted(), self._loop)
            self._calls.add(running)
        try:
            return running.result()
        except CancelledError:
            if self._is_closed:
                raise MemoryClosedError("the memory was closed while this call ran") from None
            raise
        finally:
            running.cancel()  # nothing when it is done; else the waiting thread was interrupted
            with self._lock:
                self._calls.discard(running)

    def close(self) -> None:
        """Cut off the calls, leave the context and end the thread."""
        self._refuse_own_thread()
        with self._lock:
            first, self._is_closed = not self._is_closed, True
            running = list(self._calls)
        for call in running:
            call.cancel()
        self._tell(self._closing.set)
        self._thread.join()
        if first:
            self._ended.result()

    def _refuse_own_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RemembranceError("a blocking call on the memory's own event loop would wait for itself for ever")

    def _tell(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the loop has come to its end already
            self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._holder)
        except BaseException as error:
            (self._ended if self._opened.done() else self._opened).set_exception(error)
        else:
            self._ended.set_result(None)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _hold(self) -> None:
        async with self._context as opened:
            self._opened.set_result(opened)
            await self._closing.wait()
            cut_off = [task for task in self._tasks if task is not None]
            if cut_off:
                await asyncio.wait(cut_off, timeout=_PATIENCE)
