from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from remembrancer.ports import MemoryStore, RetrievesMemory
from remembrancer.records import EmbeddingDimensionMismatchError, Fact, InvalidInputError, MemoryQuery
from remembrancer.records.base import build
from remembrancer.retrieval import retrieve_memory, retrieve_memory_plain

AREA = "cycgraph/retrieve_memory"

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
TOLERANCE = 1e-6
KINDS = ("themes", "facts", "episodes", "entities", "relationships")


async def test_the_golden_retrieval(case: Any, golden: Any, fixtures: Mapping[str, Any]) -> None:
    if case.error:
        with pytest.raises(InvalidInputError):
            build(MemoryQuery, **golden.snake_case(case.input))
        return
    fixture = fixtures[case["store"]]
    store = await golden.filled(case["store"], fixture)
    query = build(MemoryQuery, **_padded(golden, case.input))
    if query.embedding is not None and not any(query.embedding):
        # A vector without a direction is near nothing; stores refuse to search with it.
        with pytest.raises((InvalidInputError, EmbeddingDimensionMismatchError)):
            await retrieve_memory(store, store.index, query)
        return
    before = await _usage(store, fixture)
    result = await retrieve_memory(store, store.index, query, filter_first=False, clock=lambda: NOON)
    after = await _usage(store, fixture)
    _assert_same(result, case.expected)
    assert sorted(_touched(before, after)) == sorted(case.expected.get("touched", case.expected["facts"]))
    if not isinstance(store, RetrievesMemory):
        # A store that answers itself is compared with the plain way by the retrieval contract.
        _assert_same(await retrieve_memory_plain(store, store.index, query, filter_first=False), case.expected)


def _padded(golden: Any, query: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = golden.snake_case(query)
    if named.get("embedding"):
        named["embedding"] = golden.padded(named["embedding"])
    return named


def _assert_same(result: Any, expected: Mapping[str, Any]) -> None:
    found = {kind: [record.id for record in getattr(result, kind)] for kind in KINDS}
    assert found == {kind: expected[kind] for kind in KINDS}
    if expected["scores"] is None:
        assert result.scores is None
    else:
        assert result.scores == pytest.approx(expected["scores"], abs=TOLERANCE)


async def _usage(store: MemoryStore, fixture: Mapping[str, Any]) -> dict[str, Fact]:
    await store.flush_usage()
    return await store.get_facts([fact["id"] for fact in fixture.get("facts", [])])


def _touched(before: Mapping[str, Fact], after: Mapping[str, Fact]) -> Sequence[str]:
    return [
        fact_id
        for fact_id, fact in after.items()
        if (fact.access_count or 0) == (before[fact_id].access_count or 0) + 1 and fact.last_accessed_at == NOON
    ]
