"""Recorders and gates that meet: every run is there once, and no fact is decided twice."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.doctor import examine
from remembrancer.records import Fact, GateDecision, GatePass, RecordBatch, RetentionPolicy, RunOutcome
from remembrancer.retention import evaluate_retention
from remembrancer.testing.samples import fact, sample_id

pytestmark = pytest.mark.neo4j

RECORDERS = 12


@pytest.fixture
async def store(neo4j_database: Database) -> AsyncIterator[Neo4jStore]:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"ledger-{uuid.uuid4()}") as opened:
        yield opened


async def run_nodes(store: Neo4jStore) -> list[tuple[str, int]]:
    rows = await store.database.read(
        "MATCH (run:Run {namespace: $namespace}) RETURN run.id AS id, run.sequence AS sequence ORDER BY sequence",
        {"namespace": store.namespace},
    )
    return [(row["id"], row["sequence"]) for row in rows]


async def assert_nothing_is_wrong(store: Neo4jStore) -> None:
    found = await examine(store.database, store.namespace, deep=True)
    assert [finding for finding in found.findings if finding.is_wrong] == []


@pytest.mark.parametrize("verified_tag", ["verified", "candidate", "quarantined"])
async def test_what_a_pass_writes_agrees_with_what_is_copied_from_it(store: Neo4jStore, verified_tag: str) -> None:
    await store.write(RecordBatch(facts=[fact(number, tags=["candidate"]) for number in (1, 2)]))
    await store.ledger.record_outcomes([RunOutcome(run_id="r", score=0.5, fact_ids=["a"], holdout={"b": 0.5})])
    decisions = [
        GateDecision(fact_id=sample_id("fact", 1), verdict="promoted", trials=3),
        GateDecision(fact_id=sample_id("fact", 2), verdict="evicted", reason="x", trials=3),
    ]
    policy = RetentionPolicy(verified_tag=verified_tag)
    await store.write(RecordBatch(gate_passes=[GatePass(id=sample_id("theme", 1), policy=policy, decisions=decisions)]))
    await assert_nothing_is_wrong(store)
    await store.delete_fact(sample_id("fact", 1))
    await store.ledger.clear()
    await assert_nothing_is_wrong(store)


async def test_recorders_at_once_lose_nothing_and_share_no_place(store: Neo4jStore) -> None:
    ids = [f"fact {number}" for number in range(6)]

    async def recorder(own: int) -> None:
        for turn in range(8):
            order = ids[own % 6 :] + ids[: own % 6]
            await store.ledger.record_outcome(RunOutcome(run_id=f"{own}.{turn}", score=0.5, fact_ids=order[:3]))

    await asyncio.gather(*(recorder(own) for own in range(RECORDERS)))
    runs = await run_nodes(store)
    assert {run_id for run_id, _ in runs} == {f"{own}.{turn}" for own in range(RECORDERS) for turn in range(8)}
    assert len({sequence for _, sequence in runs}) == len(runs)
    for own in range(RECORDERS):
        assert [run_id for run_id, _ in runs if run_id.startswith(f"{own}.")] == [f"{own}.{turn}" for turn in range(8)]
    assert sum(stats.trials for stats in await store.ledger.list_fact_stats()) == 3 * len(runs)


async def test_one_run_recorded_by_many_at_once_is_one(store: Neo4jStore) -> None:
    def outcome(own: int) -> RunOutcome:
        return RunOutcome(run_id="shared", score=own / 100, fact_ids=[f"of {own}", "of all"])

    recorded = await asyncio.gather(*(store.ledger.record_outcome(outcome(own)) for own in range(RECORDERS)))
    assert sorted(one.replaced for one in recorded) == [False] + [True] * (RECORDERS - 1)
    kept = await store.ledger.get_outcome("shared")
    assert kept is not None
    own = round(kept.score * 100)
    assert kept.fact_ids == (f"of {own}", "of all")
    assert [stats.fact_id for stats in await store.ledger.list_fact_stats()] == sorted(kept.fact_ids)
    assert len(await run_nodes(store)) == 1


async def test_runs_facts_and_gates_that_meet_all_come_through(store: Neo4jStore) -> None:
    """Recorders lock facts that others put, delete and promote; nothing deadlocks for good, no edit is lost."""

    def candidate(number: int, content: str) -> Fact:
        return fact(number, content=content, tags=["lesson", "candidate"])

    await store.write(RecordBatch(facts=[candidate(number, "first") for number in range(1, 9)]))

    async def recorder(own: int) -> None:
        for turn in range(6):
            served = [sample_id("fact", 1 + (own + turn + step) % 8) for step in range(3)]
            await store.ledger.record_outcome(RunOutcome(run_id=f"{own}.{turn}", score=0.5, fact_ids=served))

    async def editor() -> None:
        for turn in range(6):
            await store.write(RecordBatch(facts=[candidate(number, f"edit {turn}") for number in (7, 8)]))
            await store.put_fact(candidate(20, "comes"))
            await store.delete_fact(sample_id("fact", 20))

    async def gate() -> None:
        for _ in range(4):
            await evaluate_retention(store, store.ledger)

    await asyncio.gather(*(recorder(own) for own in range(6)), editor(), gate(), gate())
    assert len(await run_nodes(store)) == 36
    edited = await store.get_facts([sample_id("fact", 7), sample_id("fact", 8)])
    assert {one.content for one in edited.values()} == {"edit 5"}
    assert {entry.verdict for entry in await store.ledger.decisions(limit=1000)} == {"held"}
    await assert_nothing_is_wrong(store)


async def test_gates_at_once_decide_each_fact_once(store: Neo4jStore) -> None:
    good, bad = range(1, 11), range(11, 21)
    await store.write(RecordBatch(facts=[fact(number, tags=["candidate"]) for number in (*good, *bad)]))
    runs = [
        RunOutcome(run_id=f"{group}.{turn}", score=score, fact_ids=[sample_id("fact", number) for number in numbers])
        for group, (score, numbers) in enumerate([(0.9, good), (0.1, bad), (0.5, ())])
        for turn in range(12)
    ]
    await store.ledger.record_outcomes(runs)
    reports = await asyncio.gather(*(evaluate_retention(store, store.ledger) for _ in range(6)))
    decided = Counter(
        verdict.fact_id for report in reports for verdict in (*report.promoted, *report.evicted) if verdict.fact_id
    )
    assert decided == Counter({sample_id("fact", number): 1 for number in (*good, *bad)})
    recorded = Counter(entry.fact_id for entry in await store.ledger.decisions(limit=1000) if entry.verdict != "held")
    assert recorded == decided
    assert len(await store.find_facts(tags=["verified"])) == 10
    assert await store.find_facts(tags=["candidate"]) == []


async def test_a_gate_and_an_edit_that_meet_lose_neither(store: Neo4jStore) -> None:
    for number in range(1, 9):
        one = fact(number, tags=["candidate"])
        await store.put_fact(one)
        await store.ledger.record_outcomes(
            [
                RunOutcome(run_id=f"{number}.{turn}.{score}", score=score, fact_ids=[one.id] if score > 0.5 else [])
                for turn in range(8)
                for score in (0.9, 0.2)
            ]
        )
        edit = one.model_copy(update={"content": "reworded", "tags": ("candidate", "edited")})
        report, _ = await asyncio.gather(evaluate_retention(store, store.ledger), store.put_fact(edit))
        stored = await store.get_fact(one.id)
        assert stored is not None
        assert stored.content == "reworded"
        assert [verdict.fact_id for verdict in report.promoted] == [one.id]
        # The edit puts the record whole, so where it came last it put the fact on trial again.
        assert stored.tags in (("edited", "verified"), ("candidate", "edited"))
        await store.delete_fact(one.id)
