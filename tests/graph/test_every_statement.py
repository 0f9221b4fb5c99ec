"""No statement about records leaves the library without the namespace: recorded at the driver, over all it offers."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

import neo4j
import pytest
from tests.surface import BATCH, EMBEDDER, VECTOR, called, public

from remembrancer import Memory
from remembrancer.graph import Database, queries

pytestmark = pytest.mark.neo4j

ABOUT_ALL = re.compile(
    r"CALL dbms\.components\(\)|CALL db\.info\(|SHOW (INDEXES|CONSTRAINTS|TRANSACTIONS)|DROP INDEX|"
    r"CALL db\.awaitIndexes|CYPHER 25 CREATE "
)
"""What is sent about the database as a whole, besides the files of `cypher/schema/`."""

Statement = tuple[str, Mapping[str, Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Statement]:
    """Every statement that the driver is handed from here on."""
    statements: list[Statement] = []

    def record(kind: type) -> None:
        original = kind.run  # type: ignore[attr-defined]

        async def run(self: Any, query: Any, parameters: Any = None, **more: Any) -> Any:
            statements.append((str(query), {**(parameters or {}), **more}))
            return await original(self, query, parameters, **more)

        monkeypatch.setattr(kind, "run", run)

    for kind in (neo4j.AsyncSession, neo4j.AsyncTransaction, neo4j.AsyncManagedTransaction):
        record(kind)
    monkeypatch.setattr(neo4j.AsyncDriver, "execute_query", None)  # nothing may go round the two
    return statements


@pytest.fixture
async def memory(
    sent: list[Statement], neo4j_server: tuple[str, tuple[str, str]], neo4j_database: Database
) -> AsyncIterator[Memory]:
    uri, auth = neo4j_server
    async with Memory.connect(
        uri, auth=auth, namespace=f"test-{uuid.uuid4()}", embedder=EMBEDDER, warm=False
    ) as opened:
        yield opened


@pytest.mark.parametrize("name", public("memory"))
async def test_of_the_memory(memory: Memory, sent: list[Statement], name: str) -> None:
    await memory.store.write(BATCH)
    await called(memory, "memory", name)
    await memory.store.flush_usage()
    assert_all_walled(sent, memory.namespace)


@pytest.mark.parametrize("name", public("store"))
async def test_of_the_store(memory: Memory, sent: list[Statement], name: str) -> None:
    if name != "write":
        await memory.store.write(BATCH)
    before = len(sent)
    await called(memory, "store", name)
    if name not in ("touch_facts", "flush_usage"):
        assert len(sent) > before
    await memory.store.flush_usage()
    assert_all_walled(sent, memory.namespace)


@pytest.mark.parametrize(
    ("part", "name"), [(part, name) for part in ("ledger", "index", "tiers") for name in public(part)]
)
async def test_of_the_other_parts(memory: Memory, sent: list[Statement], part: str, name: str) -> None:
    before = len(sent)
    await called(memory, part, name)
    if name == "search_facts":
        await memory.index.search_facts(VECTOR, tags=["a"])
    assert len(sent) > before
    assert_all_walled(sent, memory.namespace)


def assert_all_walled(sent: list[Statement], namespace: str) -> None:
    shared = {text for name, text in schema_files() if "$namespace" not in text}
    about_records = [(text, given) for text, given in sent if text not in shared and not ABOUT_ALL.match(text.strip())]
    assert about_records
    for text, given in about_records:
        assert "$namespace" in text, text
        assert given["namespace"] == namespace


def schema_files() -> list[tuple[str, str]]:
    names = ("claim", "read", "record_migrations", "record_spaces")
    return [(name, queries.load(f"schema.{name}")) for name in names]
