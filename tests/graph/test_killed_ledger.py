"""A ledger whose server is killed: runs and verdicts that were acknowledged are there, and no verdict by halves."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from pathlib import Path

import pytest

from remembrancer.graph import Neo4jStore
from remembrancer.records import (
    GateDecision,
    GatePass,
    RecordBatch,
    RetentionPolicy,
    RunOutcome,
    ServerUnavailableError,
)
from remembrancer.server import LocalServer, status
from remembrancer.testing.samples import fact, sample_id

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

QUICK = ("-XX:TieredStopAtLevel=1",)
MOST = 2_000


async def kill(folder: Path) -> None:
    pid = (await status(folder)).server_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


async def noticed(folder: Path) -> None:
    for _ in range(200):
        if not (await status(folder)).running:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the server is still said to run")


def a_pass(number: int) -> GatePass:
    fact_id = sample_id("fact", number)
    decision = GateDecision(fact_id=fact_id, verdict="promoted", trials=number, evidence={"lift": number / 8})
    return GatePass(id=str(uuid.uuid5(uuid.NAMESPACE_OID, fact_id)), policy=RetentionPolicy(), decisions=[decision])


async def test_a_killed_server_keeps_the_audit_log_and_the_runs(tmp_path: Path) -> None:
    namespace = f"killed-{uuid.uuid4()}"
    recorded: list[str] = []
    ruled: list[str] = []
    under_way = asyncio.Event()

    async def record(store: Neo4jStore) -> None:
        for number in range(MOST):
            await store.ledger.record_outcome(RunOutcome(run_id=str(number), score=0.5, fact_ids=["a"]))
            recorded.append(str(number))

    async def rule(store: Neo4jStore) -> None:
        for number in range(MOST):
            await store.put_fact(fact(number, tags=["candidate"]))
            await store.write(RecordBatch(gate_passes=[a_pass(number)]))
            ruled.append(sample_id("fact", number))
            if number == 12:
                under_way.set()

    killed = await LocalServer.open(tmp_path, linger=0.2, heap="512m", jvm_options=QUICK)
    auth = (killed.username, killed.password)
    async with Neo4jStore.open(killed.bolt_uri, auth=auth, namespace=namespace) as store:
        working = [asyncio.create_task(record(store)), asyncio.create_task(rule(store))]
        await under_way.wait()
        await kill(tmp_path)
        for task in working:
            task.cancel()
        for result in await asyncio.gather(*working, return_exceptions=True):
            assert isinstance(result, asyncio.CancelledError | ServerUnavailableError)
    assert len(ruled) < MOST, "killed too late to test anything"
    await killed.aclose()
    await noticed(tmp_path)

    async with LocalServer.open(tmp_path, linger=0.2, heap="512m", jvm_options=QUICK) as again:
        auth = (again.username, again.password)
        async with Neo4jStore.open(again.bolt_uri, auth=auth, namespace=namespace) as store:
            entries = await store.ledger.decisions(limit=2 * MOST)
            assert [entry.fact_id for entry in reversed(entries)][: len(ruled)] == ruled
            assert len(entries) <= len(ruled) + 1
            assert all(entry.evidence == {"lift": entry.trials / 8} for entry in entries)
            promoted = {one.id for one in await store.find_facts(tags=["verified"], limit=2 * MOST)}
            assert promoted == {entry.fact_id for entry in entries}
            stats = await store.ledger.get_fact_stats("a")
            assert stats is not None
            assert len(recorded) <= stats.trials <= len(recorded) + 1
            assert await store.ledger.get_outcome(recorded[-1]) is not None
