"""Listings are total and repeatable, filters come before offset and limit, and usage is counted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import pytest

from remembrancer.ports import OutlinesThemes
from remembrancer.records import RecordBatch
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import START, day, entity, episode, fact, message, relationship, sample_id, theme


def _numbers(records: Sequence[Any]) -> list[int]:
    return [int(record.id[-12:], 16) for record in records]


class TestListings:
    async def test_facts_come_newest_first_then_by_id(self, open_store: OpenStore) -> None:
        store = await open_store()
        days = {5: 1, 1: 2, 4: 2, 2: 3, 3: 0}
        await store.write(RecordBatch(facts=[fact(n, valid_from=day(at)) for n, at in days.items()]))
        assert _numbers(await store.find_facts()) == [2, 1, 4, 5, 3]

    async def test_episodes_come_latest_first_then_by_id(self, open_store: OpenStore) -> None:
        store = await open_store()
        days = {3: 1, 1: 0, 2: 1}
        await store.write(RecordBatch(episodes=[episode(n, started_at=day(at)) for n, at in days.items()]))
        assert _numbers(await store.list_episodes()) == [2, 3, 1]
        assert _numbers(await store.list_episodes(limit=1, offset=1)) == [3]

    async def test_unread_episodes_come_by_id_from_where_one_left_off(self, open_store: OpenStore) -> None:
        store = await open_store()
        unread = {n: episode(n, messages=[message(n)], unread_message_ids=[sample_id("message", n)]) for n in (4, 1, 3)}
        await store.write(RecordBatch(episodes=[*unread.values(), episode(2, messages=[message(2)])]))
        assert _numbers(await store.find_unread_episodes()) == [1, 3, 4]
        assert await store.find_unread_episodes(limit=1) == [unread[1]]
        assert _numbers(await store.find_unread_episodes(after=sample_id("episode", 1), limit=1)) == [3]
        await store.put_episode(unread[3].model_copy(update={"unread_message_ids": ()}))
        assert _numbers(await store.find_unread_episodes()) == [1, 4]

    async def test_an_outline_tells_the_size_of_a_theme_and_names_some_of_its_facts(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store()
        if not isinstance(store, OutlinesThemes):
            pytest.skip("this store outlines no themes")
        themes = [theme(1, facts=range(1, 6)), theme(2, label="alone"), theme(3, facts=[7, 7])]
        await store.write(RecordBatch(themes=themes))
        ids = [sample_id("theme", number) for number in (3, 1, 9)]
        outlines = await store.outline_themes(ids, label="alone", most=2)
        assert [(_numbers([one]), size) for one, size in outlines] == [([1], 5), ([2], 0), ([3], 1)]
        named, _ = outlines[0]
        assert len(named.fact_ids) == 2
        assert set(named.fact_ids) < set(themes[0].fact_ids)
        assert named.model_copy(update={"fact_ids": themes[0].fact_ids}) == themes[0]
        assert await store.outline_themes(label="nothing", most=2) == []

    async def test_all_else_comes_by_id(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                entities=[entity(n) for n in (3, 1, 2)],
                themes=[theme(n) for n in (2, 3, 1)],
                relationships=[relationship(n, 1, n) for n in (3, 1, 2)],
            )
        )
        assert _numbers(await store.find_entities()) == [1, 2, 3]
        assert _numbers(await store.list_themes()) == [1, 2, 3]
        assert _numbers(await store.get_relationships_for_entity(sample_id("entity", 1))) == [1, 2, 3]

    async def test_pages_are_cut_after_the_filters(self, open_store: OpenStore) -> None:
        store = await open_store()
        facts = [fact(n, valid_from=day(-n), tags=["even" if n % 2 == 0 else "odd"]) for n in range(1, 9)]
        await store.write(RecordBatch(facts=facts))
        assert _numbers(await store.find_facts(tags=["even"], limit=2)) == [2, 4]
        assert _numbers(await store.find_facts(tags=["even"], limit=2, offset=2)) == [6, 8]
        assert await store.find_facts(tags=["even"], offset=4) == []
        assert await store.find_facts(limit=0) == []

    async def test_a_listing_holds_a_hundred_unless_told_otherwise(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(entities=[entity(n) for n in range(101)]))
        assert len(await store.find_entities()) == 100
        assert len(await store.find_entities(limit=1_000)) == 101

    async def test_all_filters_of_facts_must_pass(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                facts=[
                    fact(1, entities=[1], theme_id=sample_id("theme", 1), tags=["a"]),
                    fact(2, entities=[1, 2], theme_id=sample_id("theme", 1), tags=["a", "b"]),
                    fact(3, entities=[1], tags=["b"]),
                    fact(4, entities=[1], theme_id=sample_id("theme", 1), tags=["a"], invalidated_by="reason"),
                    fact(5, entities=[1], theme_id=sample_id("theme", 1), invalidated_by=""),
                ]
            )
        )
        here: dict[str, Any] = {"theme_id": sample_id("theme", 1), "entity_id": sample_id("entity", 1)}
        assert _numbers(await store.find_facts(**here)) == [1, 2, 5]
        assert _numbers(await store.find_facts(**here, include_invalidated=True)) == [1, 2, 4, 5]
        assert _numbers(await store.find_facts(**here, tags=["a", "c"])) == [1, 2]
        assert _numbers(await store.find_facts(**here, tags=["a"], exclude_tags=["b", "c"])) == [1]
        assert _numbers(await store.find_facts(tags=["b"], exclude_tags=[])) == [2, 3]
        assert _numbers(await store.find_facts(exclude_tags=["a", "b"])) == [5]

    async def test_entities_are_found_by_type_and_by_what_is_open(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                entities=[
                    entity(1, entity_type="person"),
                    entity(2, entity_type="Person"),
                    entity(3, entity_type="person", invalidated_at=START),
                ]
            )
        )
        assert _numbers(await store.find_entities(entity_type="person")) == [1]
        assert _numbers(await store.find_entities(entity_type="person", include_invalidated=True)) == [1, 3]
        assert _numbers(await store.find_entities()) == [1, 2]

    async def test_edges_of_an_entity_by_direction_type_and_what_is_open(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                relationships=[
                    relationship(1, 1, 2),
                    relationship(2, 2, 1, relation_type="own"),
                    relationship(3, 1, 1),
                    relationship(4, 1, 3, invalidated_by=sample_id("relationship", 1)),
                    relationship(5, 1, 2),
                    relationship(6, 2, 3),
                ]
            )
        )
        here = sample_id("entity", 1)
        assert _numbers(await store.get_relationships_for_entity(here)) == [1, 2, 3, 5]
        assert _numbers(await store.get_relationships_for_entity(here, direction="out")) == [1, 3, 5]
        assert _numbers(await store.get_relationships_for_entity(here, direction="in")) == [2, 3]
        assert _numbers(await store.get_relationships_for_entity(here, relation_type="own")) == [2]
        assert _numbers(await store.get_relationships_for_entity(here, include_invalidated=True)) == [1, 2, 3, 4, 5]


class TestLookups:
    async def test_themes_are_found_by_their_exact_label(self, open_store: OpenStore) -> None:
        store = await open_store()
        labels = {3: "General", 1: "General", 2: "general", 4: "General "}
        await store.write(RecordBatch(themes=[theme(n, label=label) for n, label in labels.items()]))
        assert _numbers(await store.find_themes_labelled("General")) == [1, 3]
        assert await store.find_themes_labelled("none") == []

    async def test_which_messages_are_stored(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_episode(episode(1, messages=[message(1), message(2)]))
        asked = [sample_id("message", n) for n in (1, 2, 3)]
        assert await store.stored_message_ids(asked) == set(asked[:2])

    async def test_the_latest_episode_of_a_conversation_near_an_instant(self, open_store: OpenStore) -> None:
        store = await open_store()
        ours = [episode(n, messages=[message(n * 60, conversation="c")]) for n in (1, 2, 3)]
        other = episode(4, messages=[message(170)])
        empty = episode(5, started_at=START, ended_at=day(1))
        await store.write(RecordBatch(episodes=[*ours, other, empty]))

        async def near(conversation: str | None, before: float, after: float) -> int | None:
            found = await store.find_episode_near(
                conversation, starting_before=day(before / 24), ending_after=day(after / 24)
            )
            return None if found is None else _numbers([found])[0]

        assert await near("c", 2.5, 0) == 2
        assert await near("c", 3, 3) == 3
        assert await near("c", 2.9, 2.5) is None
        assert await near(None, 9, 0) == 4
        assert await near("x", 9, 0) is None
        found = await store.find_episode_near("c", starting_before=day(1), ending_after=START)
        assert found == ours[2]


class TestUsage:
    async def test_each_use_is_counted_and_repeats_count_twice(self, open_store: OpenStore) -> None:
        clock = FixedClock(day(3))
        store = await open_store(clock=clock)
        await store.write(RecordBatch(facts=[fact(1), fact(2, access_count=5), fact(3)]))
        one, two, unknown = (sample_id("fact", n) for n in (1, 2, 9))
        await store.touch_facts([one, two, unknown, one], at=day(5))
        await store.flush_usage()
        assert await _usage(store, one) == (2, day(5))
        assert await _usage(store, two) == (6, day(5))
        assert await _usage(store, sample_id("fact", 3)) == (0, None)
        assert await store.get_fact(unknown) is None

    async def test_the_last_use_is_the_last_one_told_even_if_it_is_older(self, open_store: OpenStore) -> None:
        store = await open_store(clock=FixedClock(day(3)))
        await store.put_fact(fact(1, access_count=None))
        one = sample_id("fact", 1)
        await store.touch_facts([one])
        await store.flush_usage()
        assert await _usage(store, one) == (1, day(3))
        await store.touch_facts([one], at=START - dt.timedelta(days=1))
        await store.flush_usage()
        assert await _usage(store, one) == (2, START - dt.timedelta(days=1))
        await store.touch_facts([])
        await store.flush_usage()
        assert await _usage(store, one) == (2, START - dt.timedelta(days=1))

    async def test_a_use_changes_nothing_else(self, open_store: OpenStore) -> None:
        store = await open_store(clock=FixedClock(day(3)))
        await store.put_fact(fact(1, entities=[1, 2, 1], tags=["t"], invalidated_by="x"))
        before = await store.get_fact(sample_id("fact", 1))
        await store.touch_facts([sample_id("fact", 1)])
        await store.flush_usage()
        after = await store.get_fact(sample_id("fact", 1))
        assert before is not None
        assert after == before.model_copy(update={"access_count": 1, "last_accessed_at": day(3)})

    @pytest.mark.parametrize("bad", ["f", [1], ["not-a-uuid"], None])
    async def test_only_ids_can_be_used(self, open_store: OpenStore, bad: Any) -> None:
        store = await open_store()
        with pytest.raises(ValueError, match="ids"):
            await store.touch_facts(bad)


async def _usage(store: Any, fact_id: str) -> tuple[int | None, dt.datetime | None]:
    fact = await store.get_fact(fact_id)
    return fact.access_count, fact.last_accessed_at
