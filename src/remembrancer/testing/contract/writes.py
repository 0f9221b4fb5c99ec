"""Writes are whole, happen once under one key, and let many writers meet in one record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from remembrancer.records import (
    ConcurrencyError,
    EmbeddingDimensionMismatchError,
    InvalidInputError,
    NotFoundError,
    PlanOutdatedError,
    RecordBatch,
    RecordKind,
    Relationship,
    ThemeAddition,
)
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    SPACE,
    START,
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)


class TestIdempotencyKeys:
    async def test_a_second_write_with_a_key_answers_with_the_first_receipt(self, open_store: OpenStore) -> None:
        store = await open_store()
        first = await store.write(RecordBatch(facts=[fact(1, entities=[1])]), idempotency_key="k")
        second = await store.write(RecordBatch(facts=[fact(2)]), idempotency_key="k")
        assert not first.replayed
        assert second == first.model_copy(update={"replayed": True})
        assert await store.get_fact(sample_id("fact", 2)) is None
        other = await store.write(RecordBatch(facts=[fact(2)]), idempotency_key="other")
        assert other.created == {"fact": (sample_id("fact", 2),)}

    async def test_of_many_writers_with_one_key_one_writes(self, open_store: OpenStore) -> None:
        first = await open_store()
        stores = [first, *[await open_store(namespace=first.namespace) for _ in range(7)]]
        receipts = await asyncio.gather(
            *(store.write(RecordBatch(facts=[fact(n)]), idempotency_key="k") for n, store in enumerate(stores, start=1))
        )
        assert sorted(receipt.replayed for receipt in receipts) == [False, *[True] * 7]
        assert len({receipt.created["fact"] for receipt in receipts}) == 1
        assert len(await first.find_facts()) == 1

    async def test_a_refused_write_leaves_its_key_free(self, open_store: OpenStore) -> None:
        store = await open_store()
        refused = RecordBatch(theme_additions=[ThemeAddition(theme_id=sample_id("theme", 1), fact_ids=[])])
        with pytest.raises(NotFoundError):
            await store.write(refused, idempotency_key="k")
        assert not (await store.write(RecordBatch(facts=[fact(1)]), idempotency_key="k")).replayed


class TestClaims:
    async def test_a_claim_creates_what_is_not_there(self, open_store: OpenStore) -> None:
        store = await open_store()
        receipt = await store.write(RecordBatch(claims=[entity(1, name="Ada")], facts=[fact(1, entities=[1])]))
        assert receipt.created == {"entity": (sample_id("entity", 1),), "fact": (sample_id("fact", 1),)}
        assert receipt.claimed == {sample_id("entity", 1): sample_id("entity", 1)}
        assert await store.get_entity(sample_id("entity", 1)) == entity(1, name="Ada")

    async def test_a_claim_meets_the_stored_entity_of_its_name_and_type(self, open_store: OpenStore) -> None:
        store = await open_store()
        stored = entity(1, name="Ada Lovelace", attributes={"kept": 1})
        await store.put_entity(stored)
        claim = entity(7, name=" the ADA  lovelace. ")
        receipt = await store.write(
            RecordBatch(
                claims=[claim, entity(8, name="Ada Lovelace", entity_type="ship")],
                facts=[fact(1, entities=[7, 9, 8])],
                relationships=[relationship(1, 7, 8)],
                assertions=[relationship(2, 8, 7)],
            )
        )
        assert receipt.claimed == {claim.id: stored.id, sample_id("entity", 8): sample_id("entity", 8)}
        assert "entity" not in receipt.changed
        assert await store.get_entity(stored.id) == stored
        got = await store.get_fact(sample_id("fact", 1))
        assert got is not None
        assert got.entity_ids == tuple(sample_id("entity", n) for n in (1, 9, 8))
        edges = await store.get_relationships_for_entity(stored.id)
        assert [(edge.source_id[-1], edge.target_id[-1]) for edge in edges] == [("1", "8"), ("8", "1")]

    async def test_two_claims_of_one_name_in_one_write_meet(self, open_store: OpenStore) -> None:
        store = await open_store()
        receipt = await store.write(RecordBatch(claims=[entity(2, name="Ada"), entity(1, name="ada")]))
        assert len(receipt.created["entity"]) == 1
        assert set(receipt.claimed.values()) == set(receipt.created["entity"])
        assert len(await store.find_entities()) == 1

    async def test_closed_entities_are_not_met(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                entities=[
                    entity(1, name="Ada", invalidated_at=START),
                    entity(2, name="Ada", superseded_by=sample_id("entity", 1)),
                ]
            )
        )
        receipt = await store.write(RecordBatch(claims=[entity(3, name="Ada")]))
        assert receipt.claimed == {sample_id("entity", 3): sample_id("entity", 3)}

    async def test_of_several_namesakes_the_oldest_is_met(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                entities=[
                    entity(1, name="Ada", created_at=day(2)),
                    entity(2, name="Ada", created_at=day(1)),
                    entity(3, name="Ada", created_at=day(1)),
                ]
            )
        )
        receipt = await store.write(RecordBatch(claims=[entity(9, name="Ada")]))
        assert receipt.claimed == {sample_id("entity", 9): sample_id("entity", 2)}

    async def test_sixteen_writers_at_once_make_one_entity(self, open_store: OpenStore) -> None:
        first = await open_store()
        stores = [first, *[await open_store(namespace=first.namespace) for _ in range(3)]]
        receipts = await asyncio.gather(
            *(
                stores[n % 4].write(RecordBatch(claims=[entity(n, name="Ada")], facts=[fact(n, entities=[n])]))
                for n in range(16)
            )
        )
        (only,) = await first.find_entities(include_invalidated=True)
        assert {*(tuple(receipt.claimed.values()) for receipt in receipts)} == {(only.id,)}
        assert len(await first.find_facts(entity_id=only.id)) == 16


class TestAssertions:
    async def test_an_assertion_is_put_when_nothing_says_it_yet(self, open_store: OpenStore) -> None:
        store = await open_store(clock=FixedClock(day(9)))
        await store.write(
            RecordBatch(relationships=[relationship(1, 2, 1), relationship(2, 1, 2, relation_type="own")])
        )
        receipt = await _assert(store, relationship(3, 1, 2))
        assert (receipt.created, receipt.merged) == ({"relationship": (sample_id("relationship", 3),)}, {})
        got = await store.get_relationship(sample_id("relationship", 3))
        assert got == relationship(3, 1, 2, recorded_at=day(9))

    async def test_an_overlapping_one_stands_for_it_and_begins_with_the_earlier(self, open_store: OpenStore) -> None:
        store = await open_store(clock=FixedClock(day(9)))
        await store.put_relationship(relationship(1, 1, 2, valid_from=day(5), valid_until=day(8), weight=0.5))
        receipt = await _assert(store, relationship(2, 1, 2, valid_from=day(3)))
        assert receipt.merged == {sample_id("relationship", 2): sample_id("relationship", 1)}
        assert (receipt.created, receipt.changed) == ({}, {"relationship": (sample_id("relationship", 1),)})
        (edge,) = await store.get_relationships_for_entity(sample_id("entity", 1))
        assert edge == relationship(1, 1, 2, valid_from=day(3), valid_until=day(8), weight=0.5, recorded_at=day(9))
        later = await _assert(store, relationship(3, 1, 2, valid_from=day(4)))
        assert later.merged == {sample_id("relationship", 3): sample_id("relationship", 1)}
        assert (later.created, later.changed) == ({}, {})

    async def test_windows_that_only_touch_are_two_edges(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_relationship(relationship(1, 1, 2, valid_from=day(0), valid_until=day(2)))
        receipt = await _assert(store, relationship(2, 1, 2, valid_from=day(2)))
        assert receipt.created == {"relationship": (sample_id("relationship", 2),)}

    async def test_a_closed_edge_does_not_stand_for_it(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_relationship(relationship(1, 1, 2, invalidated_by=sample_id("relationship", 9)))
        assert (await _assert(store, relationship(2, 1, 2))).merged == {}

    async def test_assertions_of_one_write_meet_each_other(self, open_store: OpenStore) -> None:
        store = await open_store()
        receipt = await _assert(
            store, relationship(1, 1, 2, valid_from=day(3)), relationship(2, 1, 2, valid_from=day(1))
        )
        assert receipt.created == {"relationship": (sample_id("relationship", 2),)}
        assert receipt.merged == {sample_id("relationship", 1): sample_id("relationship", 2)}

    async def test_the_same_assertion_twice_is_one_edge(self, open_store: OpenStore) -> None:
        store = await open_store()
        await _assert(store, relationship(1, 1, 2))
        assert (await _assert(store, relationship(1, 1, 2))).merged == {
            sample_id("relationship", 1): sample_id("relationship", 1)
        }
        assert len(await store.get_relationships_for_entity(sample_id("entity", 1))) == 1


class TestThemeAdditions:
    async def test_facts_join_after_those_that_are_listed(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_theme(theme(1, facts=[5, 1, 5]))
        receipt = await store.write(RecordBatch(theme_additions=[_addition(1, 1, 7, 3, 7)], facts=[fact(7)]))
        assert receipt.changed == {"theme": (sample_id("theme", 1),)}
        assert receipt.placeholders == {"fact": (sample_id("fact", 3),)}
        (got,) = await store.list_themes()
        assert got == theme(1, facts=[5, 1, 5, 7, 3])
        again = await store.write(RecordBatch(theme_additions=[_addition(1, 3, 1)]))
        assert again.changed == {}

    async def test_two_writers_lose_no_addition(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_theme(theme(1))
        await asyncio.gather(*(store.write(RecordBatch(theme_additions=[_addition(1, n)])) for n in range(8)))
        (got,) = await store.list_themes()
        assert set(got.fact_ids) == {sample_id("fact", n) for n in range(8)}
        assert len(got.fact_ids) == 8

    async def test_a_theme_of_the_same_write_can_be_added_to(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(themes=[theme(1, facts=[1])], theme_additions=[_addition(1, 2)]))
        assert (await store.list_themes())[0] == theme(1, facts=[1, 2])

    async def test_an_unknown_theme_refuses_the_whole_write(self, open_store: OpenStore) -> None:
        store = await open_store()
        with pytest.raises(NotFoundError) as caught:
            await store.write(RecordBatch(facts=[fact(1)], theme_additions=[_addition(4, 1)]))
        assert caught.value.missing == (sample_id("theme", 4),)
        assert await store.find_facts() == []


class TestExpectedMessages:
    async def test_another_number_of_messages_refuses_the_whole_write(self, open_store: OpenStore) -> None:
        store = await open_store()
        first = episode(1, messages=[message(1), message(2)])
        await store.write(RecordBatch(episodes=[first], expected_messages={first.id: 0}))
        grown = episode(1, messages=[message(1), message(2), message(3)])
        with pytest.raises(ConcurrencyError) as caught:
            await store.write(RecordBatch(episodes=[grown], facts=[fact(1)], expected_messages={first.id: 0}))
        assert (caught.value.expected, caught.value.actual) == (0, 2)
        assert await store.get_episode(first.id) == first
        assert await store.find_facts() == []
        await store.write(RecordBatch(episodes=[grown], expected_messages={first.id: 2}))
        assert await store.get_episode(first.id) == grown

    async def test_messages_that_were_deleted_are_not_counted(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_episode(episode(1, messages=[message(1), message(2)]))
        await store.delete_message(sample_id("message", 1))
        await store.write(RecordBatch(episodes=[episode(1)], expected_messages={sample_id("episode", 1): 1}))

    async def test_of_writers_that_expect_the_same_one_succeeds(self, open_store: OpenStore) -> None:
        store = await open_store()
        outcomes = await asyncio.gather(
            *(
                store.write(
                    RecordBatch(
                        episodes=[episode(1, messages=[message(n)])],
                        expected_messages={sample_id("episode", 1): 0},
                    )
                )
                for n in range(6)
            ),
            return_exceptions=True,
        )
        assert sum(isinstance(outcome, ConcurrencyError) for outcome in outcomes) == 5
        got = await store.get_episode(sample_id("episode", 1))
        assert got is not None
        assert len(got.messages) == 1


class TestExpectedRecords:
    async def test_a_record_that_is_not_stored_so_refuses_the_whole_write(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(facts=[fact(1)], episodes=[episode(1, messages=[message(1)])]))
        changed: list[Any] = [
            fact(1, content="another"),
            episode(1, messages=[message(1, content="another")]),
            entity(1),
        ]
        batch = RecordBatch(facts=[fact(2)], expected_records=[*changed, relationship(1, 1, 2)])
        with pytest.raises(PlanOutdatedError) as caught:
            await store.write(batch)
        assert set(caught.value.changed) == {one.id for one in batch.expected_records}
        assert await store.get_fact(sample_id("fact", 2)) is None
        stored: list[Any] = [fact(1), episode(1, messages=[message(1)])]
        receipt = await store.write(RecordBatch(facts=[fact(2)], expected_records=stored))
        assert receipt.created == {"fact": (sample_id("fact", 2),)}

    async def test_a_record_that_is_stored_though_it_should_not_be_refuses_the_whole_write(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store()
        await store.put_fact(fact(1, entities=[1]))
        absent: dict[RecordKind, Sequence[str]] = {
            "fact": [sample_id("fact", n) for n in (1, 2)],
            "entity": [sample_id("entity", 1)],
        }
        batch = RecordBatch(facts=[fact(1, content="new"), fact(2)], entities=[entity(1)], expected_absent=absent)
        with pytest.raises(PlanOutdatedError) as caught:
            await store.write(batch)
        assert caught.value.changed == (sample_id("fact", 1),)
        assert await store.get_fact(sample_id("fact", 1)) != fact(1, content="new")
        assert await store.get_entity(sample_id("entity", 1)) is None
        assert await store.get_fact(sample_id("fact", 2)) is None

    async def test_uses_that_were_counted_meanwhile_refuse_nothing_and_are_kept(self, open_store: OpenStore) -> None:
        store = await open_store()
        read = fact(1, access_count=2)
        await store.put_fact(read)
        await store.touch_facts([read.id], at=day(1))
        await store.flush_usage()
        planned = read.model_copy(update={"content": "planned", "access_count": 5})
        await store.write(RecordBatch(facts=[planned], expected_records=[read]))
        got = await store.get_fact(read.id)
        assert got is not None
        assert (got.content, got.access_count, got.last_accessed_at) == ("planned", 6, day(1))


class TestVectors:
    @pytest.mark.parametrize(
        ("embedding", "error"),
        [
            ([0.0, 0.0, 0.0, 0.0], InvalidInputError),
            ([1e-60, 0.0, 0.0, 0.0], InvalidInputError),
            ([1e300, 0.0, 0.0, 0.0], InvalidInputError),
            ([1.0, 0.0, 0.0], EmbeddingDimensionMismatchError),
            ([], EmbeddingDimensionMismatchError),
            ([1.0] * 5, EmbeddingDimensionMismatchError),
        ],
    )
    async def test_a_vector_that_cannot_be_searched_refuses_the_whole_write(
        self, open_store: OpenStore, embedding: list[float], error: type[Exception]
    ) -> None:
        store = await open_store(space=SPACE)
        batch = RecordBatch(entities=[entity(1, embedding=direction(0))], facts=[fact(1), fact(2, embedding=embedding)])
        with pytest.raises(error, match=r"facts\.1\.embedding"):
            await store.write(batch)
        assert await store.find_entities() == []
        assert await store.find_facts() == []

    async def test_nan_is_refused(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        sneaked_in = fact(1).model_copy(update={"embedding": (float("nan"), 1.0, 0.0, 0.0)})
        with pytest.raises(InvalidInputError, match="embedding"):
            await store.put_fact(sneaked_in)

    async def test_vectors_of_messages_are_checked_too(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        with pytest.raises(EmbeddingDimensionMismatchError, match=r"episodes\.0\.messages\.1\.embedding"):
            await store.put_episode(episode(1, messages=[message(1), message(2, embedding=[1.0])]))
        assert await store.get_message(sample_id("message", 1)) is None

    async def test_a_store_without_a_space_takes_no_vector(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert store.space is None
        with pytest.raises(InvalidInputError) as caught:
            await store.write(RecordBatch(facts=[fact(1, embedding=direction(0))]))
        assert caught.value.field == "facts.0.embedding"


async def _assert(store: Any, *assertions: Relationship) -> Any:
    return await store.write(RecordBatch(assertions=assertions))


def _addition(number: int, *facts: int) -> ThemeAddition:
    return ThemeAddition(theme_id=sample_id("theme", number), fact_ids=[sample_id("fact", n) for n in facts])
