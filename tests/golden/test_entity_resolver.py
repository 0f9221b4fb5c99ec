"""Entity resolution, by worked examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from remembrancer.lifecycle.resolution import EntityResolver, ResolutionReport
from remembrancer.ports import MemoryStore
from remembrancer.records import EmbeddingSpace, RecordBatch, normalize_entity_name
from remembrancer.records.audit import comparable
from remembrancer.records.instant import parse_instant
from remembrancer.testing import IndexedStore, OpenStore

AREA = "cycgraph/entity_resolver"

NOW = parse_instant("2026-03-01T12:00:00Z")
SPACE = EmbeddingSpace(model="golden", dimensions=8)
KINDS = ("entities", "relationships", "facts")


@pytest.fixture(scope="module")
async def emptied(open_shared_store: OpenStore) -> IndexedStore:
    """One store for all cases, each of which empties it first."""
    return await open_shared_store(space=SPACE)


async def test_the_worked_example(case: Any, golden: Any, emptied: IndexedStore) -> None:
    if case.fn == "normalize_entity_name":
        assert normalize_entity_name(case.input["name"]) == case.expected
        return
    await emptied.clear()
    await emptied.write(RecordBatch(**as_records(golden, case.input)))
    resolver = EntityResolver(emptied, clock=lambda: NOW, **golden.snake_case(case.input["options"]))
    before = await everything_in(emptied)
    tried = await resolver.resolve(dry_run=True)
    assert await everything_in(emptied) == before
    assert as_plain(await resolver.resolve()) == as_plain(tried) == case.expected["report"]
    assert await everything_in(emptied) == {
        kind: [comparable(record) for record in sorted(records, key=lambda record: record.id)]
        for kind, records in as_records(golden, case.expected).items()
    }
    second = await resolver.resolve()
    assert as_plain(second) == case.expected.get("second", as_plain(ResolutionReport()))


def as_records(golden: Any, listed: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {kind: [as_record(golden, kind, fields) for fields in listed.get(kind, [])] for kind in KINDS}


def as_record(golden: Any, kind: str, fields: Mapping[str, Any]) -> Any:
    embedding = fields.get("embedding")
    padded = None if embedding is None else golden.padded(embedding, SPACE.dimensions)
    return golden.record(kind, {**fields, "embedding": padded}, pad=False)


async def everything_in(store: MemoryStore) -> dict[str, Sequence[Any]]:
    entities = await store.find_entities(include_invalidated=True, limit=1_000)
    facts = await store.find_facts(include_invalidated=True, limit=1_000)
    named = {entity.id for entity in entities} | {one for fact in facts for one in fact.entity_ids}
    edges = {}
    for entity_id in named:
        for edge in await store.get_relationships_for_entity(entity_id, include_invalidated=True):
            edges[edge.id] = edge
    found = {"entities": entities, "relationships": list(edges.values()), "facts": facts}
    return {kind: [comparable(one) for one in sorted(held, key=lambda one: one.id)] for kind, held in found.items()}


def as_plain(report: ResolutionReport) -> dict[str, int]:
    return {
        "groupsMerged": report.groups_merged,
        "entitiesAbsorbed": report.entities_absorbed,
        "factsRewritten": report.facts_rewritten,
        "relationshipsRewritten": report.relationships_rewritten,
        "relationshipsDropped": report.relationships_dropped,
    }
