"""The connection: what is wrong is told at once and in the library's own errors; what may pass is repeated quietly."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import neo4j
import pytest
from neo4j import exceptions

from remembrancer.graph import Database, Neo4jStore, connection
from remembrancer.graph.connection import Transaction, repeated
from remembrancer.records import ConcurrencyError, InvalidInputError, RemembranceError, ServerUnavailableError

Server = tuple[str, tuple[str, str]]


async def opened(uri: Any, **options: Any) -> float:
    """Open and close; the seconds that it took to fail are the seconds until it raised."""
    async with Database.open(uri, **options):
        return 0.0


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listening:
        yield listening.getsockname()[1]


@pytest.mark.parametrize("uri", ["bolt://127.0.0.1:1", "neo4j://127.0.0.1:1", "bolt://no-such-host.invalid:7687"])
async def test_a_server_that_is_not_there_is_told_within_seconds_and_once(
    uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    begun = time.monotonic()
    with caplog.at_level(logging.INFO), pytest.raises(ServerUnavailableError, match=uri) as raised:
        await opened(uri, auth=("neo4j", "secret"))
    assert time.monotonic() - begun < 6
    assert raised.value.address == uri
    assert isinstance(raised.value.__cause__, exceptions.ServiceUnavailable)
    assert [record.message for record in caplog.records if not record.name.startswith("neo4j")] == []


async def test_a_server_that_never_answers_is_told_within_seconds(
    silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_OPENING_SECONDS", 1.0)
    begun = time.monotonic()
    with pytest.raises(ServerUnavailableError, match="does not answer within 1 seconds"):
        await opened(f"bolt://127.0.0.1:{silent_port}", auth=("neo4j", "secret"))
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize("uri", ["nonsense", "ftp://localhost", "", None, 7, b"bolt://localhost"])
async def test_what_is_no_address_is_refused_by_name(uri: Any) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await opened(uri)
    assert raised.value.field == "uri"


@pytest.mark.neo4j
class TestServer:
    async def test_a_wrong_password_is_told_at_once(self, neo4j_server: Server) -> None:
        uri, _ = neo4j_server
        begun = time.monotonic()
        for auth in [("nobody", "wrong"), None]:
            with pytest.raises(InvalidInputError, match="refused user and password") as raised:
                await opened(uri, auth=auth)
            assert raised.value.field == "auth"
            assert "wrong" not in str(raised.value)
        assert time.monotonic() - begun < 3

    async def test_an_unknown_database_is_refused_by_name(self, neo4j_server: Server) -> None:
        uri, auth = neo4j_server
        with pytest.raises(InvalidInputError) as raised:
            await opened(uri, auth=auth, name="nosuchdatabase")
        assert raised.value.field == "database"

    async def test_a_closed_driver_is_an_error_and_no_hang(self, neo4j_server: Server) -> None:
        uri, auth = neo4j_server
        async with Database.open(uri, auth=auth) as database:
            pass
        begun = time.monotonic()
        with pytest.raises(RemembranceError):
            await database.read("RETURN 1", {})
        assert time.monotonic() - begun < 1

    async def test_closing_the_driver_during_use_ends_in_an_error_and_no_hang(self, neo4j_server: Server) -> None:
        uri, auth = neo4j_server
        async with Database.open(uri, auth=auth) as database:
            slow = [
                asyncio.create_task(database.read("UNWIND range(1, 30000000) AS n RETURN sum(n * n)", {}))
                for _ in range(3)
            ]
            await asyncio.sleep(0.2)
        async with asyncio.timeout(90):
            results = await asyncio.gather(*slow, return_exceptions=True)
        assert all(isinstance(result, list | RemembranceError) for result in results)

    async def test_what_the_database_refuses_is_told_with_its_code(self, neo4j_database: Database) -> None:
        with pytest.raises(RemembranceError, match=r"Neo\.ClientError\.Statement\.SyntaxError") as raised:
            await neo4j_database.read("RETRUN 1", {})
        assert isinstance(raised.value.__cause__, exceptions.ClientError)

    async def test_a_write_sees_its_own_errors_and_nothing_of_it_stays(self, neo4j_database: Database) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run("CREATE (:Scratch {name: 'half written'})", {})
            raise ConcurrencyError("episode", "x", expected=1, actual=2)

        with pytest.raises(ConcurrencyError):
            await neo4j_database.write(work)
        assert await neo4j_database.read("MATCH (n:Scratch) RETURN n.name", {}) == []

    async def test_a_cancelled_write_leaves_nothing_and_holds_no_lock(self, neo4j_database: Database) -> None:
        reached = asyncio.Event()

        async def work(transaction: Transaction) -> None:
            await transaction.run("CREATE (:Scratch {name: 'cancelled'})", {})
            reached.set()
            await asyncio.sleep(60)

        writing = asyncio.create_task(neo4j_database.write(work))
        await reached.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert await neo4j_database.read("MATCH (n:Scratch) RETURN n.name", {}) == []

    async def test_opposite_locks_deadlock_and_both_writers_succeed_quietly(
        self, neo4j_database: Database, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def make(transaction: Transaction) -> None:
            await transaction.run("UNWIND range(0, 1) AS n MERGE (s:Scratch {key: n}) SET s.count = 0", {})

        def crossing(order: list[int]) -> Any:
            async def work(transaction: Transaction) -> None:
                for key in order:
                    await transaction.run("MATCH (s:Scratch {key: $key}) SET s.count = s.count + 1", {"key": key})
                    await asyncio.sleep(0.02)

            return work

        await neo4j_database.write(make)
        try:
            begun = time.monotonic()
            with caplog.at_level(logging.INFO):
                orders = [[0, 1] if number % 2 else [1, 0] for number in range(16)]
                await asyncio.gather(*(neo4j_database.write(crossing(order)) for order in orders))
            rows = await neo4j_database.read("MATCH (s:Scratch) RETURN s.count AS count", {})
            assert [row["count"] for row in rows] == [16, 16]
            assert time.monotonic() - begun < 15
            assert caplog.records == []
        finally:
            await neo4j_database.write(lambda transaction: transaction.run("MATCH (s:Scratch) DELETE s", {}))

    async def test_a_read_after_a_write_of_the_same_database_sees_it(self, neo4j_database: Database) -> None:
        for number in range(10):
            await neo4j_database.write(
                lambda transaction, n=number: transaction.run("MERGE (s:Scratch {key: 'r'}) SET s.n = $n", {"n": n})
            )
            assert await neo4j_database.read("MATCH (s:Scratch {key: 'r'}) RETURN s.n AS n", {}) == [{"n": number}]
        await neo4j_database.write(lambda transaction: transaction.run("MATCH (s:Scratch) DELETE s", {}))

    async def test_a_ready_driver_is_used_and_not_closed(self, neo4j_server: Server) -> None:
        uri, auth = neo4j_server
        async with neo4j.AsyncGraphDatabase.driver(uri, auth=auth) as driver:
            async with Neo4jStore.open(database=Database(driver), namespace="on a ready driver") as store:
                assert await store.list_themes() == []
            await driver.verify_connectivity()


class Failing:
    """Work that fails some times before it succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.fixture
async def translated() -> AsyncIterator[Database]:
    async with neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1") as driver:
        yield Database(driver, address="bolt://here")


def server_error(code: str, message: str = "told by the server") -> exceptions.Neo4jError:
    return exceptions.Neo4jError._hydrate_neo4j(code=code, message=message)


DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"
VANISHED = "Neo.ClientError.Statement.EntityNotFound"
NO_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
TOO_LARGE = "would use more than the limit 10.00MiB. db.memory.transaction.max threshold reached"


@pytest.mark.parametrize(
    "error", [server_error(DEADLOCK), server_error(VANISHED), exceptions.ServiceUnavailable("gone")]
)
async def test_what_may_pass_is_repeated(error: Exception) -> None:
    work = Failing(error, error, error)
    assert await repeated(work, patience=5) == "done"
    assert work.calls == 4


@pytest.mark.parametrize(
    "error",
    [
        exceptions.IncompleteCommit("lost"),
        server_error("Neo.ClientError.Statement.SyntaxError"),
        server_error("Neo.ClientError.Security.Forbidden"),
        server_error(NO_MEMORY, TOO_LARGE),
        exceptions.AuthError("no"),
    ],
)
async def test_what_will_not_pass_is_not_repeated(error: Exception) -> None:
    work = Failing(error)
    with pytest.raises(type(error)):
        await repeated(work, patience=5)
    assert work.calls == 1


async def test_patience_ends() -> None:
    work = Failing(*[exceptions.ServiceUnavailable("gone")] * 1000)
    begun = time.monotonic()
    with pytest.raises(exceptions.ServiceUnavailable):
        await repeated(work, patience=0.3)
    assert 0.05 < time.monotonic() - begun < 0.5
    assert 3 <= work.calls <= 8


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (exceptions.AuthError("no"), InvalidInputError, "refused user and password"),
        (exceptions.ConfigurationError("bad"), InvalidInputError, "bad"),
        (exceptions.ServiceUnavailable("gone"), ServerUnavailableError, "cannot be reached: gone"),
        (exceptions.SessionExpired("gone"), ServerUnavailableError, "cannot be reached"),
        (exceptions.IncompleteCommit("lost"), ServerUnavailableError, "it was done, or it was not"),
        (ConnectionResetError("reset"), ServerUnavailableError, "cannot be reached: reset"),
        (exceptions.ConnectionAcquisitionTimeoutError("full"), ServerUnavailableError, "full"),
        (server_error(DEADLOCK), ServerUnavailableError, "is not ready"),
        (server_error(NO_MEMORY), ServerUnavailableError, "not ready"),
        (server_error(NO_MEMORY, TOO_LARGE), RemembranceError, "write smaller batches"),
        (server_error("Neo.ClientError.Security.Forbidden"), RemembranceError, "Forbidden"),
        (server_error("Neo.DatabaseError.General.UnknownError"), RemembranceError, "UnknownError"),
        (server_error("Neo.ClientError.Schema.ConstraintValidationFailed"), RemembranceError, "Constraint"),
    ],
)
async def test_every_error_of_the_driver_becomes_one_of_the_library(
    translated: Database, error: Exception, kind: type[RemembranceError], says: str
) -> None:
    with pytest.raises(RemembranceError, match=says) as raised, translated.translated():
        raise error
    assert type(raised.value) is kind
    assert raised.value.__cause__ is error


async def test_other_errors_pass_untouched(translated: Database) -> None:
    with pytest.raises(KeyError), translated.translated():
        raise KeyError("mine")
