"""Conflict detection and resolution, by worked examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from remembrancer.lifecycle.conflict import Conflict, ConflictingFact
from remembrancer.lifecycle.conflicts import ConflictDetector
from remembrancer.lifecycle.words import contains_negation, word_overlap
from remembrancer.records import EmbeddingSpace, Fact, RecordBatch
from remembrancer.testing import IndexedStore, OpenStore

AREA = "cycgraph/conflicts"

SPACE = EmbeddingSpace(model="golden", dimensions=16)
ON_TEXT = ("contains_negation", "word_overlap")


@pytest.fixture(scope="module")
async def emptied(open_shared_store: OpenStore) -> IndexedStore:
    """One store for all cases, each of which empties it first."""
    return await open_shared_store(space=SPACE)


async def test_the_worked_example(case: Any, golden: Any, emptied: IndexedStore) -> None:
    if case.fn in ON_TEXT:
        assert on_text(case.fn, case.input) == case.expected
        return
    store = emptied
    await store.clear()
    facts = as_facts(golden, case.input["facts"])
    await store.write(RecordBatch(facts=facts))
    assert await ANSWERS[case.fn](store, facts, golden, case.input) == case.expected


def on_text(fn: str, given: dict[str, str]) -> Any:
    if fn == "contains_negation":
        return contains_negation(given["text"])
    overlaps = {
        "overlap": word_overlap(given["a"], given["b"]),
        "overlap_without_negation": word_overlap(given["a"], given["b"], with_negation=False),
    }
    return pytest.approx(overlaps, abs=1e-12)


async def detect_conflicts(
    store: IndexedStore, facts: Sequence[Fact], golden: Any, given: dict[str, Any]
) -> dict[str, Any]:
    options = golden.snake_case(given["options"])
    if given["only"] is None:
        conflicts = await detected(store, facts, options)
    else:
        only = [fact for fact in facts if fact.id in given["only"]]
        conflicts = await ConflictDetector(store, store.index, **options).detect(only)
    return {"conflicts": as_plain(conflicts), "invalidated": await closed_since(store, facts)}


async def detected(store: IndexedStore, facts: Sequence[Fact], options: dict[str, Any]) -> list[Conflict]:
    """What the detector finds in the whole store, in the order of the file.

    The recorded answers list facts in the order of the file, stores by time and id. Where the two differ, the same
    conflicts must be found in the whole store, and in the recorded order among the facts in theirs.
    """
    if [fact.id for fact in facts] == [fact.id for fact in await store.find_facts(include_invalidated=True)]:
        return await ConflictDetector(store, store.index, **options).detect()
    untouched = {**options, "auto_resolve_supersession": False}
    everywhere = await ConflictDetector(store, store.index, **untouched).detect()
    taking_part = [fact for fact in facts if not fact.is_quarantined]
    conflicts = await ConflictDetector(store, store.index, **options).detect(taking_part)
    assert unordered(everywhere) == unordered(conflicts)
    return conflicts


async def auto_resolve_all(
    store: IndexedStore, facts: Sequence[Fact], golden: Any, given: dict[str, Any]
) -> dict[str, Any]:
    options = golden.snake_case(given["options"])
    detector = ConflictDetector(store, store.index, **options)
    conflicts = await detected(store, facts, options)
    before = await closed_since(store, facts)
    tried = await detector.auto_resolve_all(conflicts, given["policy"], dry_run=True)
    assert await closed_since(store, facts) == before
    report = await detector.auto_resolve_all(conflicts, given["policy"])
    assert tried == report.model_copy(update={"pass_id": None})
    return {
        "conflicts": as_plain(conflicts),
        "report": {
            "resolved": report.resolved,
            "skipped": report.skipped,
            "actions": [detail.action for detail in report.details],
        },
        "invalidated": await closed_since(store, facts),
    }


async def resolve_conflict(
    store: IndexedStore, facts: Sequence[Fact], golden: Any, given: dict[str, Any]
) -> dict[str, Any]:
    sides = {fact.id: ConflictingFact(id=fact.id, content=fact.content, valid_from=fact.valid_from) for fact in facts}
    conflict = Conflict(kind="negation", confidence=0.8, a=sides[given["a"]], b=sides[given["b"]])
    await ConflictDetector(store, store.index).resolve_conflict(conflict, given["resolution"])
    return {"invalidated": await closed_since(store, facts)}


ANSWERS = {
    "detect_conflicts": detect_conflicts,
    "auto_resolve_all": auto_resolve_all,
    "resolve_conflict": resolve_conflict,
}


def as_facts(golden: Any, listed: Sequence[dict[str, Any]]) -> list[Fact]:
    """The facts, with vectors of one length: those of different lengths, whose cosine is 0, side by side in it."""
    lengths = sorted({len(fields["embedding"]) for fields in listed if fields.get("embedding") is not None})
    facts = []
    for fields in listed:
        embedding = fields.get("embedding")
        if embedding is not None:
            before = [0.0] * sum(length for length in lengths if length < len(embedding))
            embedding = golden.padded([*before, *embedding], SPACE.dimensions)
        facts.append(golden.record("facts", {**fields, "embedding": embedding}, pad=False))
    return facts


def as_plain(conflicts: Sequence[Conflict]) -> list[dict[str, Any]]:
    return [{"a": one.a.id, "b": one.b.id, "type": one.kind, "confidence": one.confidence} for one in conflicts]


def unordered(conflicts: Sequence[Conflict]) -> set[tuple[frozenset[str], str, float]]:
    return {(frozenset((one.a.id, one.b.id)), one.kind, one.confidence) for one in conflicts}


async def closed_since(store: IndexedStore, facts: Sequence[Fact]) -> dict[str, str | None]:
    marks = {fact.id: fact.invalidated_by for fact in facts}
    stored = await store.get_facts(list(marks))
    return {one: fact.invalidated_by for one, fact in stored.items() if fact.invalidated_by != marks[one]}
