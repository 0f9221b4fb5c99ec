"""Passes that meet on one memory: each record is changed once, nothing is lost, nothing comes back."""

from __future__ import annotations

import asyncio

from remembrancer.lifecycle import ConflictDetector, EntityResolver
from remembrancer.records import RecordBatch
from remembrancer.testing import OpenStore
from remembrancer.testing.samples import day, entity, fact, relationship, sample_id


async def test_two_resolvers_and_a_writer_leave_one_entity_and_lose_no_change(open_store: OpenStore) -> None:
    store = await open_store()
    await store.write(
        RecordBatch(
            entities=[entity(n, name="Acme", created_at=day(n)) for n in range(1, 5)],
            relationships=[relationship(n, n, 9) for n in range(1, 5)],
            facts=[fact(n, entities=[n]) for n in range(1, 5)],
        )
    )

    async def write() -> None:
        for n in range(1, 5):
            stored = await store.get_fact(sample_id("fact", n))
            assert stored is not None
            await store.put_fact(fact(n + 10, entities=[1], content=f"later {n}"))

    reports = await asyncio.gather(EntityResolver(store).resolve(), EntityResolver(store).resolve(), write())
    done = [report for report in reports if report is not None and report.pass_id is not None]
    assert [report.entities_absorbed for report in done] == [3]
    assert [one.id for one in await store.find_entities()] == [sample_id("entity", 1)]
    facts = await store.find_facts(limit=100)
    assert len(facts) == 8
    assert {one.entity_ids for one in facts} == {(sample_id("entity", 1),)}
    assert len(await store.get_relationships_for_entity(sample_id("entity", 1))) == 1


async def test_two_detectors_close_each_loser_once(open_store: OpenStore) -> None:
    store = await open_store()
    facts = [
        fact(n, entities=[n // 2], content=f"City of Bob is C{n // 2}", valid_from=day(n * 5)) for n in range(2, 12)
    ]
    await store.write(RecordBatch(facts=facts))

    async def resolve() -> int:
        detector = ConflictDetector(store, store.index, policy="supersede-on-newer")
        return (await detector.auto_resolve_all(await detector.detect())).resolved

    await asyncio.gather(resolve(), resolve())
    marks = {one.id: one.invalidated_by for one in await store.find_facts(include_invalidated=True)}
    expected = {facts[n].id: facts[n + 1].id for n in range(0, 10, 2)} | {facts[n].id: None for n in range(1, 10, 2)}
    assert marks == expected
