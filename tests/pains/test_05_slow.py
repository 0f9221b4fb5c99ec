"""Kind 5: work that does not grow with what is stored. Speed itself is measured by `benchmarks/`, plans and trips are
examined in tests/graph."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory, MemoryQuery
from remembrancer.graph import connection, queries
from remembrancer.records import RecordBatch, cosine
from remembrancer.testing.samples import entity, fact

pytestmark = pytest.mark.neo4j


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the statements sent from here on."""
    sent: list[str] = []

    def watched(original: Any) -> Any:
        def send(door: Any, text: str, *given: Any, **named: Any) -> Any:
            sent.append(queries.name_of(text))
            return original(door, text, *given, **named)

        return send

    for owner, name in ((connection.Database, "read"), (connection.Transaction, "run")):
        monkeypatch.setattr(owner, name, watched(getattr(owner, name)))
    return sent


async def test_statements_do_not_grow_with_the_rows(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, counts = counted(monkeypatch), []
    for start, size in ((0, 1), (1_000, 300)):
        sent.clear()
        numbers = range(start, start + size)
        await memory.store.write(
            RecordBatch(entities=[entity(n) for n in numbers], facts=[fact(n, entities=[n]) for n in numbers])
        )
        counts.append(len(sent))
    assert counts[0] == counts[1]


async def test_a_recall_is_one_statement(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.ingest([said("Ada Berg works at Acme Corp.")])
    sent = counted(monkeypatch)
    assert (await memory.recall("Where does Ada Berg work?")).hits
    assert len(sent) == 1


async def test_an_answer_holds_no_vector(memory: Memory) -> None:
    await memory.ingest([said("Ada Berg works at Acme Corp.")])
    assert "embedding" not in str((await memory.recall("Ada Berg")).to_dict())
    found = await memory.retrieve(MemoryQuery(text="Ada Berg works", min_similarity=0))
    assert found.facts
    assert all(one.embedding is None for one in found.facts)


async def test_the_nearest_are_the_nearest(memory: Memory) -> None:
    from tests.pains.conftest import EMBEDDER

    texts = [f"boat {n} lies in harbour {n % 7} near town {n % 13}" for n in range(400)]
    vectors = await EMBEDDER.embed(texts)
    await memory.store.write(RecordBatch(facts=[fact(n, embedding=list(one)) for n, one in enumerate(vectors)]))
    (query,) = await EMBEDDER.embed(["boat 20 near town 5"])
    best = sorted(((cosine(one, query), n) for n, one in enumerate(vectors)), reverse=True)
    hits = await memory.index.search_facts(query, limit=20, min_similarity=-1)
    assert hits[-1].score >= best[19][0] - 1e-5
    assert len(hits) == 20


@pytest.mark.long
async def test_many_at_once_are_much_quicker_than_one_by_one(open_memory: OpenMemory) -> None:
    memory = await open_memory()
    began = time.perf_counter()
    for n in range(50):
        await memory.store.put_fact(fact(n, entities=[n % 5]))
    single = (time.perf_counter() - began) / 50
    began = time.perf_counter()
    await memory.store.write(RecordBatch(facts=[fact(10_000 + n, entities=[n % 5]) for n in range(5_000)]))
    assert (time.perf_counter() - began) / 5_000 * 10 < single


async def test_model_calls_are_counted_and_few(open_memory: OpenMemory) -> None:
    from remembrancer.ports import ModelUsage

    class Model:
        usage = ModelUsage()

        async def complete(self, prompt: str) -> str:
            self.usage = ModelUsage(calls=self.usage.calls + 1, prompt_tokens=1, reply_tokens=1)
            return "[]"

    memory = await open_memory(llm=Model())
    report = await memory.ingest([said(f"Boat number {n} is blue.", n) for n in range(4)])
    assert 1 <= report.model_calls <= 2
