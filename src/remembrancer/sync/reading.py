"""Reading a memory, blocking: the twin of `remembrancer.memory.reading`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from remembrancer.memory import AnyRecord
from remembrancer.records import MemoryQuery, MemoryResult, Subgraph
from remembrancer.retrieval import DEFAULT_MAX_SUBGRAPH_ENTITIES
from remembrancer.retrieval.recall import Recall, RecallWeights
from remembrancer.sync.base import SyncMemoryBase


class SyncReading(SyncMemoryBase):
    """The methods of `SyncMemory` that change nothing but usage counts."""

    def recall(
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
        """Find what speaks to a question, best evidence first, as `Memory.recall`."""
        return self.run(
            self._memory.recall,
            text,
            limit=limit,
            valid_at=valid_at,
            believed_at=believed_at,
            include_invalidated=include_invalidated,
            whole_messages=whole_messages,
            weights=weights,
            run_id=run_id,
        )

    def retrieve(self, query: MemoryQuery, *, filter_first: bool = True) -> MemoryResult:
        """Answer a structured query, as `Memory.retrieve`."""
        return self.run(self._memory.retrieve, query, filter_first=filter_first)

    def subgraph(
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
        """Walk from some entities along their relationships, as `Memory.subgraph`."""
        return self.run(
            self._memory.subgraph,
            seeds,
            max_hops=max_hops,
            valid_at=valid_at,
            relation_types=relation_types,
            include_invalidated=include_invalidated,
            max_entities=max_entities,
            believed_at=believed_at,
        )

    def get(self, record_id: str) -> AnyRecord | None:
        """The record with this id, as `Memory.get`."""
        return self.run(self._memory.get, record_id)
