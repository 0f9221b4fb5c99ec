"""Nobody reads what is not theirs; what cannot be stored is refused by name, and all else comes back unharmed."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from remembrancer.ports import MemoryStore
from remembrancer.records import InvalidInputError, MemoryQuery, RecordBatch
from remembrancer.records.statement import Statement
from remembrancer.retrieval import extract_subgraph, retrieve_memory
from remembrancer.testing.opening import IndexedStore, OpenStore
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

_WRITES = ("put_", "delete_", "write", "touch_facts", "flush_usage", "clear", "namespace", "space")

READS: Mapping[str, Callable[[IndexedStore], Any]] = {
    "get_entity": lambda store: store.get_entity(sample_id("entity", 1)),
    "get_relationship": lambda store: store.get_relationship(sample_id("relationship", 1)),
    "get_episode": lambda store: store.get_episode(sample_id("episode", 1)),
    "get_fact": lambda store: store.get_fact(sample_id("fact", 1)),
    "get_theme": lambda store: store.get_theme(sample_id("theme", 1)),
    "get_message": lambda store: store.get_message(sample_id("message", 1)),
    "get_entities": lambda store: store.get_entities([sample_id("entity", 1)]),
    "get_relationships": lambda store: store.get_relationships([sample_id("relationship", 1)]),
    "get_episodes": lambda store: store.get_episodes([sample_id("episode", 1)]),
    "get_facts": lambda store: store.get_facts([sample_id("fact", 1)]),
    "get_themes": lambda store: store.get_themes([sample_id("theme", 1)]),
    "get_messages": lambda store: store.get_messages([sample_id("message", 1)]),
    "get_relationships_for_entity": lambda store: store.get_relationships_for_entity(sample_id("entity", 1)),
    "find_entities": lambda store: store.find_entities(include_invalidated=True),
    "find_facts": lambda store: store.find_facts(include_invalidated=True),
    "find_episode_near": lambda store: store.find_episode_near(None, starting_before=day(9), ending_after=day(-9)),
    "find_themes_labelled": lambda store: store.find_themes_labelled("theme 1"),
    "find_statements": lambda store: store.find_statements([(sample_id("entity", 1), "port")]),
    "list_episodes": lambda store: store.list_episodes(),
    "list_themes": lambda store: store.list_themes(),
    "find_unread_episodes": lambda store: store.find_unread_episodes(),
    "stored_message_ids": lambda store: store.stored_message_ids([sample_id("message", 1)]),
}
"""A call of each reading method that finds one record of the samples."""

SEARCHES = ("search_entities", "search_facts", "search_themes", "search_episodes", "search_messages")


def _full() -> RecordBatch:
    vector = direction(0)
    port = Statement(subject_id=sample_id("entity", 1), predicate="port", value=8080)
    listed: dict[str, Any] = {"theme_id": sample_id("theme", 1), "statement": port}
    return RecordBatch(
        entities=[entity(1, embedding=vector), entity(2)],
        relationships=[relationship(1, 1, 2)],
        episodes=[
            episode(
                1,
                messages=[message(1, embedding=vector)],
                facts=[1],
                embedding=vector,
                unread_message_ids=[sample_id("message", 1)],
            )
        ],
        facts=[fact(1, entities=[1, 2], episodes=[1], embedding=vector, tags=["t"], **listed)],
        themes=[theme(1, facts=[1], embedding=vector)],
    )


class TestNamespaces:
    def test_every_reading_method_is_known_here(self) -> None:
        reading = {
            name
            for name, _ in inspect.getmembers(MemoryStore)
            if not name.startswith("_") and not name.startswith(_WRITES)
        }
        assert reading == set(READS)

    async def test_no_read_reaches_another_namespace(self, open_store: OpenStore) -> None:
        ours, theirs = await open_store(space=SPACE), await open_store(space=SPACE)
        assert ours.namespace != theirs.namespace
        await theirs.write(_full())
        for name, read in READS.items():
            assert await read(theirs), name
            assert not await read(ours), name
        for name in SEARCHES:
            assert await getattr(theirs.index, name)(direction(0)), name
            assert not await getattr(ours.index, name)(direction(0)), name
        for query in (
            MemoryQuery(embedding=direction(0)),
            MemoryQuery(entity_ids=[sample_id("entity", 1)]),
            MemoryQuery(tags=["t"]),
        ):
            assert (await retrieve_memory(theirs, theirs.index, query)).facts
            assert not (await retrieve_memory(ours, ours.index, query)).facts
        assert (await extract_subgraph(theirs, [sample_id("entity", 1)])).relationships
        assert not (await extract_subgraph(ours, [sample_id("entity", 1)])).entities

    async def test_no_write_reaches_another_namespace(self, open_store: OpenStore) -> None:
        ours, theirs = await open_store(space=SPACE), await open_store(space=SPACE)
        await theirs.write(_full(), idempotency_key="k")
        receipt = await ours.write(_full(), idempotency_key="k")
        assert not receipt.replayed
        assert receipt.changed == {}
        await ours.put_relationship(relationship(1, 2, 2))
        await ours.write(RecordBatch(claims=[entity(9, name="Entity 1")]))
        await ours.touch_facts([sample_id("fact", 1)])
        await ours.flush_usage()
        await ours.delete_entity(sample_id("entity", 1))
        await ours.clear()
        for name, read in READS.items():
            assert await read(theirs), name
        got = await theirs.get_fact(sample_id("fact", 1))
        assert got is not None
        assert got.access_count == 0

    async def test_a_namespace_opened_again_is_the_same_memory(self, open_store: OpenStore) -> None:
        first = await open_store(space=SPACE)
        await first.write(_full())
        again = await open_store(space=SPACE, namespace=first.namespace)
        assert again.namespace == first.namespace
        assert await again.get_fact(sample_id("fact", 1)) == await first.get_fact(sample_id("fact", 1))


_LONG = "é" * 501  # 1,002 bytes
_BAD_CALLS: Mapping[str, Callable[[Any], Any]] = {
    "batch": lambda store: store.write({"facts": []}),
    "idempotency_key": lambda store: store.write(RecordBatch(), idempotency_key=_LONG),
    "idempotency_key ": lambda store: store.write(RecordBatch(), idempotency_key=""),
    "idempotency_key  ": lambda store: store.write(RecordBatch(), idempotency_key=7),
    "ids.0": lambda store: store.get_fact("not-a-uuid"),
    "ids.1": lambda store: store.get_entities([sample_id("entity", 1), 5]),
    "ids": lambda store: store.get_themes(sample_id("theme", 1)),
    "ids ": lambda store: store.stored_message_ids(3),
    "limit": lambda store: store.find_facts(limit=-1),
    "limit ": lambda store: store.find_entities(limit=True),
    "limit  ": lambda store: store.list_episodes(limit=2.0),
    "limit   ": lambda store: store.find_facts(limit=2**63),
    "offset": lambda store: store.find_facts(offset=-1),
    "offset ": lambda store: store.list_episodes(offset="1"),
    "entity_type": lambda store: store.find_entities(entity_type=_LONG),
    "include_invalidated": lambda store: store.find_entities(include_invalidated=1),
    "tags": lambda store: store.find_facts(tags="lesson"),
    "tags.0": lambda store: store.find_facts(tags=[_LONG]),
    "exclude_tags.1": lambda store: store.find_facts(exclude_tags=["a", None]),
    "theme_id": lambda store: store.find_facts(theme_id="General"),
    "entity_id": lambda store: store.find_facts(entity_id=""),
    "entity_id ": lambda store: store.get_relationships_for_entity("x"),
    "direction": lambda store: store.get_relationships_for_entity(sample_id("entity", 1), direction="outgoing"),
    "relation_type": lambda store: store.get_relationships_for_entity(sample_id("entity", 1), relation_type=""),
    "label": lambda store: store.find_themes_labelled(None),
    "conversation": lambda store: store.find_episode_near(_LONG, starting_before=START, ending_after=START),
    "starting_before": lambda store: store.find_episode_near(
        None,
        starting_before=START.replace(tzinfo=None),
        ending_after=START,
    ),
    "at": lambda store: store.touch_facts([], at="yesterday"),
}


class TestBadInput:
    @pytest.mark.parametrize("name", list(_BAD_CALLS))
    async def test_a_bad_argument_is_refused_by_name(self, open_store: OpenStore, name: str) -> None:
        store = await open_store()
        with pytest.raises(InvalidInputError) as caught:
            await _BAD_CALLS[name](store)
        assert caught.value.field == name.strip()

    @pytest.mark.parametrize("kind", ["entity", "relationship", "episode", "fact", "theme"])
    async def test_only_records_can_be_put_and_only_ids_deleted(self, open_store: OpenStore, kind: str) -> None:
        store = await open_store()
        for bad in ({"id": "x"}, None, "text", message(1)):
            with pytest.raises(InvalidInputError):
                await getattr(store, f"put_{kind}")(bad)
        for bad_id in ("not-a-uuid", "", None, 5):
            with pytest.raises(InvalidInputError):
                await getattr(store, f"delete_{kind}")(bad_id)

    async def test_a_map_that_went_bad_is_refused(self, open_store: OpenStore) -> None:
        store = await open_store()
        spoilt = entity(1)
        spoilt.attributes["x"] = {1, 2}
        with pytest.raises(InvalidInputError, match=r"entities\.0\.attributes"):
            await store.put_entity(spoilt)

    @pytest.mark.parametrize("namespace", [_LONG, 5])
    async def test_a_namespace_is_a_key(self, open_store: OpenStore, namespace: Any) -> None:
        with pytest.raises(InvalidInputError, match="namespace"):
            await open_store(namespace=namespace)


_TEXTS = (
    "\x00 in the middle \x00",
    "') DETACH DELETE n //",
    "`backticks` $parameter {map: 1} \\u0041 \\n",
    '+content:"a" AND (b OR c*)~2 ^3 [x TO y] && || !',
    "日本語 עברית 🧑‍🚀 e\u0301 \u202e \u2028",
    " \t\r\n ",
    "' OR 1=1; --",
)


class TestTexts:
    @pytest.mark.parametrize("text", _TEXTS)
    async def test_any_text_comes_back_as_it_was(self, open_store: OpenStore, text: str) -> None:
        store = await open_store()
        batch = RecordBatch(
            entities=[entity(1, name=text, entity_type=text, attributes={text: {text: [text]}})],
            relationships=[relationship(1, 1, 1, relation_type=text, attributes={text: None})],
            episodes=[
                episode(
                    1,
                    topic=text,
                    messages=[message(1, content=text, conversation=text, speaker=text, metadata={text: text})],
                )
            ],
            facts=[fact(1, content=text, tags=[text], entities=[1])],
            themes=[theme(1, label=text, description=text)],
        )
        await store.write(batch, idempotency_key=text)
        assert await store.find_entities(entity_type=text) == list(batch.entities)
        assert await store.list_episodes() == list(batch.episodes)
        assert await store.find_themes_labelled(text) == list(batch.themes)
        assert [one.content for one in await store.find_facts(tags=[text])] == [text]
        assert await store.find_facts(exclude_tags=[text]) == []
        edges = await store.get_relationships_for_entity(sample_id("entity", 1), relation_type=text)
        assert [edge.attributes for edge in edges] == [{text: None}]
        near = await store.find_episode_near(text, starting_before=day(9), ending_after=day(-9))
        assert near == batch.episodes[0]
        assert (await store.write(RecordBatch(), idempotency_key=text)).replayed

    async def test_keys_have_up_to_a_thousand_bytes(self, open_store: OpenStore) -> None:
        store = await open_store()
        longest = "é" * 500
        await store.put_fact(fact(1, tags=[longest], invalidated_by=longest))
        assert len(await store.find_facts(tags=[longest], include_invalidated=True)) == 1
        await store.write(RecordBatch(entities=[entity(1, entity_type=longest)]), idempotency_key=longest)
        assert len(await store.find_entities(entity_type=longest)) == 1

    async def test_long_texts_and_long_lists_come_back_whole(self, open_store: OpenStore) -> None:
        store = await open_store()
        long = "memory " * 150_000  # a little over 1 MB
        tags = [f"tag {n}" for n in range(10_000)]
        await store.write(
            RecordBatch(
                facts=[fact(1, content=long, tags=tags)],
                entities=[entity(1, name=long)],
                themes=[theme(1, label=long)],
                episodes=[episode(1, topic=long, messages=[message(1, content=long)])],
            )
        )
        got = await store.get_fact(sample_id("fact", 1))
        assert got is not None
        assert got.content == long
        assert list(got.tags) == tags
        assert [one.id for one in await store.find_facts(tags=["tag 9999"])] == [sample_id("fact", 1)]
        (held,) = await store.list_episodes()
        assert (held.topic, held.messages[0].content) == (long, long)
        assert [one.id for one in await store.find_themes_labelled(long)] == [sample_id("theme", 1)]

    async def test_open_maps_keep_every_json_value(self, open_store: OpenStore) -> None:
        store = await open_store()
        values: dict[str, Any] = {
            "big": 2**80,
            "small": -(2**70),
            "float": 0.1,
            "null": None,
            "": {"": []},
            "yes": True,
            "one": 1,
        }
        await store.write(
            RecordBatch(
                entities=[entity(1, attributes=values)],
                relationships=[relationship(1, 1, 1, attributes=values)],
                episodes=[episode(1, messages=[message(1, metadata=values)])],
            )
        )
        got = await store.get_entity(sample_id("entity", 1))
        assert got is not None
        assert got.attributes == values
        assert isinstance(got.attributes["yes"], bool)
        assert isinstance(got.attributes["one"], int)
        assert (await store.get_relationships_for_entity(got.id))[0].attributes == values
        assert (await store.list_episodes())[0].messages[0].metadata == values


class TestInstants:
    @pytest.mark.parametrize(
        "instant",
        [
            dt.datetime.min.replace(tzinfo=dt.UTC),
            dt.datetime.max.replace(tzinfo=dt.UTC),
            dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, dt.UTC),
            dt.datetime(1583, 2, 28, 1, 2, 3, 4, dt.UTC),
            dt.datetime(2025, 3, 30, 2, 30, 0, 1, dt.timezone(dt.timedelta(hours=5, minutes=45))),
        ],
    )
    async def test_instants_come_back_to_the_microsecond(self, open_store: OpenStore, instant: dt.datetime) -> None:
        store = await open_store()
        batch = RecordBatch(
            entities=[entity(1, created_at=instant, updated_at=instant, invalidated_at=instant)],
            relationships=[relationship(1, 1, 1, valid_from=instant, valid_until=instant, recorded_at=instant)],
            episodes=[episode(1, messages=[message(1, timestamp=instant)])],
            facts=[fact(1, valid_from=instant, valid_until=instant, recorded_at=instant, last_accessed_at=instant)],
        )
        await store.write(batch)
        assert await store.get_entity(sample_id("entity", 1)) == batch.entities[0]
        assert await store.get_relationship(sample_id("relationship", 1)) == batch.relationships[0]
        assert await store.get_episode(sample_id("episode", 1)) == batch.episodes[0]
        got = await store.get_fact(sample_id("fact", 1))
        assert got == batch.facts[0]
        assert got is not None
        assert got.valid_from.tzinfo is dt.UTC
        assert await store.find_episode_near(None, starting_before=instant, ending_after=instant) is not None
