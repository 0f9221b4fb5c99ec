"""An event loop in a thread of its own, on which blocking callers run coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, ParamSpec, TypeVar

from remembrancer.records import RemembranceError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_PATIENCE = 10.0  # seconds that calls which were cut off by closing get to come to an end


class MemoryClosedError(RemembranceError, RuntimeError):
    """The memory was closed, before the call or while it ran: open it again.

    A call that was cut off may have written everything or nothing; repeating it with the same messages, or the same
    idempotency key, doubles nothing.
    """


class Background(Generic[T]):
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
