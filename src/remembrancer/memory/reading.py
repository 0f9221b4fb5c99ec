"""Reading a memory: recall, structured retrieval, walks, and single records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from remembrancer.memory.serving import ServingMemory
from remembrancer.records import (
    Entity,
    Episode,
    Fact,
    MemoryQuery,
    MemoryResult,
    Message,
    Relationship,
    Subgraph,
    Theme,
)
from remembrancer.records.key import require_id
from remembrancer.retrieval import DEFAULT_MAX_SUBGRAPH_ENTITIES, extract_subgraph, retrieve_memory
from remembrancer.retrieval.recall import Recall, RecallWeights, recall

AnyRecord = Message | Episode | Fact | Theme | Entity | Relationship


class Reading(ServingMemory):
    """The methods of `Memory` that change nothing but usage counts."""

    async def recall(
        self,
        text: str,
        *,
        limit: int = 20,
        valid_at: dt.datetime | None = None,
        believed_at: dt.datetime | None = None,
        include_invalidated: bool = False,
        whole_messages: bool = False,
        weights: RecallWeights | None = None,
        run_id: str | None = None,
    ) -> Recall:
        """Find what speaks to a question, best evidence first, in one trip to the database.

        Args:
            text: What to look for, in the user's words. Never read as query syntax.
            limit: The most hits, 1 to 1,000.
            valid_at: Facts that held, and messages that had been said, at this instant; by default now.
            believed_at: Only what had been recorded by this instant.
            include_invalidated: Closed facts too.
            whole_messages: Show messages whole, not their most telling sentences.
            weights: How evidence is scored; by default what `remembrancer.retrieval.recall` holds as fit.
            run_id: The run that it is for; the facts among the hits are recorded as served to it, for `record_outcome`.

        Raises:
            InvalidInputError: An argument is wrong; names it.
            ServerUnavailableError: The database or the embedder could not be reached; worth trying again.
        """
        register = self._register_for(run_id)
        answer = await recall(
            self.store,
            text,
            embedder=self.embedder,
            limit=limit,
            valid_at=valid_at,
            believed_at=believed_at,
            include_invalidated=include_invalidated,
            whole_messages=whole_messages,
            weights=weights,
            clock=self._clock,
        )
        await self._serve(register, run_id, (hit.id for hit in answer.hits if hit.kind == "fact"))
        self._echoes.serve(answer.hits)
        return answer

    async def retrieve(self, query: MemoryQuery, *, filter_first: bool = True) -> MemoryResult:
        """Answer a structured query; see `remembrancer.retrieval.retrieve_memory`."""
        return await retrieve_memory(
            self.store, self.index, query, filter_first=filter_first, embedder=self.embedder, clock=self._clock
        )

    async def subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int = 2,
        valid_at: dt.datetime | None = None,
        relation_types: Sequence[str] = (),
        include_invalidated: bool = False,
        max_entities: int = DEFAULT_MAX_SUBGRAPH_ENTITIES,
        believed_at: dt.datetime | None = None,
    ) -> Subgraph:
        """Walk from some entities along their relationships; see `remembrancer.retrieval.extract_subgraph`."""
        return await extract_subgraph(
            self.store,
            seeds,
            max_hops=max_hops,
            valid_at=valid_at,
            relation_types=relation_types,
            include_invalidated=include_invalidated,
            max_entities=max_entities,
            believed_at=believed_at,
        )

    async def get(self, record_id: str) -> AnyRecord | None:
        """The record with this id, of whatever kind; `None` when there is none.

        Raises:
            InvalidInputError: Not an id.
        """
        wanted = require_id(record_id, field="record_id")
        store = self.store
        found: AnyRecord | None = await store.get_fact(wanted)
        found = found or await store.get_entity(wanted) or await store.get_episode(wanted)
        found = found or await store.get_message(wanted) or await store.get_theme(wanted)
        return found or await store.get_relationship(wanted)
