"""A put replaces the whole record, and what a store hands out is a copy."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from remembrancer.records import Provenance, RecordBatch
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    SPACE,
    START,
    day,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)

_VECTOR = (0.5, -1.25, 0.0, 3.0)  # the same in float32
_EVERYTHING = Provenance(
    source="tool", agent_id="a", tool_name="t", run_id="r", node_id="n", confidence=0.25, created_at=day(1)
)


class TestUpserts:
    async def test_records_come_back_as_they_were_put(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE, clock=FixedClock(day(9)))
        batch = _one_of_each()
        await store.write(batch)
        assert await store.get_entity(batch.entities[0].id) == batch.entities[0]
        assert await store.get_relationship(batch.relationships[0].id) == batch.relationships[0]
        assert await store.get_episode(batch.episodes[0].id) == batch.episodes[0]
        assert await store.get_fact(batch.facts[0].id) == batch.facts[0]
        assert await store.get_theme(batch.themes[0].id) == batch.themes[0]
        assert await store.get_message(sample_id("message", 1)) == batch.episodes[0].messages[0]

    async def test_lists_keep_their_order_and_their_repeats(self, open_store: OpenStore) -> None:
        store = await open_store()
        put = fact(1, entities=[3, 1, 3, 2], episodes=[2, 2, 1], tags=["b", "a", "b"])
        cited = put.model_copy(update={"source_message_ids": tuple(sample_id("message", n) for n in (2, 1, 2))})
        await store.write(
            RecordBatch(facts=[cited], themes=[theme(1, facts=[3, 1, 3])], episodes=[episode(1, facts=[2, 1, 2])])
        )
        got = await store.get_fact(put.id)
        assert got is not None
        assert (got.entity_ids, got.source_episode_ids) == (cited.entity_ids, cited.source_episode_ids)
        assert (got.source_message_ids, got.tags) == (cited.source_message_ids, ("b", "a", "b"))
        assert (await store.get_themes([sample_id("theme", 1)]))[sample_id("theme", 1)] == theme(1, facts=[3, 1, 3])
        stored = await store.get_episode(sample_id("episode", 1))
        assert stored is not None
        assert stored.fact_ids == episode(1, facts=[2, 1, 2]).fact_ids

    async def test_a_put_replaces_the_whole_fact(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(_one_of_each())
        bare = fact(1, content="changed", access_count=None, recorded_at=day(2))
        receipt = await store.put_fact(bare)
        assert receipt.changed == {"fact": (bare.id,)}
        assert receipt.created == {}
        got = await store.get_fact(bare.id)
        assert got is not None
        assert got.model_copy(update={"access_count": got.access_count or None}) == bare
        assert await store.find_facts(tags=["lesson"]) == []
        assert await store.find_facts(entity_id=sample_id("entity", 1)) == []

    async def test_a_put_replaces_whole_entities_themes_and_episodes(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(_one_of_each())
        await store.write(RecordBatch(entities=[entity(1)], themes=[theme(1)], episodes=[episode(1)]))
        assert await store.get_entity(sample_id("entity", 1)) == entity(1)
        assert await store.get_theme(sample_id("theme", 1)) == theme(1)
        assert await store.get_episode(sample_id("episode", 1)) == episode(1)
        assert await store.get_message(sample_id("message", 1)) is not None

    async def test_a_relationship_with_other_ends_leaves_the_former_ones(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_relationship(relationship(1, 1, 2))
        await store.put_relationship(relationship(1, 3, 4))
        assert await store.get_relationships_for_entity(sample_id("entity", 1)) == []
        assert await store.get_relationships_for_entity(sample_id("entity", 2)) == []
        (moved,) = await store.get_relationships_for_entity(sample_id("entity", 4))
        assert (moved.source_id, moved.target_id) == (sample_id("entity", 3), sample_id("entity", 4))

    async def test_of_two_records_with_one_id_the_last_counts(self, open_store: OpenStore) -> None:
        store = await open_store()
        receipt = await store.write(RecordBatch(facts=[fact(1), fact(2), fact(1, content="last", tags=["t"])]))
        assert {*receipt.created["fact"]} == {sample_id("fact", 1), sample_id("fact", 2)}
        got = await store.get_fact(sample_id("fact", 1))
        assert got is not None
        assert (got.content, got.tags) == ("last", ("t",))

    async def test_what_is_handed_out_is_a_copy(self, open_store: OpenStore) -> None:
        store = await open_store()
        given = entity(1, attributes={"list": [1], "map": {}})
        await store.write(
            RecordBatch(
                entities=[given],
                relationships=[relationship(1, 1, 1, attributes={"a": []})],
                episodes=[episode(1, messages=[message(1, metadata={"m": []})])],
            )
        )
        given.attributes["list"].append(2)
        for got in [await store.get_entity(given.id), *await store.find_entities()]:
            assert got is not None
            assert got.attributes == {"list": [1], "map": {}}
            got.attributes["map"]["x"] = 1
            got.attributes["new"] = 1
        (edge,) = await store.get_relationships_for_entity(given.id)
        edge.attributes["a"].append(1)
        (listed,) = await store.list_episodes()
        listed.messages[0].metadata["m"].append(1)
        again = await store.get_entity(given.id)
        assert again is not None
        assert again.attributes == {"list": [1], "map": {}}
        assert (await store.get_relationships([edge.id]))[edge.id].attributes == {"a": []}
        assert (await store.get_messages([sample_id("message", 1)]))[sample_id("message", 1)].metadata == {"m": []}

    async def test_batch_reads_keep_the_order_asked_for(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(facts=[fact(n) for n in range(1, 5)], entities=[entity(1), entity(2)]))
        asked = [sample_id("fact", n) for n in (3, 9, 1, 3)]
        assert list(await store.get_facts(asked)) == [sample_id("fact", 3), sample_id("fact", 1)]
        assert list(await store.get_entities([sample_id("entity", 2), sample_id("entity", 1)])) == [
            sample_id("entity", 2),
            sample_id("entity", 1),
        ]
        assert await store.get_themes([]) == {}

    async def test_vectors_come_back_in_float32(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.put_entity(entity(1, embedding=[0.1, 0.2, 0.3, 1e-3]))
        got = await store.get_entity(sample_id("entity", 1))
        assert got is not None
        assert got.embedding == pytest.approx([0.1, 0.2, 0.3, 1e-3], rel=1e-7)
        await store.put_entity(got)
        assert await store.get_entity(got.id) == got


class TestTimesOfRecording:
    @pytest.mark.parametrize("kind", ["fact", "relationship"])
    async def test_recorded_at_is_when_the_store_learned_it(self, open_store: OpenStore, kind: str) -> None:
        clock = FixedClock(day(1))
        store = await open_store(clock=clock)
        await _put(store, kind, {})
        assert (await _got(store, kind)).recorded_at == day(1)
        clock.advance(dt.timedelta(days=1))
        await _put(store, kind, {"recorded_at": day(7)})
        assert (await _got(store, kind)).recorded_at == day(1)

    @pytest.mark.parametrize("kind", ["fact", "relationship"])
    async def test_a_new_record_brings_its_own_time_of_recording(self, open_store: OpenStore, kind: str) -> None:
        store = await open_store(clock=FixedClock(day(1)))
        await _put(store, kind, {"recorded_at": START})
        assert (await _got(store, kind)).recorded_at == START

    @pytest.mark.parametrize("kind", ["fact", "relationship"])
    async def test_closed_at_is_when_it_was_first_put_as_closed(self, open_store: OpenStore, kind: str) -> None:
        clock = FixedClock(day(1))
        store = await open_store(clock=clock)
        closed = {"invalidated_by": sample_id(kind, 9)}  # type: ignore[arg-type]
        await _put(store, kind, {"closed_at": day(5)})
        assert (await _got(store, kind)).closed_at is None
        await _put(store, kind, closed)
        assert (await _got(store, kind)).closed_at == day(1)
        clock.advance(dt.timedelta(days=1))
        await _put(store, kind, {**closed, "closed_at": day(5)})
        assert (await _got(store, kind)).closed_at == day(1)
        await _put(store, kind, {})
        assert (await _got(store, kind)).closed_at is None
        await _put(store, kind, {**closed, "closed_at": day(5)})
        assert (await _got(store, kind)).closed_at == day(5)


def _one_of_each() -> RecordBatch:
    said = message(
        1,
        role="assistant",
        conversation="c",
        speaker="Ada",
        metadata={"k": [1, None]},
        embedding=_VECTOR,
        provenance=_EVERYTHING,
    )
    return RecordBatch(
        entities=[
            entity(
                1,
                attributes={"deep": {"list": [1, 2.5, None, True, "x"]}},
                embedding=_VECTOR,
                provenance=_EVERYTHING,
                invalidated_at=day(3),
                superseded_by=sample_id("entity", 2),
                updated_at=day(2),
            )
        ],
        relationships=[
            relationship(
                1,
                1,
                2,
                weight=0.25,
                attributes={"a": 1},
                valid_until=day(2),
                provenance=_EVERYTHING,
                invalidated_by=sample_id("relationship", 2),
                recorded_at=day(2),
                closed_at=day(3),
            )
        ],
        episodes=[episode(1, messages=[said, message(2)], facts=[1], embedding=_VECTOR, provenance=_EVERYTHING)],
        facts=[
            fact(
                1,
                entities=[1, 2],
                episodes=[1],
                source_message_ids=[sample_id("message", 1)],
                theme_id=sample_id("theme", 1),
                embedding=_VECTOR,
                provenance=_EVERYTHING,
                valid_until=day(4),
                invalidated_by="consolidation:decay",
                recorded_at=day(2),
                closed_at=day(3),
                access_count=7,
                last_accessed_at=day(4),
                tags=["lesson", ""],
            )
        ],
        themes=[theme(1, facts=[1], description="d", embedding=_VECTOR, provenance=_EVERYTHING)],
    )


async def _put(store: Any, kind: str, fields: dict[str, Any]) -> None:
    if kind == "fact":
        await store.put_fact(fact(1, **fields))
    else:
        await store.put_relationship(relationship(1, 1, 2, **fields))


async def _got(store: Any, kind: str) -> Any:
    return await (store.get_fact if kind == "fact" else store.get_relationship)(sample_id(kind, 1))  # type: ignore[arg-type]
