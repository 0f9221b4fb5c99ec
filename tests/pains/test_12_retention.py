"""Kind 12: what helps stays, what harms is taken out and can come back, and nothing hidden is told. Error rates of the
gate are measured in tests/retention."""

from __future__ import annotations

from typing import Any

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory
from remembrancer.records import RecordBatch, RetentionPolicy
from remembrancer.testing.samples import MADE, fact, sample_id

pytestmark = pytest.mark.neo4j

HARMFUL, HELPFUL = sample_id("fact", 1), sample_id("fact", 2)


async def judged(memory: Memory) -> Any:
    lessons = [fact(n, content=f"lesson {n}", tags=["candidate", "a"]) for n in (1, 2)]
    await memory.store.write(RecordBatch(facts=lessons))
    for run in range(40):
        served = HARMFUL if run % 2 else HELPFUL
        await memory.record_outcome(f"run {run}", 0.05 if run % 2 else 0.95, fact_ids=[served])
    return await memory.gate(RetentionPolicy())


async def test_what_harmed_is_evicted_and_what_helped_is_kept(memory: Memory) -> None:
    await judged(memory)
    verdicts = {one.fact_id: one.verdict for one in await memory.gate_decisions()}
    assert verdicts == {HARMFUL: "evicted", HELPFUL: "promoted"}
    assert [one.id for one in await memory.lessons(["a"])] == [HELPFUL]


async def test_the_gate_deletes_nothing_and_is_reversible(memory: Memory) -> None:
    await judged(memory)
    evicted = await memory.store.get_fact(HARMFUL)
    assert evicted is not None
    assert (evicted.content, evicted.is_live) == ("lesson 1", False)
    await memory.restore(HARMFUL)
    assert HARMFUL in {one.id for one in await memory.store.find_facts()}


async def test_a_hidden_run_is_told_nowhere_nor_what_came_of_it_and_comes_back(memory: Memory) -> None:
    first = await memory.memory_writer(
        [{"content": "the harbour is closed"}], {"run_id": "bad", "node_id": "n", "iteration": 1}
    )
    (source,) = first.fact_ids
    await memory.memory_writer(
        [{"content": "boats avoid the harbour", "source_fact_ids": [source]}],
        {"run_id": "good", "node_id": "n", "iteration": 1},
    )
    assert len((await memory.recall("harbour")).hits) == 2
    await memory.quarantine_run("bad")
    assert (await memory.recall("harbour")).hits == ()
    assert list((await memory.memory_retriever({"text": "harbour"})).facts) == []
    await memory.release_run("bad")
    assert len((await memory.recall("harbour")).hits) == 2


async def test_a_derived_fact_is_trusted_no_more_than_its_least_source(memory: Memory) -> None:
    sure, unsure = (MADE.model_copy(update={"confidence": value}) for value in (0.9, 0.3))
    await memory.store.write(RecordBatch(facts=[fact(1, provenance=sure), fact(2, provenance=unsure)]))
    written = await memory.memory_writer([{"content": "derived", "source_fact_ids": [HARMFUL, HELPFUL]}])
    stored = await memory.store.get_fact(written.fact_ids[0])
    assert stored is not None
    assert stored.provenance.confidence == 0.3


async def test_what_nobody_uses_is_what_decay_takes_first_and_it_is_undone(open_memory: OpenMemory) -> None:
    memory = await open_memory(embedder=None)
    await memory.store.write(RecordBatch(facts=[fact(n) for n in (1, 2)]))
    await memory.store.touch_facts([HELPFUL] * 5)
    await memory.store.flush_usage()
    report = await memory.consolidate(max_facts=1)
    assert [one.id for one in await memory.store.find_facts()] == [HELPFUL]
    await memory.undo(str(report.pass_id))
    assert len(await memory.store.find_facts()) == 2


async def test_echoes_of_a_recall_do_not_pile_up(memory: Memory) -> None:
    await memory.ingest([said("Ada Berg works at Acme Corp.")])
    told = (await memory.recall("Ada Berg")).hits[0].text
    report = await memory.ingest([{"role": "assistant", "content": told, "timestamp": "2025-03-01T00:00Z"}])
    assert "fact" not in report.created
