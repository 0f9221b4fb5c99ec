"""The connection to Neo4j: one-trip reads, managed writes, and the one place where the driver's errors are translated.

A read is one auto-commit statement with read access, so it costs one wire trip and a cluster may serve it from a
follower. A write is one transaction. Both are repeated here and not by the driver: its managed transactions wait a
second before they repeat a deadlock, log every repetition as a warning, and do not repeat `EntityNotFound` (a
placeholder removed between seek and lock). A commit whose answer was lost is never repeated.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, LiteralString, TypeVar

import neo4j
from neo4j import exceptions

from remembrancer.graph import queries
from remembrancer.ports.tracing import OpenSpan, span
from remembrancer.records import InvalidInputError, MigrationError, RemembranceError, ServerUnavailableError
from remembrancer.records.packed import PackedIds

logger = logging.getLogger(__name__)

Row = dict[str, Any]
T = TypeVar("T")
Rows = TypeVar("Rows", list[Row], PackedIds)

_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")

MIN_SERVER = (2026, 1)
"""The oldest server that has the vector search with filters that every query here relies on."""

PATIENCE = 30.0
"""For how many seconds a read or write is repeated that fails for a reason that may pass."""

_PATIENCE_WHEN_OPENING = 2.0  # a wrong address is met when opening, and should be told soon
_CONNECT_SECONDS = 5.0  # for a server that does not even refuse
_OPENING_SECONDS = 15.0  # for one that takes connections and then says nothing; the driver alone would wait a minute
_SYSTEM = {"db.system.name": "neo4j"}
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
_VANISHED = "Neo.ClientError.Statement.EntityNotFound"
_LOG_FAILED = "Neo.DatabaseError.Transaction.TransactionLogError"
_TOO_LARGE = "db.memory.transaction.max"  # the limit that a transaction met by itself, whatever else went on
_PANICKED = "needs to be restarted"
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"


def worth_repeating(error: Exception) -> bool:
    """Whether the same statement may succeed a moment later: after a deadlock, a lost connection, a vanished node."""
    if isinstance(error, exceptions.Neo4jError):
        if _TOO_LARGE in (error.message or ""):
            return False
        return error.is_retryable() or error.code == _VANISHED
    return isinstance(error, exceptions.DriverError) and error.is_retryable()


async def repeated(work: Callable[[], Awaitable[T]], *, patience: float) -> T:
    """Do work until it succeeds, fails for good, or `patience` seconds are over; the pauses grow and are uneven."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    pause = _FIRST_PAUSE
    while True:
        try:
            return await work()
        except (exceptions.Neo4jError, exceptions.DriverError) as error:
            wait = pause * random.uniform(0.5, 1.5)  # noqa: S311 - parts writers that met, guards nothing
            if not worth_repeating(error) or loop.time() + wait > deadline:
                raise
            logger.debug("trying again in %.2f s: %s", wait, type(error).__name__)
        await asyncio.sleep(wait)
        pause = min(2 * pause, _LONGEST_PAUSE)


class Transaction:
    """A running write transaction; every statement in it is one more wire trip."""

    def __init__(self, transaction: neo4j.AsyncTransaction) -> None:
        self._transaction = transaction

    async def run(self, text: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement and take all its rows."""
        with _statement(text) as opened:
            result = await self._transaction.run(_literal(text), dict(parameters))
            rows = [dict(record) async for record in result]
            opened.set_attribute("db.response.returned_rows", len(rows))
            return rows


class Database:
    """A driver and the database it works on. Opened with `Database.open`, or around a ready driver."""

    def __init__(
        self, driver: neo4j.AsyncDriver, *, name: str | None = None, address: str = "the given driver"
    ) -> None:
        """Wrap a driver that the caller owns and closes.

        Args:
            driver: A ready asynchronous driver.
            name: The database; `None`: the user's home database.
            address: What to call the server in errors.
        """
        self._driver = driver
        self._name = name
        self.address = address
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, uri: str, *, auth: tuple[str, str] | None = None, name: str | None = None
    ) -> AsyncIterator[Database]:
        """Connect, check that the server answers and is new enough, and close the driver at the end.

        Args:
            uri: For example `neo4j://localhost:7687`.
            auth: User and password; `None`: no authentication.
            name: The database; `None`: the user's home database.

        Raises:
            InvalidInputError: The address is none, or user and password are refused.
            ServerUnavailableError: Nothing answers.
            MigrationError: The server is too old; says which version is needed.
        """
        if not isinstance(uri, str):
            raise InvalidInputError("uri", f"expected text, got {type(uri).__name__}")
        if not isinstance(uri, str) or uri.partition("://")[0] not in _SCHEMES:
            raise InvalidInputError("uri", f"expected an address such as neo4j://localhost:7687, got {uri!r}")
        try:
            driver = neo4j.AsyncGraphDatabase.driver(uri, auth=auth, connection_timeout=_CONNECT_SECONDS)
        except (ValueError, TypeError, exceptions.ConfigurationError) as error:
            raise InvalidInputError("uri", str(error)) from error
        async with driver:
            database = cls(driver, name=name, address=uri)
            await database.check()
            yield database

    async def check(self) -> None:
        """See that the server answers and is new enough.

        Raises:
            InvalidInputError: User and password are refused, there is no such database, or the address is none.
            ServerUnavailableError: Nothing answers.
            MigrationError: The server is too old.
        """
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                rows = await self.read(
                    "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions",
                    {},
                    patience=_PATIENCE_WHEN_OPENING,
                )
        except TimeoutError as error:
            message = f"Neo4j at {self.address} does not answer within {_OPENING_SECONDS:g} seconds"
            raise ServerUnavailableError(message, address=self.address) from error
        except RemembranceError:
            raise
        except (ValueError, OverflowError) as error:  # the driver finds out only when it looks for the host
            raise InvalidInputError("uri", f"no server can be looked for at {self.address[:200]}: {error}") from error
        version = str(rows[0]["versions"][0]) if rows else "unknown"
        parts = tuple(int(part) for part in version.split("-")[0].split(".")[:2] if part.isdigit())
        if parts < MIN_SERVER:
            needed = ".".join(f"{part:02}" for part in MIN_SERVER)
            raise MigrationError(f"Neo4j {version} at {self.address} is too old: {needed} or newer is needed")

    async def read(self, text: str, parameters: Mapping[str, Any], *, patience: float = PATIENCE) -> list[Row]:
        """Run one reading statement in one wire trip; repeated when that may help, for `patience` seconds.

        Raises:
            ServerUnavailableError: The database could not be reached.
            RemembranceError: The database refused the statement.
        """

        async def gathered(result: neo4j.AsyncResult) -> list[Row]:
            return [dict(record) async for record in result]

        return await self._read(text, parameters, gathered, patience=patience)

    async def read_ids(self, text: str, parameters: Mapping[str, Any], *, patience: float = PATIENCE) -> PackedIds:
        """As `read`, for a statement that returns one column, of ids: they are packed as they come, however many."""

        async def gathered(result: neo4j.AsyncResult) -> PackedIds:
            ids = PackedIds()
            async for record in result:
                ids.append(record[0])
            return ids

        return await self._read(text, parameters, gathered, patience=patience)

    async def _read(
        self,
        text: str,
        parameters: Mapping[str, Any],
        gathered: Callable[[neo4j.AsyncResult], Awaitable[Rows]],
        *,
        patience: float,
    ) -> Rows:
        async def attempt() -> Rows:
            async with self._session(neo4j.READ_ACCESS) as session:
                return await gathered(await session.run(_literal(text), dict(parameters)))

        with _statement(text) as opened, self.translated():
            rows = await repeated(attempt, patience=patience)
            opened.set_attribute("db.response.returned_rows", len(rows))
            return rows

    async def write(self, work: Callable[[Transaction], Awaitable[T]], *, patience: float = PATIENCE) -> T:
        """Run work in one transaction; repeated from its start after a deadlock or a lost connection.

        Args:
            work: Runs the statements; called anew for each attempt.
            patience: For how many seconds it is repeated.

        Raises:
            ServerUnavailableError: The database could not be reached; or the connection broke during the commit, and
                then the message says that nobody knows whether it was done.
            RemembranceError: The database refused a statement; nothing was written.
        """

        attempts = 0

        async def attempt() -> T:
            nonlocal attempts
            attempts += 1
            async with (
                self._session(neo4j.WRITE_ACCESS) as session,
                await session.begin_transaction() as transaction,
            ):
                result = await work(Transaction(transaction))
                await transaction.commit()
                return result

        with span("remembrancer.transaction", attributes=_SYSTEM) as opened, self.translated():
            try:
                return await repeated(attempt, patience=patience)
            finally:
                opened.set_attribute("remembrancer.attempts", attempts)

    @asynccontextmanager
    async def holding(self) -> AsyncIterator[Transaction]:
        """One open transaction that is not repeated: for a lock that others must wait for. Committed at the end."""
        with self.translated():
            async with self._session(neo4j.WRITE_ACCESS) as session, await session.begin_transaction() as transaction:
                yield Transaction(transaction)
                await transaction.commit()

    async def change_schema(self, statement: str) -> None:
        """Run one schema statement by itself; schema and data cannot share a transaction."""
        async with self._session(neo4j.WRITE_ACCESS) as session:
            result = await session.run(_literal(statement))
            await result.consume()

    def _session(self, access: str) -> neo4j.AsyncSession:
        return self._driver.session(
            database=self._name,
            default_access_mode=access,
            fetch_size=-1,
            bookmark_manager=self._bookmarks,
            notifications_min_severity="OFF",
        )

    def translated(self) -> _Translation:
        """A block in which errors of the driver become errors of this library."""
        return _Translation(self.address)


class _Translation:
    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, exceptions.Neo4jError | exceptions.DriverError | OSError):
            raise self._translated(error) from error

    def _translated(self, error: exceptions.Neo4jError | exceptions.DriverError | OSError) -> RemembranceError:
        at = f"Neo4j at {self._address}"
        match error:
            case exceptions.AuthError():
                return InvalidInputError("auth", f"{at} refused user and password")
            case exceptions.ConfigurationError():
                return InvalidInputError("auth", f"{at}: {error}")
            case exceptions.IncompleteCommit():
                problem = "the connection broke during a commit: it was done, or it was not; look, or repeat the write"
                return ServerUnavailableError(f"{at}: {problem}", address=self._address)
            case exceptions.Neo4jError() if _TOO_LARGE in (error.message or ""):
                problem = (
                    "a transaction needs more memory than one may have, and nothing of it was written: write smaller "
                    f"batches, or raise {_TOO_LARGE} of the server"
                )
                return RemembranceError(f"{at}: {problem} ({error.message})")
            case exceptions.TransientError() | exceptions.DatabaseUnavailable():
                return ServerUnavailableError(f"{at} is not ready: {error.message}", address=self._address)
            case exceptions.Neo4jError() if error.code == _LOG_FAILED or _PANICKED in (error.message or ""):
                problem = (
                    "it could not write its transaction log and takes no more transactions, as when its disk is full; "
                    "free some space and start it again (the local server: open its folder again); what was "
                    "committed is kept"
                )
                return ServerUnavailableError(f"{at}: {problem}", address=self._address)
            case exceptions.Neo4jError() if error.code == _NO_DATABASE:
                return InvalidInputError("database", f"{at}: {error.message}")
            case exceptions.Neo4jError():
                return RemembranceError(f"Neo4j refused a statement ({error.code}): {error.message}")
            case _:
                return ServerUnavailableError(f"{at} cannot be reached: {error}", address=self._address)


def _statement(text: str) -> AbstractContextManager[OpenSpan]:
    name = queries.name_of(text)
    return span(name, kind="client", attributes={**_SYSTEM, "db.query.summary": name})


def _literal(text: str) -> LiteralString:
    # Every text comes from `queries.load`, which admits no caller's value; the driver's type asks for a literal.
    return text


def first(rows: Sequence[Row]) -> Row:
    """The only row of a statement that always gives one."""
    if len(rows) != 1:
        raise RemembranceError(f"expected one row from the database, got {len(rows)}")
    return rows[0]


def may_not_write(error: RemembranceError) -> bool:
    """Whether the database refused a statement for want of rights, or since it is open for reading only."""
    cause = error.__cause__
    return isinstance(cause, exceptions.Neo4jError) and "Forbidden" in (cause.code or "")


def has_no_index(error: RemembranceError) -> bool:
    """Whether the database refused a statement since an index that it names is not there."""
    cause = error.__cause__
    return isinstance(cause, exceptions.Neo4jError) and cause.code == "Neo.ClientError.Schema.IndexNotFound"
