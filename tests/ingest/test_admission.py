"""Admission in the write path: doubles and evicted facts stay out, news comes in, and the report tells."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.lifecycle.gatekeeping import FactGatekeeper
from remembrancer.memory import Memory
from remembrancer.records import EmbeddingSpace
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.samples import SPACE, day, direction, fact, sample_id

TOLD = "Alice Berg works at Acme Corp in Berlin."


@pytest.fixture(params=["vectors", "words"])
async def memory(request: pytest.FixtureRequest, open_store: OpenStore, kit: Any) -> Memory:
    """A memory whose facts are compared by vectors, or by words."""
    embedder = kit.embedder if request.param == "vectors" else None
    space = EmbeddingSpace(model=embedder.model, dimensions=embedder.dimensions) if embedder else None
    store = await open_store(space=space)
    return Memory(store, store.index, embedder=embedder)


async def contents(memory: Memory) -> list[str]:
    facts = await memory.store.find_facts(include_invalidated=True, limit=1_000)
    return sorted(one.content for one in facts)


async def test_what_is_stored_is_not_stored_again_and_the_report_says_what_it_says(memory: Memory, kit: Any) -> None:
    first = await memory.ingest([kit.said(0, TOLD)], admission=True)
    assert (len(first.created["fact"]), first.refused) == (1, ())
    again = await memory.ingest([kit.said(600, TOLD.upper().rstrip("."))], admission=True)
    (refused,) = again.refused
    assert "fact" not in again.created
    assert (refused.reason, refused.matched_id) == ("duplicate", first.created["fact"][0])
    assert refused.similarity == pytest.approx(1, abs=1e-5)
    assert len(again.created["message"]) == 1
    assert len(await contents(memory)) == 1
    for episode in await memory.store.list_episodes():
        assert set(episode.fact_ids) <= set(first.created["fact"])


async def test_without_admission_it_is_stored_again(memory: Memory, kit: Any) -> None:
    await memory.ingest([kit.said(0, TOLD)])
    report = await memory.ingest([kit.said(600, TOLD)])
    assert (len(report.created["fact"]), report.refused) == (1, ())


async def test_of_two_alike_in_one_ingest_the_first_is_stored(memory: Memory, kit: Any) -> None:
    report = await memory.ingest([kit.said(0, TOLD), kit.said(600, TOLD)], admission=True)
    (refused,) = report.refused
    assert report.created["fact"] == (refused.matched_id,)


async def test_an_evicted_fact_does_not_come_back_and_a_superseded_one_may(memory: Memory, kit: Any) -> None:
    first = await memory.ingest([kit.said(0, TOLD)])
    stored = await memory.store.get_fact(first.created["fact"][0])
    assert stored is not None
    await memory.store.put_fact(stored.model_copy(update={"invalidated_by": "eval-gate:harmful"}))
    report = await memory.ingest([kit.said(600, TOLD)], admission=True)
    assert [one.reason for one in report.refused] == ["evicted_reentry"]
    await memory.store.put_fact(stored.model_copy(update={"invalidated_by": sample_id("fact", 1)}))
    report = await memory.ingest([kit.said(1200, TOLD)], admission=True)
    assert (report.refused, len(report.created["fact"])) == ((), 1)


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ("The port of the Acme server is 5432.", "The port of the Acme server is 5433."),
        (TOLD, "Alice Berg never works at Acme Corp in Berlin."),
    ],
)
async def test_another_number_or_a_denial_is_news_however_alike_the_words(
    memory: Memory, kit: Any, stored: str, told: str
) -> None:
    await memory.ingest([kit.said(0, stored)], admission=True)
    report = await memory.ingest([kit.said(600, told)], admission=True)
    assert report.refused == ()
    assert len(await contents(memory)) == 2


async def test_what_held_once_may_hold_again(memory: Memory, kit: Any) -> None:
    first = await memory.ingest([kit.said(0, TOLD)])
    stored = await memory.store.get_fact(first.created["fact"][0])
    assert stored is not None
    ended = stored.model_copy(update={"valid_until": stored.valid_from + (day(0.1) - day(0))})
    await memory.store.put_fact(ended)
    report = await memory.ingest([kit.said(600, TOLD)], admission=True)
    assert (report.refused, len(report.created["fact"])) == ((), 1)


async def test_the_best_match_that_counts_is_named(open_store: OpenStore) -> None:
    store: IndexedStore = await open_store(space=SPACE)
    for n, degrees in ((1, 20), (2, 10), (3, 60)):
        await store.put_fact(fact(n, content="said", embedding=direction(degrees)))
    await store.put_fact(fact(4, content="said", embedding=direction(0), tags=["quarantined"]))
    new = [fact(n, content="said", embedding=direction(degrees)) for n, degrees in ((10, 9), (11, 110), (12, 115))]
    refused = await FactGatekeeper(store, store.index, embedder=Embedding()).refuse(new)
    named = [(one.id, one.matched_id) for one in refused]
    assert named == [(sample_id("fact", 10), sample_id("fact", 2)), (sample_id("fact", 12), sample_id("fact", 11))]
    assert await FactGatekeeper(store, store.index, embedder=Embedding(), threshold=1.1).refuse(new) == []
    assert await FactGatekeeper(store, store.index, embedder=Embedding()).refuse([]) == []


class Embedding:
    """Says that facts have vectors; is never asked for one."""

    model, dimensions = SPACE.model, SPACE.dimensions

    async def embed(self, texts: Any) -> Any:
        raise AssertionError(texts)
