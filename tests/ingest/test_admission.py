"""Admission in the write path: doubles and evicted facts stay out, news comes in, and the report tells."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from remembrancer.hierarchy import RuleBasedExtractor
from remembrancer.hierarchy.ingestion import REREAD
from remembrancer.lifecycle.gatekeeping import FactGatekeeper
from remembrancer.memory import Memory
from remembrancer.ports import Extraction
from remembrancer.ports.admission import RefusedFact
from remembrancer.records import EmbeddingSpace, Episode, Fact, InvalidInputError
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


async def only_fact(memory: Memory) -> Fact:
    (fact_,) = await memory.store.find_facts(include_invalidated=True)
    return fact_


async def test_who_says_it_again_becomes_a_source_of_the_fact_that_stands(memory: Memory, kit: Any) -> None:
    reports = [await memory.ingest([kit.said(600 * n, TOLD)], admission=True) for n in range(3)]
    messages = [report.created["message"][0] for report in reports]
    episodes = [report.created["episode"][0] for report in reports]
    for report, message_id in zip(reports[1:], messages[1:], strict=True):
        (refused,) = report.refused
        assert (refused.message_ids, refused.is_cited) == ((message_id,), True)
        assert report.changed["fact"] == (refused.matched_id,)
    stands = await only_fact(memory)
    assert list(stands.source_message_ids) == messages
    assert list(stands.source_episode_ids) == episodes
    assert stands.embedding == (await memory.store.get_facts([stands.id]))[stands.id].embedding
    (await kit.contents_of(memory.store)).check()
    # In an episode that cites it already the message is added, and the episode stays as it is.
    await memory.ingest([kit.said(601, TOLD, speaker="Bob")], admission=True)
    again = await only_fact(memory)
    assert (len(again.source_message_ids), len(set(again.source_message_ids))) == (4, 4)
    assert list(again.source_episode_ids) == episodes
    (await kit.contents_of(memory.store)).check()


async def test_of_two_alike_in_one_ingest_the_first_cites_both(memory: Memory, kit: Any) -> None:
    report = await memory.ingest([kit.said(600 * n, TOLD) for n in range(3)], admission=True)
    assert [one.is_cited for one in report.refused] == [True, True]
    stands = await only_fact(memory)
    assert set(stands.source_message_ids) == set(report.created["message"])
    assert set(stands.source_episode_ids) == set(report.created["episode"])
    (await kit.contents_of(memory.store)).check()


async def test_what_was_evicted_gets_no_sources_and_the_report_names_the_message(memory: Memory, kit: Any) -> None:
    await memory.ingest([kit.said(0, TOLD)])
    evicted = (await only_fact(memory)).model_copy(update={"invalidated_by": "eval-gate:harmful"})
    await memory.store.put_fact(evicted)
    report = await memory.ingest([kit.said(600, TOLD)], admission=True)
    (refused,) = report.refused
    assert (refused.message_ids, refused.is_cited) == (report.created["message"], False)
    stands = await only_fact(memory)
    assert stands.source_message_ids == evicted.source_message_ids
    assert stands.invalidated_by == "eval-gate:harmful"


async def test_a_fact_that_is_closed_meanwhile_stays_closed(memory: Memory, kit: Any) -> None:
    await memory.ingest([kit.said(0, TOLD)])
    calls = []

    class Slow(FactGatekeeper):
        async def refuse(self, facts: Sequence[Fact], *, leaving: Collection[str] = ()) -> list[RefusedFact]:
            found = await super().refuse(facts, leaving=leaving)
            calls.append([one.reason for one in found])
            if len(calls) == 1:
                real = memory.store.get_facts

                async def closing(ids: Any) -> Any:
                    read = await real(ids)
                    memory.store.get_facts = real  # type: ignore[method-assign]
                    stored = await only_fact(memory)
                    await memory.store.put_fact(stored.model_copy(update={"invalidated_by": "eval-gate:harmful"}))
                    return read

                memory.store.get_facts = closing  # type: ignore[method-assign]
            return found

    gatekeeper = Slow(memory.store, memory.index, embedder=memory.embedder)
    report = await memory._ingestion.ingest([kit.said(600, TOLD)], gatekeeper=gatekeeper)
    assert calls == [["duplicate"], ["evicted_reentry"]]
    assert [(one.reason, one.is_cited) for one in report.refused] == [("evicted_reentry", False)]
    stands = await only_fact(memory)
    assert (stands.invalidated_by, len(stands.source_message_ids)) == ("eval-gate:harmful", 1)


async def test_of_many_who_say_it_at_once_all_are_cited(memory: Memory, kit: Any) -> None:
    await memory.ingest([kit.said(0, TOLD)])
    await asyncio.gather(
        *(memory.ingest([kit.said(600 * n, TOLD, conversation=f"talk {n}")], admission=True) for n in range(1, 6))
    )
    assert len(set((await only_fact(memory)).source_message_ids)) == 6
    (await kit.contents_of(memory.store)).check()


class Retold(RuleBasedExtractor):
    """Reads by rules while it is down, and then the same in other words."""

    down = True

    async def extract(self, episode: Episode) -> Extraction:
        read = await super().extract(episode)
        if self.down:
            return Extraction(read.episode, read.facts, read.entities, fell_back="down")
        facts = tuple(one.model_copy(update={"content": one.content.upper()[:-1] + "!"}) for one in read.facts)
        return Extraction(read.episode, facts, read.entities)


async def test_a_better_reading_is_not_refused_for_what_it_replaces(memory: Memory, kit: Any) -> None:
    extractor = Retold()
    reading = Memory(memory.store, memory.index, embedder=memory.embedder, extractor=extractor)
    await reading.ingest([kit.said(0, TOLD)])
    extractor.down = False
    report = await reading.retry_extraction(admission=True)
    assert report.refused == ()
    facts = {one.content: one.invalidated_by for one in await memory.store.find_facts(include_invalidated=True)}
    assert facts == {TOLD: REREAD, "ALICE BERG WORKS AT ACME CORP IN BERLIN!": None}
    (await kit.contents_of(memory.store)).check()


async def test_reading_again_with_admission_leaves_out_what_is_known_and_cites(memory: Memory, kit: Any) -> None:
    extractor = Retold()
    reading = Memory(memory.store, memory.index, embedder=memory.embedder, extractor=extractor)
    first = await memory.ingest([kit.said(0, TOLD)])
    await reading.ingest([kit.said(600, TOLD)], admission=True)
    extractor.down = False
    report = await reading.retry_extraction(admission=True)
    (refused,) = report.refused
    assert (refused.reason, refused.matched_id, refused.is_cited) == ("duplicate", first.created["fact"][0], True)
    assert await contents(memory) == [TOLD]
    assert len((await only_fact(memory)).source_message_ids) == 2
    assert await memory.store.find_unread_episodes() == []
    (await kit.contents_of(memory.store)).check()
    with pytest.raises(InvalidInputError, match="admission"):
        await reading.retry_extraction(admission="yes")  # type: ignore[arg-type]


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
