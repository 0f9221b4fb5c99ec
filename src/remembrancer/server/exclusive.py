"""A lock between processes, held on a file: for looking at a folder and acting on what was seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.server.extra import missing_package

if TYPE_CHECKING:
    from filelock import BaseFileLock

POLL_SECONDS = 0.05


def _new_lock(path: Path) -> BaseFileLock:
    try:
        from filelock import FileLock
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    return FileLock(path, mode=0o600, thread_local=False)


def _try_acquire(lock: BaseFileLock, timeout: float) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=timeout)
    except Timeout:
        return False
    return True


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock on a file."""
    lock = _new_lock(path)
    if not _try_acquire(lock, 0):
        return True
    lock.release()
    return False


@asynccontextmanager
async def exclusive(path: Path) -> AsyncIterator[None]:
    """Hold the lock on a file, waiting without blocking the event loop."""
    lock = _new_lock(path)
    while not _try_acquire(lock, 0):  # noqa: ASYNC110 - another process has it, and sets no event
        await asyncio.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def exclusive_in_thread(path: Path, check: Callable[[], None]) -> Iterator[None]:
    """Hold the lock on a file from a worker thread; `check` is called while waiting and may raise to give up."""
    lock = _new_lock(path)
    while not _try_acquire(lock, POLL_SECONDS):
        check()
    try:
        yield
    finally:
        lock.release()
