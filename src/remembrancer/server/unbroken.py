"""Work that is not left to itself when whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def seen_through(work: Awaitable[T], *, halt: Callable[[], None] | None = None) -> T:
    """Wait for some work; when cancelled, go on waiting until it has ended, and be cancelled then.

    So nothing that a thread does to a folder goes on behind the back of what is done next.

    Args:
        work: A coroutine, or whatever else can be awaited.
        halt: Called when the wait is cancelled, to have the work end early. Left out: it comes to its own end.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if halt is not None:
            halt()
        await asyncio.wait({task})
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("what was broken off ended with %s", type(error).__name__, exc_info=error)
        raise
