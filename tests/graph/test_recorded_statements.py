"""The check at the end of a run: a statement that is not walled in by the namespace fails it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.recorder import LIBRARY, SHARED, Recorder, problem_of

from remembrancer.graph import Database, queries

OPEN = "MATCH (fact:Fact) RETURN count(fact) AS facts"
WALLED = "MATCH (fact:Fact {namespace: $namespace}) RETURN count(fact) AS facts"


@pytest.mark.parametrize(
    ("text", "parameters", "problem"),
    [
        (WALLED, {"namespace": "a"}, None),
        (OPEN, {"namespace": "a"}, "does not use"),
        (OPEN + "  // for $namespace", {"namespace": "a"}, "does not use"),
        (OPEN + " + $namespaces", {"namespace": "a", "namespaces": 1}, "does not use"),
        (WALLED, {}, "was sent with None"),
        (WALLED, {"namespace": ""}, "was sent with ''"),
        ("SHOW INDEXES YIELD name", {}, None),
        ("CYPHER 25 CREATE VECTOR INDEX a IF NOT EXISTS", {}, None),
        ("CYPHER 25 CREATE (n:Fact)", {}, "does not use"),
        ("MATCH (n) CALL db.awaitIndexes(1)", {}, "does not use"),
    ],
)
def test_what_is_walled_in(text: str, parameters: dict[str, object], problem: str | None) -> None:
    found = problem_of(text, parameters)
    assert (found is None) if problem is None else (found or "").startswith(problem)


def test_what_is_shared_says_nothing_of_records() -> None:
    kinds = re.compile(r":\s*(Entity|Fact|Episode|Message|Theme|Tag|Placeholder|Run|Pass|Tier\w*)\b")
    for name in SHARED:
        assert not kinds.search(queries.load(name)), name


def test_only_the_connection_talks_to_the_driver() -> None:
    talking = re.compile(r"\.(session|begin_transaction|execute_query|execute_read|execute_write)\(")
    found = {
        path.relative_to(LIBRARY).as_posix()
        for path in Path(LIBRARY).rglob("*.py")
        if re.search(r"\bneo4j\b|graph\.connection", text := path.read_text("utf-8")) and talking.search(text)
    }
    assert found == {"graph/connection.py"}


@pytest.mark.neo4j
async def test_a_statement_without_the_namespace_is_caught_on_its_way(neo4j_database: Database) -> None:
    here = str(Path(__file__).parent)
    with Recorder(folder=here).installed() as recorder:
        await neo4j_database.read(WALLED, {"namespace": "a"})
        recorder.check()
        await neo4j_database.read(OPEN, {})
        await neo4j_database.write(lambda transaction: transaction.run(OPEN + " LIMIT 1", {"namespace": "a"}))
    await neo4j_database.read(OPEN + " LIMIT 2", {})
    assert list(recorder.texts) == [WALLED, OPEN, OPEN + " LIMIT 1"]
    with pytest.raises(AssertionError, match="2 statements are not walled in by the namespace"):
        recorder.check()


@pytest.mark.neo4j
async def test_what_a_test_sends_by_itself_is_not_the_library(
    neo4j_database: Database, every_statement: Recorder
) -> None:
    await neo4j_database.read(OPEN + " LIMIT 3", {})
    assert OPEN + " LIMIT 3" not in every_statement.texts


@pytest.mark.neo4j
async def test_what_the_library_sends_is_recorded(neo4j_database: Database, every_statement: Recorder) -> None:
    from remembrancer.graph import Neo4jStore

    async with Neo4jStore.open(database=neo4j_database, namespace="recorded") as store:
        await store.list_themes()
    assert queries.load("theme.list") in every_statement.texts
