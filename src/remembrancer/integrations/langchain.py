"""A retriever for LangChain's chains that recalls from a memory. Needs the extra `langchain`.

retriever = RemembrancerRetriever(memory=memory, limit=8)
documents = await retriever.ainvoke("Where does Alice work now?")
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, InstanceOf, PrivateAttr

from remembrancer.integrations.awaiting import Bridge
from remembrancer.memory import Memory
from remembrancer.retrieval.recall import Recall, RecallHit, RecallWeights
from remembrancer.sync import SyncMemory

__all__ = ["RemembrancerRetriever"]


class RemembrancerRetriever(BaseRetriever):
    """A `BaseRetriever` over an open memory: each hit of a recall is a document, best first.

    A document's text is the hit's; its id is that of the message or fact; its metadata has `kind` (`message` or
    `fact`), `score`, `speaker`, `at` (ISO, UTC), `episode_id` and `source_ids`.

    Over a `SyncMemory` all methods work everywhere; over a `Memory` use `ainvoke` and the like.

    Attributes:
        memory: Where it recalls from.
        limit: The most documents, 1 to 1,000.
        valid_at: Facts that held, and messages that had been said, at this instant; by default now.
        believed_at: Only what had been recorded by this instant.
        include_invalidated: Closed facts too.
        whole_messages: Messages whole, not their most telling sentences.
        weights: How evidence is scored; by default as `Memory.recall`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: InstanceOf[Memory] | InstanceOf[SyncMemory]
    limit: int = 20
    valid_at: dt.datetime | None = None
    believed_at: dt.datetime | None = None
    include_invalidated: bool = False
    whole_messages: bool = False
    weights: RecallWeights | None = None

    _bridge: Bridge = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Remember where the memory lives."""
        super().model_post_init(context)
        self._bridge = Bridge(self.memory)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if isinstance(self.memory, SyncMemory):
            return _documents(self.memory.recall(query, **self._options()))
        memory = self.memory
        return _documents(self._bridge.block(lambda: memory.recall(query, **self._options())))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if isinstance(self.memory, Memory):
            return _documents(await self.memory.recall(query, **self._options()))
        return await super()._aget_relevant_documents(query, run_manager=run_manager)

    def _options(self) -> dict[str, Any]:
        return {
            "limit": self.limit,
            "valid_at": self.valid_at,
            "believed_at": self.believed_at,
            "include_invalidated": self.include_invalidated,
            "whole_messages": self.whole_messages,
            "weights": self.weights,
        }


def _documents(recall: Recall) -> list[Document]:
    return [_document(hit) for hit in recall.hits]


def _document(hit: RecallHit) -> Document:
    return Document(
        id=hit.id,
        page_content=hit.text,
        metadata={
            "kind": hit.kind,
            "score": hit.score,
            "speaker": hit.speaker,
            "at": hit.at.isoformat(),
            "episode_id": hit.episode_id,
            "source_ids": list(hit.source_ids),
        },
    )
