"""What came out of a recall is no news when it comes back in."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer import Memory
from remembrancer.hierarchy.ingestion import Echoes
from remembrancer.inmemory import InMemoryStore
from remembrancer.records import Message, Provenance
from remembrancer.testing import OpenStore

START = dt.datetime(2026, 1, 5, 9, tzinfo=dt.UTC)
SAID = [
    ("Ada Berg", "Ada Berg works at Acme Corp now. The office is in Oslo, near the harbour."),
    ("Dr. Lind", "Good to hear!\nMy new number is +47 22 33 44 55, please call after six."),
    ("王芳", "我在北京的一家银行工作。每天骑自行车上班。"),
]


def message(minute: float, content: str, **fields: Any) -> Message:
    at = START + dt.timedelta(minutes=minute)
    return Message(**{"role": "assistant", "content": content, "timestamp": at, **fields})


async def facts_of(memory: Memory) -> dict[str, bool]:
    found = await memory.store.find_facts(limit=10_000, include_invalidated=True)
    return {fact.id: fact.is_live for fact in found}


async def filled(memory: Memory) -> None:
    said = [message(place, text, role="user", speaker=who) for place, (who, text) in enumerate(SAID)]
    await memory.ingest(said)


def as_answer(recall: Any) -> list[str]:
    return [recall.to_prompt()]


def as_hits(recall: Any) -> list[str]:
    return [hit.text for hit in recall.hits]


def as_list(recall: Any) -> list[str]:
    return ["## Relevant Memory\n" + "\n".join(f"- {line}" for line in recall.lines())]


ROUNDS = [(as_answer, "assistant", 100), (as_hits, "user", 20), (as_list, "tool", 20), (as_hits, "system", 20)]


@pytest.mark.parametrize(("stored", "role", "rounds"), ROUNDS)
async def test_a_hundred_rounds_of_recall_and_store_leave_the_count_of_facts_as_it_was(
    stored: Any, role: str, rounds: int
) -> None:
    async with Memory.in_memory() as memory:
        await filled(memory)
        before = await facts_of(memory)
        assert len(before) >= 4
        for number in range(rounds):
            recall = await memory.recall("Where does Ada work, and what is the number?", limit=5)
            texts = stored(recall)
            report = await memory.ingest(
                [message(60 * number + 60 + place, text, role=role) for place, text in enumerate(texts)]
            )
            assert report.counts["message"] == len(texts)
            assert report.echoes > 0
        assert await facts_of(memory) == before


async def test_rounds_leave_neo4j_as_it_was(open_store: OpenStore) -> None:
    store = await open_store()
    memory = Memory(store, store.index)
    await filled(memory)
    before = await facts_of(memory)
    for number in range(2):
        recall = await memory.recall("Where does Ada work?")
        await memory.ingest([message(60 * number + 60, recall.to_prompt())])
    assert await facts_of(memory) == before
    derived = [m for one in await store.list_episodes() for m in one.messages if m.provenance is not None]
    assert len(derived) == 2
    assert {one.provenance.source for one in derived if one.provenance is not None} == {"derived"}


async def test_across_processes_admission_keeps_out_what_a_recall_elsewhere_has_served(
    open_store: OpenStore, kit: Any
) -> None:
    store = await open_store(space=kit.space)
    await filled(Memory(store, store.index, embedder=kit.embedder))
    before: dict[str, bool] | None = None
    for number in range(3):
        # A memory of its own each time, as in another process: what others have served is not known to it.
        recall = await Memory(store, store.index, embedder=kit.embedder).recall("Where does Ada work?")
        writing = Memory(store, store.index, embedder=kit.embedder)
        texts = as_hits(recall)
        assert texts
        said = [message(60 * number + 60 + place, text) for place, text in enumerate(texts)]
        report = await writing.ingest(said, admission=True)
        assert (report.echoes, report.failed) == (0, ())
        assert len(report.refused) > 0
        after = await facts_of(writing)
        assert before is None or after == before
        before = after
    assert len(before or {}) == 4


async def test_what_is_new_beside_an_echo_is_read() -> None:
    async with Memory.in_memory() as memory:
        await filled(memory)
        before = await facts_of(memory)
        recall = await memory.recall("Where does Ada work?")
        text = f"{recall.to_prompt()}\nSince Monday she also teaches sailing at the club."
        report = await memory.ingest([message(90, text)])
        new = set(await facts_of(memory)) - set(before)
        (fact,) = (await memory.store.get_facts(list(new))).values()
        assert fact.content == "Since Monday she also teaches sailing at the club."
        (stored,) = (await memory.store.get_messages(report.created["message"])).values()
        assert stored.content == text
        assert stored.provenance is None


async def test_a_sentence_whose_fact_was_closed_is_news_again() -> None:
    async with Memory.in_memory() as memory:
        await filled(memory)
        recall = await memory.recall("Where does Ada work?")
        (fact,) = [one for one in await memory.store.find_facts() if one.content == "Ada Berg works at Acme Corp now."]
        await memory.store.put_fact(fact.model_copy(update={"invalidated_by": "superseded"}))
        report = await memory.ingest([message(90, "Ada Berg works at Acme Corp now.", role="user")])
        assert recall.hits
        assert report.counts["fact"] == 1


async def test_nothing_is_read_from_a_message_that_says_it_is_derived() -> None:
    async with Memory.in_memory() as memory:
        provenance = Provenance(source="derived", created_at=START)
        report = await memory.ingest([message(0, "Ada Berg works at Acme Corp now.", provenance=provenance)])
        assert report.counts == {"message": 1, "episode": 1, "duplicate": 0, "failed": 0}
        assert report.echoes == 1


async def test_what_no_recall_has_served_is_read_as_ever() -> None:
    async with Memory.in_memory() as memory:
        await filled(memory)
        await memory.recall("Where does Ada work?", limit=1)
        report = await memory.ingest([message(90, "Ada Berg works at Umbrella Corp in Bergen now.")])
        assert (report.counts["fact"], report.echoes) == (1, 0)


async def test_the_oldest_are_forgotten_first() -> None:
    echoes = Echoes(most=2)
    for text in ("one apple falls", "two pears fall", "three plums fall"):
        echoes.remember(text)
    store = InMemoryStore("x")
    heard = await echoes.hear(
        [message(n, text) for n, text in enumerate(["One apple falls!", "Three plums fall."])], store=store
    )
    assert [one.echoes for one in heard] == [0, 1]


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_text_that_was_not_served_passes_to_the_last_character(served: str, text: str) -> None:
    async def hear() -> None:
        echoes = Echoes()
        echoes.remember(served)
        (heard,) = await echoes.hear([message(0, text)], store=InMemoryStore("x"))
        assert heard.message.content == text
        if not heard.echoes:
            assert heard.news is heard.message

    asyncio.run(hear())
