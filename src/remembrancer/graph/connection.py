"""The connection to Neo4j: one-trip reads, managed writes, and the one place where the driver's errors are translated.

A read is one auto-commit statement with read access, so it costs one wire trip and a cluster may serve it from a
follower; it is safe to repeat, so the retries are ours. A write is a managed transaction, since the driver alone
knows how to repeat it after a deadlock; what it does not repeat (`EntityNotFound`, a placeholder removed between seek
and lock) is repeated here.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar

import neo4j
import stamina
from neo4j import exceptions

from remembrancer.records import InvalidInputError, MigrationError, RemembranceError, ServerUnavailableError

logger = logging.getLogger(__name__)

Row = dict[str, Any]
T = TypeVar("T")

MIN_SERVER = (2026, 1)
"""The oldest server that has the vector search with filters that every query here relies on."""

_VANISHED = "Neo.ClientError.Statement.EntityNotFound"
_ATTEMPTS = 8
_PATIENCE = 30.0  # seconds over all attempts


def _worth_repeating(error: Exception) -> bool:
    if isinstance(error, exceptions.Neo4jError):
        return error.is_retryable() or error.code == _VANISHED
    return isinstance(error, exceptions.DriverError) and error.is_retryable()


def _vanished(error: Exception) -> bool:
    return isinstance(error, exceptions.Neo4jError) and error.code == _VANISHED


class Transaction:
    """A running write transaction; every statement in it is one more wire trip."""

    def __init__(self, transaction: neo4j.AsyncManagedTransaction | neo4j.AsyncTransaction) -> None:
        self._transaction = transaction

    async def run(self, text: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement and take all its rows."""
        result = await self._transaction.run(_literal(text), dict(parameters))
        return [record.data() async for record in result]


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
        try:
            driver = neo4j.AsyncGraphDatabase.driver(uri, auth=auth)
        except (ValueError, TypeError, exceptions.ConfigurationError) as error:
            raise InvalidInputError("uri", str(error)) from error
        async with driver:
            database = cls(driver, name=name, address=uri)
            await database.check()
            yield database

    async def check(self) -> None:
        """See that the server answers and is new enough.

        Raises:
            ServerUnavailableError: Nothing answers.
            MigrationError: The server is too old.
        """
        rows = await self.read(
            "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions", {}
        )
        version = str(rows[0]["versions"][0]) if rows else "unknown"
        parts = tuple(int(part) for part in version.split("-")[0].split(".")[:2] if part.isdigit())
        if parts < MIN_SERVER:
            needed = ".".join(f"{part:02}" for part in MIN_SERVER)
            raise MigrationError(f"Neo4j {version} at {self.address} is too old: {needed} or newer is needed")

    async def read(self, text: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run one reading statement in one wire trip; repeated when that may help.

        Raises:
            ServerUnavailableError: The database could not be reached.
            RemembranceError: The database refused the statement.
        """
        with self.translated():
            async for attempt in stamina.retry_context(on=_worth_repeating, attempts=_ATTEMPTS, timeout=_PATIENCE):
                with attempt:
                    async with self._session(neo4j.READ_ACCESS) as session:
                        result = await session.run(_literal(text), dict(parameters))
                        return [record.data() async for record in result]
        raise AssertionError("a retry loop ends with a result or an error")

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run work in one managed transaction; repeated from its start after a deadlock or a lost connection.

        Raises:
            ServerUnavailableError: The database could not be reached.
            RemembranceError: The database refused a statement; nothing was written.
        """

        async def attempt_work(transaction: neo4j.AsyncManagedTransaction) -> T:
            return await work(Transaction(transaction))

        with self.translated():
            async for attempt in stamina.retry_context(
                on=_vanished, attempts=_ATTEMPTS, timeout=_PATIENCE, wait_initial=0.02
            ):
                with attempt:
                    async with self._session(neo4j.WRITE_ACCESS) as session:
                        return await session.execute_write(attempt_work)
        raise AssertionError("a retry loop ends with a result or an error")

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
        if isinstance(error, exceptions.AuthError):
            raise InvalidInputError("auth", f"Neo4j at {self._address} refused user and password") from error
        if isinstance(error, exceptions.ServiceUnavailable | exceptions.SessionExpired | OSError):
            message = f"Neo4j at {self._address} cannot be reached: {error}"
            raise ServerUnavailableError(message, address=self._address) from error
        if isinstance(error, exceptions.TransientError | exceptions.DatabaseUnavailable):
            message = f"Neo4j at {self._address} is not ready: {error.message}"
            raise ServerUnavailableError(message, address=self._address) from error
        if isinstance(error, exceptions.Neo4jError):
            raise RemembranceError(f"Neo4j refused a statement ({error.code}): {error.message}") from error
        if isinstance(error, exceptions.DriverError):
            raise ServerUnavailableError(f"Neo4j at {self._address}: {error}", address=self._address) from error


def _literal(text: str) -> LiteralString:
    # Every text comes from `queries.load`, which admits no caller's value; the driver's type asks for a literal.
    return text


def first(rows: Sequence[Row]) -> Row:
    """The only row of a statement that always gives one."""
    if len(rows) != 1:
        raise RemembranceError(f"expected one row from the database, got {len(rows)}")
    return rows[0]
