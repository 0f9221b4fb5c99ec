"""Usage counts, gathered in memory and written in the background, so that a read stays a read."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Sequence

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Transaction
from remembrancer.records import RemembranceError, ServerUnavailableError

logger = logging.getLogger(__name__)

_BATCH = 1_000
_FULL = 2_000  # facts waiting before they are written without being asked for
_PAUSE = 5.0  # seconds that a count may wait


class UsageCounter:
    """Counts uses of facts for one namespace.

    A user without write rights cannot count: the first refusal switches counting off, and `is_off` says so.
    """

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace
        self._waiting: dict[str, tuple[int, dt.datetime]] = {}
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.is_off = False

    def count(self, ids: Sequence[str], at: dt.datetime) -> None:
        """Count a use of each id; repeats twice. The last instant given counts, even an earlier one."""
        if self.is_off:
            return
        for fact_id in ids:
            uses, _ = self._waiting.get(fact_id, (0, at))
            self._waiting[fact_id] = (uses + 1, at)
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._later())

    async def _later(self) -> None:
        for _ in range(50):
            if len(self._waiting) >= _FULL:
                break
            await asyncio.sleep(_PAUSE / 50)
        try:
            await self.flush()
        except ServerUnavailableError as error:
            logger.warning("usage of %d facts waits for the database: %s", len(self._waiting), error)

    async def flush(self) -> None:
        """Write what is outstanding.

        Raises:
            ServerUnavailableError: The database could not be reached; the counts are kept.
        """
        async with self._writing:
            while self._waiting and not self.is_off:
                taken = dict(sorted(self._waiting.items())[:_BATCH])
                await self._write(taken)
                for fact_id, (uses, _) in taken.items():
                    still, at = self._waiting[fact_id]
                    if still > uses:
                        self._waiting[fact_id] = (still - uses, at)
                    else:
                        del self._waiting[fact_id]

    async def _write(self, taken: dict[str, tuple[int, dt.datetime]]) -> None:
        rows = [{"id": fact_id, "uses": uses, "at": at} for fact_id, (uses, at) in taken.items()]

        async def work(transaction: Transaction) -> None:
            await transaction.run(queries.load("fact.touch"), {"namespace": self._namespace, "rows": rows})

        try:
            await self._database.write(work)
        except ServerUnavailableError:
            raise
        except RemembranceError as error:
            self.is_off = True
            self._waiting.clear()
            logger.warning("usage is not counted from here on: %s", error)

    async def close(self) -> None:
        """Stop the background task and write what is outstanding."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self.flush()
