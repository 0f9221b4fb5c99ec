"""Statements told to a memory: windows that do not depend on the order of telling, in both stores."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import Assertion, EntityResolver, apply_plan, assert_statements, plan_undo
from remembrancer.ports import MemoryStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace, Fact, InvalidInputError, Provenance, RecordBatch
from remembrancer.records.audit import comparable
from remembrancer.records.window import is_valid_at
from remembrancer.testing import OpenStore
from remembrancer.testing.samples import START, day, entity, fact, sample_id

ADA, ACME, INITECH = (sample_id("entity", number) for number in (1, 2, 3))
SINGLE = ("works_at", "port")


def assertion(number: int, value: Any, start: float, end: float | None = None, **fields: Any) -> Assertion:
    """Something about Ada that begins so many days after the start of time, and was said in the order of numbers."""
    return Assertion(
        **{
            "id": sample_id("fact", number),
            "subject_id": ADA,
            "predicate": "port",
            "value": value,
            "valid_from": day(start),
            "valid_until": None if end is None else day(end),
            "provenance": Provenance(source="agent", created_at=START + dt.timedelta(seconds=number)),
            **fields,
        }
    )


async def tell(store: MemoryStore, *assertions: Assertion) -> Any:
    return await assert_statements(store, assertions, single_valued=SINGLE, clock=lambda: day(50))


async def facts_of(store: MemoryStore) -> dict[str, dict[str, Any]]:
    """All facts, without what tells when the store learned them; of a closed one not the end of its window.

    A fact that held once, and then turned out to say what an earlier one says, keeps the end that it was given.
    """
    found = await store.find_facts(include_invalidated=True, limit=1_000)
    left_out = {"recorded_at", "closed_at"}
    return {one.id: one.model_dump(exclude=left_out if one.is_live else {*left_out, "valid_until"}) for one in found}


async def windows(store: MemoryStore) -> list[tuple[Any, float, float | None]]:
    """Value, start and end of the live facts with a statement, in days, in order of time."""
    found = [one for one in await store.find_facts(limit=1_000) if one.statement is not None]
    return sorted(
        (one.statement.value, days(one.valid_from), None if one.valid_until is None else days(one.valid_until))
        for one in found
        if one.statement is not None
    )


def days(instant: dt.datetime) -> float:
    return (instant - START) / dt.timedelta(days=1)


class TestSingleValues:
    async def test_a_new_value_ends_the_window_of_the_old_one(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, 8080, 1))
        report = await tell(store, assertion(2, 8081, 3))
        assert report.superseded == (sample_id("fact", 1),)
        assert await windows(store) == [(8080, 1, 3), (8081, 3, None)]

    async def test_what_was_said_of_an_earlier_time_finds_its_place(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, "new", 5))
        report = await tell(store, assertion(2, "old", 1))
        assert report.superseded == ()
        assert await windows(store) == [("new", 5, None), ("old", 1, 5)]

    async def test_a_value_that_held_twice_has_two_windows(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, "open", 1), assertion(2, "closed", 2), assertion(3, "open", 4))
        assert await windows(store) == [("closed", 2, 4), ("open", 1, 2), ("open", 4, None)]

    async def test_saying_the_same_again_confirms_it(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, "Open", 1))
        report = await tell(store, assertion(2, " open ", 4))
        assert report.confirmed == {sample_id("fact", 2): sample_id("fact", 1)}
        assert await windows(store) == [("Open", 1, None)]
        report = await tell(store, assertion(3, "closed", 2))
        assert report.reopened == (sample_id("fact", 2),)
        assert await windows(store) == [(" open ", 4, None), ("Open", 1, 2), ("closed", 2, 4)]

    async def test_of_two_values_of_one_instant_the_one_said_later_holds(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, 1, 1), assertion(2, 2, 1))
        assert await windows(store) == [(2, 1, None)]
        old = await store.get_fact(sample_id("fact", 1))
        assert old is not None
        assert (old.invalidated_by, old.valid_until) == (sample_id("fact", 2), old.valid_from)

    async def test_saying_the_very_same_twice_writes_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        first = await tell(store, assertion(1, 1, 1), assertion(2, 2, 3))
        again = await tell(store, assertion(1, 1, 1), assertion(2, 2, 3))
        assert first.pass_id is not None
        assert again.pass_id is None
        assert again.fact_ids == first.fact_ids

    async def test_others_are_left_alone(self, open_store: OpenStore) -> None:
        store = await open_store()
        near = "The server listens on port 8080"
        await store.put_fact(fact(90, content=near))
        await tell(
            store,
            assertion(1, 8080, 1, content=near),
            assertion(2, 8080, 1, subject_id=ACME, content=near),
            assertion(3, "a", 1, predicate="likes"),
        )
        before = await facts_of(store)
        await tell(store, assertion(4, 8081, 2, content=near), assertion(5, "b", 2, predicate="likes"))
        after = await facts_of(store)
        changed = {fact_id for fact_id, one in before.items() if after[fact_id] != one}
        assert changed == {sample_id("fact", 1)}

    async def test_what_another_reason_closed_stays_closed(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, "a", 1))
        stored = await store.get_fact(sample_id("fact", 1))
        assert stored is not None
        await store.put_fact(stored.model_copy(update={"invalidated_by": "consolidation:decay"}))
        await tell(store, assertion(2, "a", 2), assertion(3, "b", 4))
        assert await windows(store) == [("a", 2, 4), ("b", 4, None)]

    async def test_quarantined_statements_change_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        await tell(store, assertion(1, "a", 1))
        await tell(store, assertion(2, "b", 2, tags=["quarantined"]))
        assert await windows(store) == [("a", 1, None), ("b", 2, None)]
        await tell(store, assertion(3, "c", 3))
        assert await windows(store) == [("a", 1, 3), ("b", 2, None), ("c", 3, None)]

    async def test_an_edge_has_the_window_of_its_statement(self, open_store: OpenStore) -> None:
        store = await open_store()
        works = {"predicate": "worksAt"}
        await tell(store, assertion(1, None, 1, **{**works, "object_id": ACME}))
        await tell(store, assertion(2, None, 3, **{**works, "object_id": INITECH}))
        edges = await store.get_relationships_for_entity(ADA)
        ends = {one.target_id: (one.valid_from, one.valid_until) for one in edges}
        assert ends == {ACME: (day(1), day(3)), INITECH: (day(3), None)}
        assert {one.relation_type for one in edges} == {"works_at"}


STARTS = st.integers(0, 6)


@st.composite
def assertions_about_ada(draw: st.DrawFn) -> list[Assertion]:
    told = []
    for number in range(1, draw(st.integers(1, 6)) + 1):
        start = draw(STARTS)
        length = draw(st.sampled_from((None, None, 1, 3)))
        predicate = draw(st.sampled_from(("port", "port", "port", "likes")))
        end = None if length is None else start + length
        told.append(assertion(number, draw(st.sampled_from("abc")), start, end, predicate=predicate))
    return told


class TestOrder:
    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(told=assertions_about_ada(), data=st.data())
    async def test_windows_do_not_depend_on_the_order_of_telling(
        self, open_store: OpenStore, told: list[Assertion], data: st.DataObject
    ) -> None:
        store, twin = await open_store(), InMemoryStore()
        for one in sorted(told, key=lambda one: (one.valid_from, one.id)):
            await tell(twin, one)
        for one in data.draw(st.permutations(told)):
            await tell(store, one)
        assert await facts_of(store) == await facts_of(twin)

    @settings(max_examples=100, deadline=None)
    @given(told=assertions_about_ada(), data=st.data())
    async def test_portions_do_not_matter_either(self, told: list[Assertion], data: st.DataObject) -> None:
        store, twin = InMemoryStore(), InMemoryStore()
        await tell(twin, *told)
        shuffled = data.draw(st.permutations(told))
        cut = data.draw(st.integers(0, len(told)))
        for portion in (shuffled[:cut], shuffled[cut:]):
            await tell(store, *portion)
        assert await facts_of(store) == await facts_of(twin)
        for instant in range(12):
            assert_one_value_at_most(await store.find_facts(limit=100), day(instant))

    async def test_every_order_of_a_life(self) -> None:
        told = [
            assertion(n, value, start) for n, (value, start) in enumerate(zip("abab", (1, 2, 3, 4), strict=True), 1)
        ]
        for order in itertools.permutations(told):
            store = InMemoryStore()
            for one in order:
                await tell(store, one)
            assert await windows(store) == [("a", 1, 2), ("a", 3, 4), ("b", 2, 3), ("b", 4, None)]


def assert_one_value_at_most(facts: Sequence[Fact], instant: dt.datetime) -> None:
    held = [one for one in facts if is_valid_at(one, instant)]
    ports = [one for one in held if one.statement is not None and one.statement.predicate == "port"]
    assert len(ports) <= 1
    likes = [one.statement.value for one in held if one.statement is not None and one.statement.predicate == "likes"]
    assert len(likes) == len(set(likes))


class TestTogether:
    async def test_writers_of_one_subject_and_predicate_leave_one_line_of_windows(self, open_store: OpenStore) -> None:
        store = await open_store()
        told = [assertion(number, number, number) for number in range(1, 9)]
        await asyncio.gather(*(tell(store, one) for one in told))
        assert await windows(store) == [(n, n, None if n == 8 else n + 1) for n in range(1, 9)]

    async def test_a_telling_is_written_whole_or_not_at_all(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_fact(fact(2))
        with pytest.raises(InvalidInputError) as caught:
            await tell(store, assertion(1, "a", 1), assertion(2, "b", 2))
        assert caught.value.field == "assertions.1.id"
        assert await store.get_fact(sample_id("fact", 1)) is None


class TestMergedEntities:
    async def test_what_is_said_of_a_merged_entity_is_said_of_the_one_that_stands_for_it(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(1, name="Ada"), entity(2, name="ada"), entity(3, name="ADA")]))
        for value, subject in enumerate((ADA, ACME, INITECH), start=1):
            await tell(store, assertion(value, value, value, subject_id=subject))
        await EntityResolver(store, single_valued=SINGLE, clock=lambda: day(50)).resolve()
        assert await windows(store) == [(1, 1, 2), (2, 2, 3), (3, 3, None)]
        report = await tell(store, assertion(4, 4, 4, subject_id=INITECH, entity_ids=[ACME]))
        assert report.standing_for == {ACME: ADA, INITECH: ADA}
        assert (await store.get_facts(report.fact_ids))[report.fact_ids[0]].entity_ids == (ADA,)
        assert await windows(store) == [(1, 1, 2), (2, 2, 3), (3, 3, 4), (4, 4, None)]

    async def test_saying_again_what_was_said_of_a_merged_entity_changes_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(1, name="Ada"), entity(2, name="ada")]))
        told = {"subject_id": ACME, "predicate": "port", "value": 1, "valid_from": day(1)}
        first = await assert_statements(store, [told], single_valued=SINGLE)
        await EntityResolver(store, single_valued=SINGLE).resolve()
        again = await assert_statements(store, [told], single_valued=SINGLE)
        assert (again.fact_ids, again.pass_id) == (first.fact_ids, None)

    async def test_an_entity_is_not_stated_to_be_related_to_itself(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(1, name="Ada"), entity(2, name="ada")]))
        await EntityResolver(store).resolve()
        with pytest.raises(InvalidInputError) as caught:
            await tell(store, assertion(1, None, 1, predicate="knows", object_id=ACME))
        assert caught.value.field == "assertions.0.object_id"

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        told=st.lists(
            st.tuples(st.sampled_from((ADA, ACME)), st.integers(1, 3), st.integers(1, 5), st.sampled_from((None, 2))),
            min_size=1,
            max_size=6,
        ),
        single_valued=st.sampled_from((SINGLE, ())),
    )
    async def test_windows_after_a_merge_are_those_of_saying_it_all_of_one(
        self, open_store: OpenStore, told: list[tuple[str, int, int, int | None]], single_valued: Sequence[str]
    ) -> None:
        store, alike = await open_store(), InMemoryStore()
        await store.write(RecordBatch(entities=[entity(1, name="Ada"), entity(2, name="ada")]))
        for number, (subject, value, start, length) in enumerate(told, start=1):
            end = None if length is None else start + length
            for one, about in ((store, subject), (alike, ADA)):
                said = assertion(number, value, start, end, subject_id=about)
                await assert_statements(one, [said], single_valued=single_valued, clock=lambda: day(50))
        report = await EntityResolver(store, single_valued=single_valued, clock=lambda: day(50)).resolve()
        assert await windows(store) == await windows(alike)
        before = {one.id: one for one in await store.find_facts(include_invalidated=True, limit=100)}
        assert report.pass_id is not None
        await apply_plan(store, await plan_undo(store, report.pass_id))
        await EntityResolver(store, single_valued=single_valued, clock=lambda: day(50)).resolve()
        after = {one.id: one for one in await store.find_facts(include_invalidated=True, limit=100)}
        assert {key: comparable(one) for key, one in before.items()} == {
            key: comparable(one) for key, one in after.items()
        }


class TestWords:
    async def test_content_is_made_of_names(self, open_store: OpenStore) -> None:
        store = await open_store(space=EmbeddingSpace(model="hashing", dimensions=16))
        await store.put_entity(entity(1, name="Ada"))
        await store.put_entity(entity(2, name="Acme"))
        embedder = HashingEmbedder(dimensions=16)
        told = [
            {"subject_id": ADA, "predicate": "worksAt", "object_id": ACME},
            {"subject_id": ADA, "predicate": "age", "value": 36},
            {"subject_id": ADA, "predicate": "state", "value": "well", "content": "She is well."},
        ]
        report = await assert_statements(store, told, embedder=embedder, clock=lambda: day(3))
        stored = await store.get_facts(report.fact_ids)
        assert [one.content for one in stored.values()] == ["Ada works at Acme", "Ada age 36", "She is well."]
        assert all(one.embedding is not None and one.valid_from == day(3) for one in stored.values())
        assert next(iter(stored.values())).entity_ids == (ADA, ACME)


BAD: dict[str, Any] = {
    "assertions": "port",
    "assertions.0": ["port"],
    "assertions.0.subject_id": [{"subject_id": "Ada", "predicate": "port"}],
    "assertions.0.predicate": [{"subject_id": ADA, "predicate": " - "}],
    "assertions.0.colour": [{"subject_id": ADA, "predicate": "port", "colour": "red"}],
    "assertions.0.value": [{"subject_id": ADA, "predicate": "port", "value": float("inf")}],
    "assertions.1.id": [assertion(1, "a", 1), assertion(1, "b", 2)],
}


@pytest.mark.parametrize("field", list(BAD))
async def test_a_bad_assertion_is_refused_by_name(field: str) -> None:
    store = InMemoryStore()
    with pytest.raises(InvalidInputError) as caught:
        await assert_statements(store, BAD[field])
    assert caught.value.field == field
    assert await store.find_facts() == []
