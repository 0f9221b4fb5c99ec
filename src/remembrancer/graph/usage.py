"""Usage counts, gathered in memory and written in the background, so that a read stays a read."""

from __future__ import annotations

import asyncio
import contextlib
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
_PATIENCE = 5.0  # seconds for which a write of counts is repeated


class UsageCounter:
    """Counts uses of facts for one namespace.

    A user without write rights cannot count: the first refusal switches counting off, and `is_off` says so. Counts
    whose commit broke off are written again, so such a use may count twice.
    """

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace
        self._waiting: dict[str, tuple[int, dt.datetime]] = {}
        self._writing = asyncio.Lock()
        self._due = asyncio.Event()
        self._task: asyncio.Task[ServerUnavailableError | None] | None = None
        self._flushes: set[asyncio.Task[None]] = set()
        self.is_off = False

    def count(self, ids: Sequence[str], at: dt.datetime) -> None:
        """Count a use of each id; repeats twice. The last instant given counts, even an earlier one."""
        if self.is_off:
            return
        for fact_id in ids:
            uses, _ = self._waiting.get(fact_id, (0, at))
            self._waiting[fact_id] = (uses + 1, at)
        if len(self._waiting) >= _FULL:
            self._due.set()
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._later())

    async def _later(self) -> ServerUnavailableError | None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PAUSE):
                await self._due.wait()
        self._due.clear()
        try:
            await self.flush()
        except ServerUnavailableError as error:
            logger.warning("usage of %d facts waits for the database: %s", len(self._waiting), error)
            return error
        return None

    async def flush(self) -> None:
        """Write what is outstanding; cancelled, it is written all the same, and only the waiting ends.

        Raises:
            ServerUnavailableError: The database could not be reached; the counts are kept.
        """
        # Broken off at its commit, a write would have to be repeated though it may be done, and counted twice.
        writing = asyncio.get_running_loop().create_task(self._flush())
        self._flushes.add(writing)
        writing.add_done_callback(self._flushes.discard)
        await asyncio.shield(writing)

    async def _flush(self) -> None:
        async with self._writing:
            while self._waiting and not self.is_off:
                taken = dict(sorted(self._waiting.items())[:_BATCH])
                await self._write(taken)
                for fact_id, (uses, _) in taken.items() if not self.is_off else ():
                    still, at = self._waiting[fact_id]
                    if still > uses:
                        self._waiting[fact_id] = (still - uses, at)
                    else:
                        del self._waiting[fact_id]

    async def _write(self, taken: dict[str, tuple[int, dt.datetime]]) -> None:
        # The instant as text: the driver takes fifty times as long for a datetime, and each fact served has one.
        rows = [[fact_id, uses, at.isoformat()] for fact_id, (uses, at) in taken.items()]

        async def work(transaction: Transaction) -> None:
            await transaction.run(queries.load("fact.touch"), {"namespace": self._namespace, "rows": rows})

        try:
            await self._database.write(work, patience=_PATIENCE)
        except ServerUnavailableError:
            raise
        except RemembranceError as error:
            self.is_off = True
            self._waiting.clear()
            logger.warning("usage is not counted from here on: %s", error)

    async def close(self) -> None:
        """Write what is outstanding; a write that runs in the background is waited for, never cut off.

        Raises:
            ServerUnavailableError: The database could not be reached.
        """
        task, self._task = self._task, None
        if task is not None and not task.done():
            self._due.set()
            if (failure := await task) is not None:
                raise failure
        await self.flush()

    async def close_after_failure(self) -> None:
        """The same when something else has failed already, which must not be hidden: what cannot be written is told."""
        try:
            await self.close()
        except ServerUnavailableError as error:
            logger.warning("uses of %d facts were not written: %s", len(self._waiting), error)
