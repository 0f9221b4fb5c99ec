"""What stores do with the statements of facts: kept whole, found by subject and predicate, edges of the graph too."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.records import (
    ConcurrencyError,
    Fact,
    GateDecision,
    GatePass,
    InvalidInputError,
    Provenance,
    RecordBatch,
    RetentionPolicy,
)
from remembrancer.records.batch import ExpectedStatements
from remembrancer.records.stated import stated_relationship_id
from remembrancer.records.statement import Statement
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import START, day, entity, fact, relationship, sample_id

EDGE = stated_relationship_id(sample_id("fact", 1))


def stating(number: int, subject: int, predicate: str, target: int | None = None, **fields: Any) -> Fact:
    """A fact with a statement about a sample entity, which points to another one or has the `value` given."""
    statement = Statement(
        subject_id=sample_id("entity", subject),
        predicate=predicate,
        object_id=None if target is None else sample_id("entity", target),
        value=fields.pop("value", None),
    )
    return fact(number, **{"statement": statement, **fields})


class TestStatements:
    async def test_a_statement_is_kept_whole(self, open_store: OpenStore) -> None:
        store = await open_store()
        values: list[Any] = ["8080", 8080, 2**70, 0.5, False, "", "é\U0001f600", ["a", {"b": None}], {"z": 1, "a": []}]
        facts = [stating(n, 1, "port", value=value) for n, value in enumerate(values)]
        whole = Statement(
            subject_id=sample_id("entity", 1),
            predicate="Works at",
            object_id=sample_id("entity", 2),
            details="d",
            kind="document",
        )
        facts.append(fact(50, statement=whole))
        facts.append(fact(51))
        await store.write(RecordBatch(facts=facts))
        stored = await store.get_facts([one.id for one in facts])
        assert [one.statement for one in stored.values()] == [one.statement for one in facts]
        found = await store.find_facts(limit=100)
        assert {one.id: one.statement for one in found} == {one.id: one.statement for one in facts}
        kept = stored[sample_id("fact", 8)].statement
        assert kept is not None
        kept.value["z"] = 2
        again = await store.get_fact(sample_id("fact", 8))
        assert again is not None
        assert again.statement is not None
        assert again.statement.value == {"z": 1, "a": []}

    async def test_statements_are_found_by_subject_and_predicate(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                facts=[
                    stating(1, 1, "works_at", 2, valid_from=day(1)),
                    stating(2, 1, "worksAt", 3, valid_from=day(2), invalidated_by="x"),
                    stating(3, 1, "Works at", value="home", valid_from=day(3), tags=["quarantined"]),
                    stating(4, 2, "works_at", 3),
                    stating(5, 1, "lives_in", 3),
                    fact(6, entities=[1]),
                ]
            )
        )
        one, two = sample_id("entity", 1), sample_id("entity", 2)
        assert _numbers(await store.find_statements([(one, "works at")])) == [3, 2, 1]
        assert _numbers(await store.find_statements([(two, "works_at"), (one, "lives-in"), (two, "worksAt")])) == [4, 5]
        assert await store.find_statements([(two, "lives_in")]) == []
        assert await store.find_statements([]) == []
        await store.put_fact(fact(1))
        await store.delete_fact(sample_id("fact", 2))
        assert _numbers(await store.find_statements([(one, "works_at")])) == [3]

    async def test_subject_and_object_are_no_mentions_but_are_named(self, open_store: OpenStore) -> None:
        store = await open_store()
        receipt = await store.put_fact(stating(1, 1, "works_at", 2))
        named = (sample_id("entity", 1), sample_id("entity", 2))
        assert receipt.placeholders == {"entity": named}
        assert await store.find_facts(entity_id=named[0]) == []
        receipt = await store.put_fact(stating(1, 3, "age", value=7))
        assert receipt.placeholders == {"entity": (sample_id("entity", 3),)}
        assert receipt.placeholders_removed == {"entity": named}
        assert receipt.removed == {"relationship": (EDGE,)}
        receipt = await store.put_fact(fact(1))
        assert receipt.placeholders_removed == {"entity": (sample_id("entity", 3),)}


class TestStatedRelationships:
    async def test_a_statement_about_two_entities_is_an_edge(self, open_store: OpenStore) -> None:
        store = await open_store()
        sure = Provenance(source="agent", confidence=0.75, created_at=START)
        receipt = await store.put_fact(
            stating(1, 1, "worksAt", 2, valid_from=day(1), valid_until=day(5), provenance=sure)
        )
        assert receipt.created == {"fact": (sample_id("fact", 1),), "relationship": (EDGE,)}
        edge = await store.get_relationship(EDGE)
        assert edge is not None
        assert (edge.source_id, edge.relation_type, edge.target_id) == (
            sample_id("entity", 1),
            "works_at",
            sample_id("entity", 2),
        )
        assert (edge.valid_from, edge.valid_until, edge.weight) == (day(1), day(5), 0.75)
        assert edge.fact_id == sample_id("fact", 1)
        assert await store.get_relationships_for_entity(sample_id("entity", 2), direction="in") == [edge]
        assert (await store.put_relationship(relationship(9, 1, 2))).created
        assert (await store.get_relationships([sample_id("relationship", 9)]))[
            sample_id("relationship", 9)
        ].fact_id is None

    @pytest.mark.parametrize("closed_by", ["consolidation:decay", sample_id("fact", 2)])
    async def test_closing_the_fact_closes_the_edge(self, open_store: OpenStore, closed_by: str) -> None:
        store = await open_store()
        one = stating(1, 1, "works_at", 2)
        await store.put_fact(one)
        before = await store.get_relationship(EDGE)
        await store.put_fact(one.model_copy(update={"invalidated_by": closed_by}))
        edge = await store.get_relationship(EDGE)
        assert edge is not None
        assert edge.invalidated_by == (closed_by if closed_by.startswith("f0") else one.id)
        assert edge.closed_at is not None
        assert await store.get_relationships_for_entity(sample_id("entity", 1)) == []
        await store.put_fact(one)
        assert await store.get_relationship(EDGE) == before

    async def test_the_gate_closes_the_edge_of_a_fact_that_it_evicts(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_fact(stating(1, 1, "works_at", 2, tags=["candidate"]))
        evicted = GateDecision(fact_id=sample_id("fact", 1), verdict="evicted", reason="eval-gate:harmful", trials=4)
        gate_pass = GatePass(id=sample_id("theme", 1), policy=RetentionPolicy(), decisions=[evicted])
        receipt = await store.write(RecordBatch(gate_passes=[gate_pass]))
        assert receipt.changed == {"fact": (sample_id("fact", 1),), "relationship": (EDGE,)}
        edge = await store.get_relationship(EDGE)
        assert edge is not None
        assert (edge.is_live, edge.invalidated_by) == (False, sample_id("fact", 1))

    async def test_the_edge_goes_with_the_fact_and_follows_its_statement(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(1)], facts=[stating(1, 1, "works_at", 2)]))
        await store.put_fact(stating(1, 1, "works_at", 3))
        (edge,) = await store.get_relationships_for_entity(sample_id("entity", 1))
        assert (edge.id, edge.target_id) == (EDGE, sample_id("entity", 3))
        await store.put_fact(stating(1, 1, "works_at", value="home"))
        assert await store.get_relationship(EDGE) is None
        await store.put_fact(stating(1, 1, "works_at", 3))
        receipt = await store.write(RecordBatch(removals={"fact": [sample_id("fact", 1)]}))
        assert receipt.removed == {"fact": (sample_id("fact", 1),), "relationship": (EDGE,)}
        assert await store.get_relationships_for_entity(sample_id("entity", 1), include_invalidated=True) == []

    async def test_a_claim_stands_for_the_ends_of_a_statement(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_entity(entity(1, name="Ada"))
        claims = [entity(7, name="ada"), entity(8, name="Acme")]
        await store.write(RecordBatch(claims=claims, facts=[stating(1, 7, "works_at", 8, entities=[7])]))
        stored = await store.get_fact(sample_id("fact", 1))
        assert stored is not None
        assert stored.statement is not None
        assert stored.statement.subject_id == sample_id("entity", 1)
        (edge,) = await store.get_relationships_for_entity(sample_id("entity", 1))
        assert edge.target_id == sample_id("entity", 8)

    async def test_an_edge_put_beside_its_fact_is_what_is_stored(self, open_store: OpenStore) -> None:
        store = await open_store()
        own = relationship(1, 3, 4, id=EDGE, fact_id=sample_id("fact", 1))
        await store.write(RecordBatch(facts=[stating(1, 1, "works_at", 2)], relationships=[own]))
        (edge,) = await store.get_relationships_for_entity(sample_id("entity", 3))
        assert edge.id == EDGE


class TestExpectedStatements:
    async def test_a_write_that_expects_another_number_writes_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(facts=[stating(1, 1, "port", value=1), stating(2, 1, "port", value=2, invalidated_by="x")])
        )
        for expected in (0, 1, 3):
            batch = RecordBatch(
                facts=[stating(3, 1, "port", value=3)], expected_statements=[_expected("Port", expected)]
            )
            with pytest.raises(ConcurrencyError) as caught:
                await store.write(batch)
            assert (caught.value.expected, caught.value.actual) == (expected, 2)
        assert await store.get_fact(sample_id("fact", 3)) is None
        batch = RecordBatch(facts=[stating(3, 1, "port", value=3)], expected_statements=[_expected("port", 2)])
        assert (await store.write(batch)).created == {"fact": (sample_id("fact", 3),)}

    async def test_a_subject_that_is_not_stored_has_none(self, open_store: OpenStore) -> None:
        store = await open_store()
        batch = RecordBatch(facts=[stating(1, 1, "port", value=3)], expected_statements=[_expected("port", 0)])
        assert (await store.write(batch)).placeholders == {"entity": (sample_id("entity", 1),)}
        with pytest.raises(ConcurrencyError):
            await store.write(batch)


class TestBadStatements:
    async def test_a_bad_lookup_is_refused_by_name(self, open_store: OpenStore) -> None:
        store = await open_store()
        one = sample_id("entity", 1)
        for subjects, field in (
            (one, "subjects"),
            ([one], "subjects.0"),
            ([("x", "p")], "subjects.0.0"),
            ([(one, "")], "subjects.0.1"),
        ):
            with pytest.raises(InvalidInputError) as caught:
                await store.find_statements(subjects)  # type: ignore[arg-type]
            assert caught.value.field == field

    async def test_a_value_that_was_spoilt_later_is_refused(self, open_store: OpenStore) -> None:
        store = await open_store()
        one = stating(1, 1, "port", value={"a": 1})
        assert one.statement is not None
        one.statement.value["a"] = float("nan")
        with pytest.raises(InvalidInputError) as caught:
            await store.put_fact(one)
        assert caught.value.field == "facts.0.statement.value"


def _expected(predicate: str, facts: int) -> ExpectedStatements:
    return ExpectedStatements(subject_id=sample_id("entity", 1), predicate=predicate, facts=facts)


def _numbers(facts: list[Fact]) -> list[int]:
    return [int(one.id[-12:], 16) for one in facts]
