"""One memory for callers that wait and callers that do not: frameworks ask for both forms of every method."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from remembrancer.memory import Memory
from remembrancer.records import InvalidInputError, RemembranceError
from remembrancer.sync import SyncMemory

R = TypeVar("R")


class Bridge:
    """Runs coroutines where a memory lives: on the caller's event loop, or on that of a `SyncMemory`.

    Over a `SyncMemory` both forms work anywhere. Over a `Memory` the waiting form works on its event loop, and the
    blocking form from other threads while that loop runs.
    """

    def __init__(self, memory: Memory | SyncMemory) -> None:
        """Bridge to an open memory.

        Raises:
            InvalidInputError: Something else was handed in.
        """
        if not isinstance(memory, Memory | SyncMemory):
            raise InvalidInputError("memory", f"expected a Memory or SyncMemory, got {type(memory).__name__}")
        self._memory = memory
        self._loop = _running_loop()

    async def wait(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run work from a coroutine."""
        if isinstance(self._memory, SyncMemory):
            return await asyncio.to_thread(self._memory.run, work)
        self._loop = asyncio.get_running_loop()
        return await work()

    def block(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run work from code that does not wait.

        Raises:
            RemembranceError: The memory lives on this very event loop, which would wait for itself; or on none that
                runs.
        """
        if isinstance(self._memory, SyncMemory):
            return self._memory.run(work)
        if self._loop is not None and _running_loop() is self._loop:
            raise RemembranceError(
                "a blocking call on the event loop of the memory would wait for itself: use the form with a leading a "
                "(`aget`, `ainvoke`), or open the memory as SyncMemory"
            )
        if self._loop is None or not self._loop.is_running():
            raise RemembranceError("no event loop runs for this Memory: open it as SyncMemory for code without one")
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
