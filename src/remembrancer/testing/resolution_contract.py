"""The contract of entity resolution over every store; see `remembrancer.testing` for how to run it over your own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import EntityResolver, ResolutionPlan, ResolutionReport, apply_plan, plan_undo
from remembrancer.lifecycle.namesakes import PlainNamesakes, namesakes_of
from remembrancer.ports import MemoryStore
from remembrancer.records import Entity, Fact, PlanOutdatedError, RecordBatch, Relationship
from remembrancer.records.audit import comparable
from remembrancer.records.statement import Statement
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import SPACE, day, direction, entity, fact, relationship, sample_id

__all__ = ["TestEntityResolution"]

_NAMES = ("Acme", "acme.", "The Acme", "ACME", "Straße", "STRASSE", "!!!", "Bob")
_MOST = 7


@st.composite
def _memories(draw: st.DrawFn) -> RecordBatch:
    """Entities of which many share a name, with facts and edges at them; some are closed."""
    entities = [
        entity(
            n,
            name=draw(st.sampled_from(_NAMES)),
            entity_type=draw(st.sampled_from(("organization", "organization", "person"))),
            attributes=draw(st.dictionaries(st.sampled_from("ab"), st.integers(0, 3), max_size=2)),
            embedding=draw(st.sampled_from((None, direction(10 * n)))),
            created_at=day(draw(st.integers(0, 2))),
            invalidated_at=draw(st.sampled_from((None, None, None, day(5)))),
        )
        for n in range(draw(st.integers(2, _MOST)))
    ]
    ends = st.integers(0, _MOST)
    edges = [
        relationship(
            n,
            draw(ends),
            draw(ends),
            relation_type=draw(st.sampled_from(("use", "own"))),
            valid_from=day(start := draw(st.integers(0, 4))),
            valid_until=draw(st.sampled_from((None, day(start), day(start + 2)))),
            invalidated_by=draw(st.sampled_from((None, None, None, sample_id("relationship", 99)))),
        )
        for n in range(draw(st.integers(0, 8)))
    ]
    facts = [
        fact(
            n,
            entities=draw(st.lists(ends, max_size=3)),
            invalidated_by=draw(st.sampled_from((None, None, "old"))),
            tags=draw(st.sampled_from(((), ("quarantined",)))),
        )
        for n in range(draw(st.integers(0, 6)))
    ]
    return RecordBatch(entities=entities, relationships=edges, facts=facts)


def _shape(planned: ResolutionPlan) -> list[Any]:
    """What a plan does, without the stamps of the store."""
    told: list[Any] = [planned.report]
    for change in planned.plan.changes:
        told.append((change.record_id, change.reason, change.superseded_by))
        told.append(None if change.after is None else comparable(change.after))
    return [*told, *(comparable(one) for one in planned.plan.seen)]


async def _everything(store: MemoryStore) -> dict[str, Any]:
    records: list[Entity | Fact | Relationship] = []
    entities = await store.find_entities(include_invalidated=True, limit=1_000)
    facts = await store.find_facts(include_invalidated=True, limit=1_000)
    edges = {}
    for entity_id in {sample_id("entity", n) for n in range(_MOST + 1)}:
        for edge in await store.get_relationships_for_entity(entity_id, include_invalidated=True):
            edges[edge.id] = edge
    records = [*entities, *facts, *edges.values()]
    return {record.id: comparable(record) for record in records}


class TestEntityResolution:
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(memory=_memories(), mode=st.sampled_from(("soft", "hard")))
    async def test_a_plan_is_that_of_the_store_in_memory_and_a_second_run_finds_nothing(
        self, open_store: OpenStore, memory: RecordBatch, mode: Any
    ) -> None:
        store, twin = await open_store(space=SPACE), InMemoryStore(space=SPACE)
        plans = []
        for one in (store, twin):
            await one.write(memory)
            plans.append(await EntityResolver(one, delete_mode=mode, clock=lambda: day(9)).plan())
        assert _shape(plans[0]) == _shape(plans[1])
        report = await EntityResolver(store, delete_mode=mode).resolve()
        assert report.model_copy(update={"pass_id": None}) == plans[0].report
        assert (report.pass_id is None) == plans[0].plan.is_empty
        assert await EntityResolver(store, delete_mode=mode).resolve() == ResolutionReport()

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(memory=_memories(), data=st.data())
    async def test_the_order_in_which_records_came_is_of_no_matter(
        self, open_store: OpenStore, memory: RecordBatch, data: st.DataObject
    ) -> None:
        shapes = []
        for _ in range(2):
            store = await open_store(space=SPACE)
            mixed: dict[str, Any] = {
                kind: data.draw(st.permutations(getattr(memory, kind)))
                for kind in ("entities", "relationships", "facts")
            }
            await store.write(RecordBatch(**mixed))
            shapes.append(_shape(await EntityResolver(store, batch_size=2, clock=lambda: day(9)).plan()))
        assert shapes[0] == shapes[1]

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(memory=_memories())
    async def test_both_ways_of_looking_see_the_same(self, open_store: OpenStore, memory: RecordBatch) -> None:
        store = await open_store(space=SPACE)
        await store.write(memory)
        plain, best = PlainNamesakes(store, page=2), namesakes_of(store, page=3)
        groups = [{frozenset(one.id for one in group) for group in await look.groups()} for look in (plain, best)]
        assert groups[0] == groups[1]
        ids = [sample_id("entity", n) for n in range(_MOST + 1)]
        ends = [(source, target, "use") for source in ids for target in ids]
        assert await plain.facts_naming(ids) == await best.facts_naming(ids)
        assert await plain.relationships_at(ids[:3]) == await best.relationships_at(ids[:3])
        assert await plain.relationships_between(ends) == await best.relationships_between(ends)

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(memory=_memories())
    async def test_undone_it_leaves_what_was_before(self, open_store: OpenStore, memory: RecordBatch) -> None:
        store = await open_store(space=SPACE)
        await store.write(memory)
        before = await _everything(store)
        report = await EntityResolver(store).resolve()
        if report.pass_id is not None:
            await apply_plan(store, await plan_undo(store, report.pass_id))
        assert await _everything(store) == before

    async def test_looking_writes_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(1, name="Acme"), entity(2, name="acme")]))
        before = await _everything(store)
        report = await EntityResolver(store).resolve(dry_run=True)
        assert (report.groups_merged, report.pass_id) == (1, None)
        assert await _everything(store) == before

    async def test_a_plan_from_before_a_change_is_refused(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(entities=[entity(1, name="Acme"), entity(2, name="acme")], facts=[fact(1, entities=[2])])
        )
        planned = await EntityResolver(store).plan()
        await store.put_fact(fact(1, entities=[2], content="changed"))
        with pytest.raises(PlanOutdatedError):
            await apply_plan(store, planned.plan)
        report = await EntityResolver(store).resolve()
        changed = await store.get_fact(sample_id("fact", 1))
        assert changed is not None
        assert (changed.content, changed.entity_ids) == ("changed", (sample_id("entity", 1),))
        assert report.facts_rewritten == 1

    @pytest.mark.parametrize("mode", ["soft", "hard"])
    @pytest.mark.parametrize(
        "new",
        [
            fact(2, entities=[3, 2]),
            fact(2, statement=Statement(subject_id=sample_id("entity", 2), predicate="port", value=1)),
            relationship(1, 2, 3),
            relationship(1, 3, 2, invalidated_by=sample_id("relationship", 9)),
        ],
        ids=["a mention", "a statement", "an edge", "a closed edge"],
    )
    async def test_a_plan_is_refused_when_something_new_names_what_it_merges(
        self, open_store: OpenStore, mode: Any, new: Any
    ) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(1, name="Acme"), entity(2, name="acme")]))
        planned = await EntityResolver(store, delete_mode=mode).plan()
        is_fact = isinstance(new, Fact)
        await store.write(RecordBatch(facts=[new] if is_fact else [], relationships=[] if is_fact else [new]))
        with pytest.raises(PlanOutdatedError) as caught:
            await apply_plan(store, planned.plan)
        assert new.id in caught.value.changed
        report = await EntityResolver(store, delete_mode=mode).resolve()
        assert report.facts_rewritten + report.relationships_rewritten == 1
        assert await store.get_relationships_for_entity(sample_id("entity", 2), include_invalidated=True) == []

    async def test_a_plan_is_refused_when_more_is_stated_of_the_entity_that_stays(self, open_store: OpenStore) -> None:
        store = await open_store()
        first, second = (
            fact(n, statement=Statement(subject_id=sample_id("entity", n), predicate="port", value=n)) for n in (2, 1)
        )
        await store.write(RecordBatch(entities=[entity(1, name="Acme"), entity(2, name="acme")], facts=[first]))
        planned = await EntityResolver(store, single_valued=["port"]).plan()
        await store.put_fact(second)
        with pytest.raises(PlanOutdatedError):
            await apply_plan(store, planned.plan)
        report = await EntityResolver(store, single_valued=["Port"]).resolve()
        assert report.statements_placed == 1

    @pytest.mark.parametrize("mode", ["soft", "hard"])
    async def test_the_edge_of_a_statement_follows_its_fact(self, open_store: OpenStore, mode: Any) -> None:
        store = await open_store()
        statement = Statement(subject_id=sample_id("entity", 2), predicate="use", object_id=sample_id("entity", 3))
        stated = fact(1, entities=[2, 3], statement=statement)
        others = [relationship(1, 1, 3), relationship(2, 2, 3, valid_from=day(-9), valid_until=day(-8))]
        entities = [entity(1, name="Acme"), entity(2, name="acme"), entity(3)]
        await store.write(RecordBatch(entities=entities, relationships=others, facts=[stated]))
        report = await EntityResolver(store, delete_mode=mode).resolve()
        assert (report.relationships_rewritten, report.relationships_dropped) == (2, 0)
        edges = await store.get_relationships_for_entity(sample_id("entity", 1), direction="out")
        assert [edge.target_id for edge in edges] == [sample_id("entity", 3)] * 3
        moved = await store.get_fact(stated.id)
        assert moved is not None
        assert moved.statement is not None
        assert moved.statement.subject_id == sample_id("entity", 1)
        assert await store.get_relationships_for_entity(sample_id("entity", 2), include_invalidated=True) == []
