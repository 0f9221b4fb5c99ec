"""Commands run in this process against the run's Neo4j, each test in a namespace of its own."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from remembrancer.cli.application import application
from remembrancer.graph import Database, Neo4jStore
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import SPACE

MESSAGES: list[dict[str, Any]] = [
    {
        "role": "user",
        "speaker": "Mara Lindqvist",
        "content": "Priya Raman works at Northwind Labs.",
        "timestamp": "2026-03-02T09:00:00Z",
        "conversation": "standup",
    },
    {
        "role": "assistant",
        "speaker": "Scout",
        "content": "Noted. The launch of Tideline is planned for 15 April.",
        "timestamp": "2026-03-02T09:01:00Z",
        "conversation": "standup",
    },
    {
        "role": "user",
        "speaker": "Mara Lindqvist",
        "content": "Priya Raman works at Bluefin Systems.",
        "timestamp": "2026-04-13T09:00:00Z",
        "conversation": "standup",
    },
]


class Ran(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)


Run = Callable[..., Ran]


def run_here(*arguments: str, stdin: str | bytes | None = None) -> Ran:
    result = CliRunner(env={"NEO4J_URI": "", "NEO4J_PASSWORD": "", "COLUMNS": "120"}).invoke(
        application, list(arguments), input=stdin
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def run() -> Run:
    """Runs a command, without any options but those given."""
    return run_here


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4()}"


@pytest.fixture
def store_batch(neo4j_server: tuple[str, tuple[str, str]], namespace: str) -> Callable[[RecordBatch], None]:
    """Stores records in the test's namespace, in the space of the samples, as no command does."""
    uri, auth = neo4j_server

    async def write(batch: RecordBatch) -> None:
        async with (
            Database.open(uri, auth=auth) as database,
            Neo4jStore.open(database=database, namespace=namespace, space=SPACE) as store,
        ):
            await store.write(batch)

    return lambda batch: asyncio.run(write(batch))


@pytest.fixture
def server(neo4j_server: tuple[str, tuple[str, str]]) -> list[str]:
    """The options that name the run's Neo4j."""
    uri, (username, password) = neo4j_server
    return ["--uri", uri, "--username", username, "--password", password]


@pytest.fixture
def remember(server: list[str], namespace: str) -> Run:
    """Runs a command on this test's namespace of the run's Neo4j."""

    def run_on_namespace(*arguments: str, stdin: str | bytes | None = None) -> Ran:
        return run_here(*arguments, *server, "--namespace", namespace, stdin=stdin)

    return run_on_namespace


@pytest.fixture
def change(neo4j_server: tuple[str, tuple[str, str]], namespace: str) -> Callable[[str], None]:
    """Runs a statement of Cypher on the run's Neo4j; `$namespace` is this test's."""
    uri, auth = neo4j_server

    async def run_statement(statement: str) -> None:
        async def work(transaction: Any) -> Awaitable[Any]:
            return await transaction.run(statement, {"namespace": namespace})

        async with Database.open(uri, auth=auth) as database:
            await database.write(work)

    return lambda statement: asyncio.run(run_statement(statement))


@pytest.fixture
def lines_file(tmp_path: Path) -> Path:
    """The messages as JSON Lines."""
    file = tmp_path / "messages.jsonl"
    file.write_text("\n".join(map(json.dumps, MESSAGES)) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def filled(remember: Run, lines_file: Path) -> Run:
    """Runs a command on a namespace that holds the messages, with vectors by hashing."""
    assert remember("ingest", str(lines_file), "--embedder", "hashing").code == 0
    return remember
