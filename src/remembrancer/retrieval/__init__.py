"""Retrieval: what a memory answers, by similarity, by a walk over its graph, or by tags."""

from remembrancer.retrieval.lookup import batch_get_fallback
from remembrancer.retrieval.memory import retrieve_memory, retrieve_memory_plain
from remembrancer.retrieval.subgraph import (
    DEFAULT_MAX_SUBGRAPH_ENTITIES,
    MAX_HOPS,
    extract_subgraph,
    extract_subgraph_plain,
)
from remembrancer.retrieval.warming import warm_up

__all__ = [
    "DEFAULT_MAX_SUBGRAPH_ENTITIES",
    "MAX_HOPS",
    "batch_get_fallback",
    "extract_subgraph",
    "extract_subgraph_plain",
    "retrieve_memory",
    "retrieve_memory_plain",
    "warm_up",
]
