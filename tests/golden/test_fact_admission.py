"""Fact admission, by worked examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from remembrancer.lifecycle.admission import check_fact_admission
from remembrancer.records import EmbeddingSpace, RecordBatch
from remembrancer.testing import IndexedStore, OpenStore

AREA = "cycgraph/fact_admission"

SPACE = EmbeddingSpace(model="golden", dimensions=16)
OPTIONS = ("threshold", "tags", "limit")


@pytest.fixture(scope="module")
async def emptied(open_shared_store: OpenStore) -> IndexedStore:
    """One store for all cases, each of which empties it first."""
    return await open_shared_store(space=SPACE)


class TableEmbedder:
    """Looks vectors up by their texts, and remembers what it was asked."""

    model, dimensions = SPACE.model, SPACE.dimensions

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self._vectors = vectors
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.append(list(texts))
        return [self._vectors[text] for text in texts]


async def test_the_worked_example(case: Any, golden: Any, emptied: IndexedStore) -> None:
    given = case.input
    lengths = sorted({len(vector) for vector in vectors_in(given)})

    def laid_out(vector: Sequence[float]) -> list[float]:
        # A store keeps vectors of one length: those of different lengths, whose cosine is 0, lie side by side in it.
        return golden.padded([*[0.0] * sum(n for n in lengths if n < len(vector)), *vector], SPACE.dimensions)

    facts = []
    for fields in given["facts"]:
        vector = fields.get("embedding")
        if vector is not None:
            # Nor does it keep vectors without direction, whose cosine is 0: one that no text has stands for them.
            vector = laid_out(vector) if any(vector) else [*[0.0] * (SPACE.dimensions - 1), 1.0]
        facts.append(golden.record("facts", {**fields, "embedding": vector}, pad=False))
    await emptied.clear()
    await emptied.write(RecordBatch(facts=facts))
    table = given["vectors"]
    embedder = None if table is None else TableEmbedder({text: laid_out(vector) for text, vector in table.items()})
    options = {name: value for name, value in given["options"].items() if name in OPTIONS}
    assert options == given["options"]
    admission = await check_fact_admission(emptied, given["content"], embedder=embedder, **options)
    answer = {"admit": admission.is_admitted, "embedded": embedder.asked if embedder is not None else []}
    if not admission.is_admitted:
        answer |= {
            "reason": admission.reason,
            "matched": admission.matched_id,
            "similarity": pytest.approx(admission.similarity, rel=1e-6),
        }
    assert answer == case.expected


def vectors_in(given: Mapping[str, Any]) -> list[Sequence[float]]:
    stored = [fact["embedding"] for fact in given["facts"] if fact.get("embedding") is not None]
    return [*stored, *(given["vectors"] or {}).values()]
