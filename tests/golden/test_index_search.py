from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from remembrancer.inmemory import InMemoryIndex, rank
from remembrancer.ports import Hit, MemoryIndex
from remembrancer.records import EmbeddingDimensionMismatchError

AREA = "cycgraph/index_search"

TOLERANCE = 1e-6


async def test_the_golden_search(case: Any, golden: Any, fixtures: Mapping[str, Any]) -> None:
    fixture, kind, options = fixtures[case["store"]], case.input["kind"], golden.snake_case(case.input["options"])
    query, expected_dimensions = case.input["embedding"], case.input["expectedDimensions"]
    lengths = {len(vector) for vector in _vectors(fixture).values()}
    if case.error or expected_dimensions is not None:
        store = await golden.filled(case["store"], fixture, dimensions=lengths.pop())
        index = InMemoryIndex(expected_dimensions=expected_dimensions)
        if case.error:
            search = _search(index, kind, query, options) if case["when"] == "search" else None
            if search is not None:
                await index.rebuild(store)
            with pytest.raises(EmbeddingDimensionMismatchError, match=case["when"]) as caught:
                await (search or index.rebuild(store))
            assert (caught.value.expected, caught.value.actual) == (case["expected"], case["actual"])
            return
        await index.rebuild(store)
        hits = await _search(index, kind, query, options)
    elif lengths == {len(query)} and all(map(any, [query, *_vectors(fixture).values()])):
        store = await golden.filled(case["store"], fixture)
        hits = await _search(store.index, kind, golden.padded(query), options)
    else:
        # No store takes empty, zero or mixed vectors; what to make of them is for the ranking to know.
        vectors = _vectors({kind: fixture[kind]})
        hits = rank(query, vectors.items(), **options)
    _assert_same(hits, case.expected)


async def _search(
    index: MemoryIndex, kind: str, embedding: Sequence[float], options: Mapping[str, Any]
) -> Sequence[Hit]:
    hits: Sequence[Hit] = await getattr(index, f"search_{kind}")(embedding, **options)
    return hits


def _vectors(fixture: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    records = [record for listed in fixture.values() for record in listed]
    return {record["id"]: record["embedding"] for record in records if record.get("embedding") is not None}


def _assert_same(hits: Sequence[Hit], expected: Sequence[tuple[str, float]]) -> None:
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=TOLERANCE)
    # Scores that differ by no more than float32 can tell may change places.
    wanted = dict(map(tuple, expected))
    assert {hit.id for hit in hits} == set(wanted)
    assert all(abs(hit.score - wanted[hit.id]) <= TOLERANCE for hit in hits)
