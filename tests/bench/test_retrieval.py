"""Whole retrieval runs, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from remembrancer import Memory
from remembrancer.bench import BASELINES, FactSource, RetrievalReport, read_retrieval_set, run_retrieval
from remembrancer.bench.facts import ReferenceExtractor
from remembrancer.bench.retrieval import steps_of
from remembrancer.ports import Embedder, Extractor
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import InvalidInputError

Data = dict[str, Any]
Write = Callable[[Data], Path]


@asynccontextmanager
async def opened(name: str, embedder: Embedder, extractor: Extractor | None) -> AsyncIterator[Memory]:
    async with Memory.in_memory(namespace=f"bench-{name}", embedder=embedder, extractor=extractor) as memory:
        yield memory


async def measured(file: Path, **options: Any) -> RetrievalReport:
    return await run_retrieval(read_retrieval_set(file), opened, embedder=HashingEmbedder(), **options)


async def test_data_with_facts_is_measured_by_its_turns_alone_unless_told_otherwise(
    write: Write, conversations: Data
) -> None:
    report = await measured(write(conversations))
    assert report.facts is FactSource.NONE
    assert report.stored["message"] == 4
    assert "fact" not in report.stored
    assert {len(item.source_ids) for items in report.runs["remembrancer"].values() for item in items} == {1}


async def test_data_without_facts_is_measured_with_the_default_extractor(write: Write, paragraphs: Data) -> None:
    report = await measured(write(paragraphs))
    assert report.facts is FactSource.RULES
    assert report.stored["fact"] > 0


async def test_reference_facts_are_stored_citing_the_messages_of_their_turns(write: Write, conversations: Data) -> None:
    report = await measured(write(conversations), facts=FactSource.REFERENCE)
    assert report.stored["fact"] == 2
    material = read_retrieval_set(write(conversations)).materials[0]
    messages = [source.message for source in material.sources]
    async with opened(material.id, HashingEmbedder(), ReferenceExtractor(material)) as memory:
        facts = []
        for message in messages:  # one by one: a fact has to wait for the last message that it cites
            taken_in = await memory.ingest([message])
            facts += [await memory.store.get_fact(fact_id) for fact_id in taken_in.created.get("fact", ())]
    cited = {fact.content: set(fact.source_message_ids) for fact in facts if fact is not None}
    assert cited == {
        "Nils owns a kayak that is red.": {messages[0].id},
        "Nils and Oda met on 2 May 2024.": {messages[0].id, messages[1].id},
    }


async def test_reference_facts_of_data_without_are_refused(write: Write, paragraphs: Data) -> None:
    with pytest.raises(InvalidInputError, match="'islands' has no facts of its own"):
        await measured(write(paragraphs), facts=FactSource.REFERENCE)


async def test_evidence_is_found_by_the_memory_and_by_every_baseline(write: Write, conversations: Data) -> None:
    report = await measured(write(conversations))
    assert tuple(report.scores) == ("remembrancer", *BASELINES)
    for groups in report.scores.values():
        assert set(groups) == {"all", "answerable", "adversarial", "single-hop"}
        assert groups["all"].questions == 3
        assert groups["all"].within[500] == 1.0
    assert len(report.recall_seconds) == 3


async def test_whole_messages_are_shown_whole(write: Write, conversations: Data) -> None:
    turn = conversations["conversations"][0]["sessions"][0]["turns"][0]
    turn["text"] += " The weather was mild. My cousin Ravn wants to paint the garden fence before winter comes."
    cut = await measured(write(conversations))
    whole = await measured(write(conversations), whole=True)
    assert turn["text"] not in cut.runs["remembrancer"]["7/Q1"][0].text
    assert turn["text"] in whole.runs["remembrancer"]["7/Q1"][0].text


async def test_progress_tells_of_every_message_and_question_and_never_goes_back(
    write: Write, conversations: Data
) -> None:
    told: list[int] = []
    await measured(write(conversations), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == steps_of(read_retrieval_set(write(conversations))) == 7


async def test_a_text_is_embedded_once_in_a_run(write: Write, conversations: Data) -> None:
    embedded: list[str] = []

    class Counting(HashingEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            embedded.extend(texts)
            return await super().embed(texts)

    data = read_retrieval_set(write(conversations))
    await run_retrieval(data, opened, embedder=Counting())
    assert len(embedded) == len(set(embedded))
    assert "Nils: I bought a red kayak at the harbour market." in embedded
