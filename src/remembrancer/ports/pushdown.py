"""What a store may do itself, far better than step by step from outside.

The domain asks with `isinstance` and falls back to its own plain version, which stays the reference: one contract
suite demands equal answers of both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from remembrancer.records import MemoryQuery, MemoryResult, Subgraph


@runtime_checkable
class ExtractsSubgraphs(Protocol):
    """A store that walks its graph itself."""

    async def extract_subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int,
        valid_at: dt.datetime | None,
        relation_types: Sequence[str],
        include_invalidated: bool,
        max_entities: int,
    ) -> Subgraph:
        """The walk of `remembrancer.retrieval.extract_subgraph`, in one statement and one wire trip."""
        ...


@runtime_checkable
class RetrievesMemory(Protocol):
    """A store that answers a whole memory query itself."""

    async def retrieve(self, query: MemoryQuery, *, filter_first: bool) -> MemoryResult:
        """The answer of `remembrancer.retrieval.retrieve_memory`, in one statement and one wire trip.

        Usage is not counted here.
        """
        ...
