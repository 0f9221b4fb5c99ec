"""The retriever for LangChain: documents are the hits of a recall."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import ValidationError

from remembrancer import InvalidInputError, Memory, RemembranceError, SyncMemory
from remembrancer.integrations.langchain import RemembrancerRetriever

MESSAGES = [
    {"role": "user", "speaker": "Ada", "content": "The boat lies at the north pier.", "timestamp": "2026-01-05T09:00Z"},
    {"role": "user", "speaker": "Bo", "content": "My dog is called Rex.", "timestamp": "2026-02-05T09:00Z"},
]


@pytest.fixture
async def memory() -> AsyncIterator[Memory]:
    async with Memory.in_memory() as opened:
        await opened.ingest(MESSAGES)
        yield opened


async def test_documents_are_the_hits_of_a_recall(memory: Memory) -> None:
    documents = await RemembrancerRetriever(memory=memory, limit=5).ainvoke("Where is the boat?")
    hits = (await memory.recall("Where is the boat?", limit=5)).hits
    assert [document.id for document in documents] == [hit.id for hit in hits]
    best = documents[0]
    assert "north pier" in best.page_content
    assert best.metadata == {
        "kind": hits[0].kind,
        "score": hits[0].score,
        "speaker": hits[0].speaker,
        "at": "2026-01-05T09:00:00+00:00",
        "episode_id": hits[0].episode_id,
        "source_ids": list(hits[0].source_ids),
    }


async def test_its_options_are_those_of_recall(memory: Memory) -> None:
    retriever = RemembrancerRetriever(memory=memory, valid_at="2026-01-10T00:00Z")
    assert await retriever.ainvoke("What is the dog called?") == []
    with pytest.raises(InvalidInputError, match="limit"):
        await RemembrancerRetriever(memory=memory, limit=0).ainvoke("boat")


async def test_it_stands_in_a_chain(memory: Memory) -> None:
    def joined(documents: Any) -> str:
        return "\n".join(document.page_content for document in documents)

    retriever = RemembrancerRetriever(memory=memory, limit=1)
    prompt = ChatPromptTemplate.from_template("Known: {known}\nAsked: {question}")
    chain = {"known": retriever | joined, "question": RunnablePassthrough()} | prompt | RunnableLambda(str)
    assert "north pier" in await chain.ainvoke("Where is the boat?")


def test_over_a_blocking_memory_both_forms_work() -> None:
    with SyncMemory.in_memory() as memory:
        memory.ingest(MESSAGES)
        retriever = RemembrancerRetriever(memory=memory)
        found = retriever.invoke("Where is the boat?")
        assert found
        assert [one.id for one in asyncio.run(retriever.ainvoke("Where is the boat?"))] == [one.id for one in found]


async def test_a_blocking_call_on_the_memorys_own_loop_is_refused(memory: Memory) -> None:
    retriever = RemembrancerRetriever(memory=memory)
    assert await asyncio.to_thread(retriever.invoke, "boat")
    with pytest.raises(RemembranceError, match="leading a"):
        retriever.invoke("boat")


def test_only_a_memory_is_taken() -> None:
    with pytest.raises(ValidationError, match="memory"):
        RemembrancerRetriever(memory="neo4j://localhost")
