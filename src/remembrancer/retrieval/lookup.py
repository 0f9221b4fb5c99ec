"""Batch reads for a source that can only read one record at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def batch_get_fallback(ids: Iterable[str], get: Callable[[str], Awaitable[T | None]]) -> dict[str, T]:
    """Read many records concurrently, one call each.

    Args:
        ids: What to read; repeats are read once.
        get: Reads one record, `None` when there is none.

    Returns:
        The found ones, in the order asked for.

    Raises:
        Exception: What `get` raised first; the other reads are cancelled.
    """

    async def read(record_id: str) -> T | None:
        return await get(record_id)

    wanted = list(dict.fromkeys(ids))
    tasks = [asyncio.ensure_future(read(record_id)) for record_id in wanted]
    try:
        found = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return {record_id: record for record_id, record in zip(wanted, found, strict=True) if record is not None}
