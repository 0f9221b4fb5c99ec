"""A write is there in full or not at all, whichever of its statements it breaks at; and then it can be repeated."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from neo4j import exceptions

from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.connection import Row, Transaction
from remembrancer.records import (
    GateDecision,
    GatePass,
    RecordBatch,
    RetentionPolicy,
    ServerUnavailableError,
    ThemeAddition,
)
from remembrancer.testing.samples import (
    SPACE,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)

pytestmark = pytest.mark.neo4j

STORED = RecordBatch(
    entities=[entity(50)],
    facts=[fact(50, entities=[50], tags=["old"])],
    themes=[theme(50, facts=[50]), theme(51, facts=[51])],
    episodes=[episode(50, messages=[message(50)])],
    relationships=[relationship(50, 50, 51)],
)
WHOLE = RecordBatch(
    entities=[entity(1, embedding=direction(10))],
    relationships=[relationship(1, 1, 50)],
    episodes=[episode(1, messages=[message(1, speaker="Ada"), message(2)], facts=[1])],
    facts=[fact(1, entities=[1, 2], episodes=[1], tags=["new"], embedding=direction(1))],
    themes=[theme(1, facts=[1])],
    claims=[entity(2, name="claimed")],
    assertions=[relationship(2, 1, 2), relationship(3, 50, 51, valid_from="2024-01-01")],
    theme_additions=[ThemeAddition(theme_id=sample_id("theme", 50), fact_ids=[sample_id("fact", 1)])],
    gate_passes=[
        GatePass(
            id=sample_id("theme", 50),
            policy=RetentionPolicy(candidate_tag="old"),
            decisions=[GateDecision(fact_id=sample_id("fact", 50), verdict="promoted", trials=3)],
        )
    ],
    removals={"theme": [sample_id("theme", 51)], "episode": [sample_id("episode", 50)]},
    expected_messages={sample_id("episode", 1): 0},
)


@pytest.fixture
async def store(neo4j_database: Database) -> AsyncIterator[Neo4jStore]:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"atomic-{uuid.uuid4()}", space=SPACE) as opened:
        await opened.write(STORED)
        yield opened


async def everything(store: Neo4jStore) -> list[str]:
    """All nodes and edges of the namespace, to the last property."""
    nodes = await store.database.read(
        "MATCH (n {namespace: $namespace}) "
        "RETURN labels(n) AS labels, properties(n) AS all, toString(n.valid_until) AS til",
        {"namespace": store.namespace},
    )
    edges = await store.database.read(
        "MATCH (a {namespace: $namespace})-[r]->(b) RETURN a.id AS a, type(r) AS type, properties(r) AS all, "
        "coalesce(b.id, b.name) AS b, toString(r.valid_until) AS til",
        {"namespace": store.namespace},
    )
    texts = [
        {**row, "all": sorted((name, str(value)) for name, value in row["all"].items() if name != "valid_until")}
        for row in nodes + edges
    ]
    return sorted(map(repr, texts))


class BreakError(Exception):
    """What happens between two statements."""


@contextmanager
def breaking_after(statements: int, error: Exception, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Transactions break after so many statements, once; yields the statements that ran."""
    run, ran = Transaction.run, []

    async def counted(self: Transaction, text: str, parameters: Mapping[str, Any]) -> list[Row]:
        if len(ran) == statements:
            ran.append("broken")
            raise error
        ran.append(text)
        return await run(self, text, parameters)

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", counted)
        yield ran


async def statements_of_the_whole_write(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> int:
    async with Neo4jStore.open(
        database=store.database, namespace=store.namespace + " counted", space=SPACE
    ) as counted_store:
        await counted_store.write(STORED)
        with breaking_after(1000, BreakError(), monkeypatch) as ran:
            await counted_store.write(WHOLE, idempotency_key="k")
    return len(ran)


async def test_a_write_that_breaks_after_any_statement_leaves_nothing_and_can_be_repeated(
    store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = await statements_of_the_whole_write(store, monkeypatch)
    assert count >= 14
    before = await everything(store)
    for statements in range(count):
        with breaking_after(statements, BreakError(), monkeypatch), pytest.raises(BreakError):
            await store.write(WHOLE, idempotency_key="k")
        assert await everything(store) == before, f"something stayed after statement {statements}"
    receipt = await store.write(WHOLE, idempotency_key="k")
    after = await everything(store)
    assert not receipt.replayed
    assert (await store.write(WHOLE, idempotency_key="k")) == receipt.model_copy(update={"replayed": True})
    assert await everything(store) == after


async def test_a_connection_that_is_lost_after_any_statement_is_repeated_and_writes_once(
    store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = await statements_of_the_whole_write(store, monkeypatch)
    for statements in range(count):
        async with Neo4jStore.open(
            database=store.database, namespace=f"{store.namespace} {statements}", space=SPACE
        ) as fresh:
            await fresh.write(STORED)
            with breaking_after(statements, exceptions.ServiceUnavailable("cut"), monkeypatch) as ran:
                receipt = await fresh.write(WHOLE, idempotency_key="k")
            assert "broken" in ran
            assert set(receipt.created["message"]) == {sample_id("message", 1), sample_id("message", 2)}
            assert (await fresh.get_themes([sample_id("theme", 50)]))[sample_id("theme", 50)].fact_ids == (
                sample_id("fact", 50),
                sample_id("fact", 1),
            )


async def test_a_commit_whose_answer_is_lost_is_not_repeated_and_says_so(
    store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import neo4j

    commit = neo4j.AsyncTransaction.commit

    async def lost(self: neo4j.AsyncTransaction) -> None:
        await commit(self)
        raise exceptions.IncompleteCommit("lost")

    with monkeypatch.context() as patched:
        patched.setattr(neo4j.AsyncTransaction, "commit", lost)
        with pytest.raises(ServerUnavailableError, match="it was done, or it was not"):
            await store.write(WHOLE, idempotency_key="k")
    after = await everything(store)
    assert (await store.write(WHOLE, idempotency_key="k")).replayed
    assert await everything(store) == after


async def test_a_cancelled_write_leaves_nothing(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await everything(store)
    run = Transaction.run
    reached = asyncio.Event()

    async def stopping(self: Transaction, text: str, parameters: Mapping[str, Any]) -> list[Row]:
        rows = await run(self, text, parameters)
        if "MERGE (fact:Fact" in text:
            reached.set()
            await asyncio.sleep(60)
        return rows

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", stopping)
        writing = asyncio.create_task(store.write(WHOLE))
        await reached.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    assert await everything(store) == before
    await store.write(WHOLE)


async def test_expecting_an_episode_that_is_not_put_leaves_no_trace_of_it(store: Neo4jStore) -> None:
    absent = sample_id("episode", 77)
    await store.write(RecordBatch(entities=[entity(9)], expected_messages={absent: 0}))
    rows = await store.database.read(
        "MATCH (n:Episode {namespace: $namespace, id: $id}) RETURN n", {"namespace": store.namespace, "id": absent}
    )
    assert rows == []


async def test_a_claim_under_the_id_of_another_entity_is_answered(store: Neo4jStore) -> None:
    """An entity that was renamed, or closed, keeps its id; a claim that brings that id must not vanish."""
    await store.put_entity(entity(60, name="new name"))
    receipt = await store.write(RecordBatch(claims=[entity(60, name="old name")], facts=[fact(60, entities=[60])]))
    assert set(receipt.claimed) == {sample_id("entity", 60)}
    stood_for = receipt.claimed[sample_id("entity", 60)]
    stored = await store.get_entity(stood_for)
    assert stored is not None
    assert stored.name == "old name"
    assert stored.is_live
