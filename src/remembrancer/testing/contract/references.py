"""Records may arrive in any order, each owns what it names, and receipts say what became of it all."""

from __future__ import annotations

from remembrancer.records import IdsByKind, RecordBatch, RecordKind
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import entity, episode, fact, message, relationship, sample_id, theme


def _ids(kind: RecordKind, *numbers: int) -> IdsByKind:
    return {kind: tuple(sample_id(kind, number) for number in numbers)}


class TestReceipts:
    async def test_a_receipt_tells_created_from_changed(self, open_store: OpenStore) -> None:
        store = await open_store()
        first = await store.write(RecordBatch(entities=[entity(1)], episodes=[episode(1, messages=[message(1)])]))
        assert first.created == {**_ids("entity", 1), **_ids("episode", 1), **_ids("message", 1)}
        assert (first.changed, first.removed, first.placeholders, first.replayed) == ({}, {}, {}, False)
        second = await store.write(
            RecordBatch(entities=[entity(1), entity(2)], episodes=[episode(1, messages=[message(1), message(2)])])
        )
        assert second.created == {**_ids("entity", 2), **_ids("message", 2)}
        assert second.changed == {**_ids("entity", 1), **_ids("episode", 1), **_ids("message", 1)}

    async def test_removals_are_listed_when_they_were_stored(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(facts=[fact(1), fact(2)], themes=[theme(1)]))
        batch = RecordBatch(
            removals={"fact": [sample_id("fact", 1), sample_id("fact", 9)], "theme": [sample_id("theme", 1)]}
        )
        assert (await store.write(batch)).removed == {**_ids("fact", 1), **_ids("theme", 1)}
        assert [one.id for one in await store.find_facts()] == [sample_id("fact", 2)]
        assert (await store.write(batch)).removed == {}

    async def test_an_empty_write_does_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert not any((await store.write(RecordBatch())).counts.values())


class TestPlaceholders:
    async def test_naming_what_is_not_stored_makes_a_placeholder(self, open_store: OpenStore) -> None:
        store = await open_store()
        mentioning = fact(1, entities=[1], episodes=[1]).model_copy(
            update={"source_message_ids": (sample_id("message", 1),), "theme_id": sample_id("theme", 5)}
        )
        receipt = await store.put_fact(mentioning.model_copy(update={"invalidated_by": sample_id("fact", 5)}))
        assert receipt.placeholders == {**_ids("entity", 1), **_ids("episode", 1), **_ids("message", 1)}
        assert (await store.put_theme(theme(1, facts=[2]))).placeholders == _ids("fact", 2)
        assert (await store.put_episode(episode(2, facts=[3]))).placeholders == _ids("fact", 3)
        assert (await store.put_relationship(relationship(1, 2, 3))).placeholders == _ids("entity", 2, 3)
        superseded = entity(4, superseded_by=sample_id("entity", 5))
        assert (await store.put_entity(superseded)).placeholders == {}

    async def test_naming_a_placeholder_again_makes_none(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_fact(fact(1, entities=[1]))
        assert (await store.put_fact(fact(2, entities=[1, 2, 2]))).placeholders == _ids("entity", 2)
        assert (await store.put_fact(fact(1))).placeholders_removed == {}
        assert (await store.put_fact(fact(2))).placeholders_removed == _ids("entity", 1, 2)

    async def test_reads_never_show_placeholders(self, open_store: OpenStore) -> None:
        store = await open_store()
        cited = fact(1, entities=[1], episodes=[1]).model_copy(
            update={"source_message_ids": (sample_id("message", 1),)}
        )
        await store.write(RecordBatch(facts=[cited], themes=[theme(1, facts=[2])]))
        assert await store.get_entities([sample_id("entity", 1)]) == {}
        assert await store.get_episodes([sample_id("episode", 1)]) == {}
        assert await store.get_messages([sample_id("message", 1)]) == {}
        assert await store.stored_message_ids([sample_id("message", 1)]) == set()
        assert list(await store.get_facts([sample_id("fact", 2), sample_id("fact", 1)])) == [sample_id("fact", 1)]
        assert await store.find_entities(include_invalidated=True) == []
        assert await store.list_episodes() == []
        assert [one.id for one in await store.find_facts(include_invalidated=True)] == [sample_id("fact", 1)]

    async def test_writing_the_record_fills_its_placeholder(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(facts=[fact(1, entities=[1])], relationships=[relationship(1, 1, 2)]))
        receipt = await store.put_entity(entity(1))
        assert (receipt.created, receipt.placeholders, receipt.placeholders_removed) == (_ids("entity", 1), {}, {})
        assert [one.id for one in await store.find_facts(entity_id=sample_id("entity", 1))] == [sample_id("fact", 1)]
        (edge,) = await store.get_relationships_for_entity(sample_id("entity", 1))
        assert edge.id == sample_id("relationship", 1)

    async def test_what_the_same_write_stores_is_no_placeholder(self, open_store: OpenStore) -> None:
        store = await open_store()
        receipt = await store.write(
            RecordBatch(
                facts=[fact(1, entities=[1, 2], episodes=[1])],
                entities=[entity(1)],
                episodes=[episode(1, facts=[1, 2])],
                themes=[theme(1, facts=[1])],
                relationships=[relationship(1, 1, 3)],
            )
        )
        assert receipt.placeholders == {**_ids("entity", 2, 3), **_ids("fact", 2)}

    async def test_the_write_that_removes_the_last_name_removes_the_placeholder(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(facts=[fact(1, entities=[1, 2])], relationships=[relationship(1, 1, 3)]))
        receipt = await store.put_fact(fact(1))
        assert receipt.placeholders_removed == _ids("entity", 2)
        gone = await store.write(RecordBatch(removals={"relationship": [sample_id("relationship", 1)]}))
        assert gone.placeholders_removed == _ids("entity", 1, 3)
        await store.put_theme(theme(1, facts=[7]))
        assert (await store.put_theme(theme(1, facts=[8]))).placeholders_removed == _ids("fact", 7)
        await store.put_episode(episode(1, facts=[9]))
        dropped = await store.write(
            RecordBatch(removals={"episode": [sample_id("episode", 1)], "theme": [sample_id("theme", 1)]})
        )
        assert dropped.placeholders_removed == _ids("fact", 8, 9)

    async def test_a_deleted_record_that_others_name_is_a_placeholder_again(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(facts=[fact(1, entities=[1], tags=["t"])], entities=[entity(1)]))
        receipt = await store.write(RecordBatch(removals={"entity": [sample_id("entity", 1)]}))
        assert (receipt.removed, receipt.placeholders) == (_ids("entity", 1), {})
        assert await store.get_entity(sample_id("entity", 1)) is None
        got = await store.get_fact(sample_id("fact", 1))
        assert got is not None
        assert got.entity_ids == (sample_id("entity", 1),)
        assert (await store.put_fact(fact(1))).placeholders_removed == _ids("entity", 1)
        assert (await store.put_entity(entity(1))).created == _ids("entity", 1)


class TestOwnership:
    async def test_a_put_leaves_alone_what_other_records_own(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                entities=[entity(1), entity(2)],
                relationships=[relationship(1, 1, 2)],
                episodes=[episode(1, facts=[1])],
                facts=[fact(1, entities=[1], episodes=[1], theme_id=sample_id("theme", 1))],
                themes=[theme(1, facts=[1])],
            )
        )
        await store.write(RecordBatch(entities=[entity(1)], facts=[fact(1)]))
        assert (await store.get_themes([sample_id("theme", 1)]))[sample_id("theme", 1)] == theme(1, facts=[1])
        assert (await store.get_episodes([sample_id("episode", 1)]))[sample_id("episode", 1)] == episode(1, facts=[1])
        assert len(await store.get_relationships_for_entity(sample_id("entity", 1))) == 1
        await store.put_episode(episode(1))
        assert (await store.get_themes([sample_id("theme", 1)]))[sample_id("theme", 1)] == theme(1, facts=[1])

    async def test_a_theme_and_its_facts_name_each_other_apart(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(themes=[theme(1, facts=[1])], facts=[fact(1), fact(2)]))
        await store.put_fact(fact(2, theme_id=sample_id("theme", 1)))
        assert [one.id for one in await store.find_facts(theme_id=sample_id("theme", 1))] == [sample_id("fact", 2)]
        assert (await store.list_themes())[0].fact_ids == (sample_id("fact", 1),)

    async def test_a_message_belongs_to_the_episode_that_put_it_last(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_episode(episode(1, messages=[message(1), message(2)]))
        await store.put_episode(episode(2, messages=[message(2, content="again"), message(3)]))
        held = await store.get_episodes([sample_id("episode", 1), sample_id("episode", 2)])
        assert [one.id for one in held[sample_id("episode", 1)].messages] == [sample_id("message", 1)]
        assert [one.content for one in held[sample_id("episode", 2)].messages] == ["again", "message 3"]


class TestDeletion:
    async def test_deleting_says_whether_there_was_something(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(
                entities=[entity(1)],
                relationships=[relationship(1, 1, 1)],
                episodes=[episode(1, messages=[message(1)])],
                facts=[fact(1)],
                themes=[theme(1)],
            )
        )
        deletions = {
            "relationship": store.delete_relationship,
            "entity": store.delete_entity,
            "episode": store.delete_episode,
            "fact": store.delete_fact,
            "theme": store.delete_theme,
            "message": store.delete_message,
        }
        for kind, delete in deletions.items():
            assert await delete(sample_id(kind, 1))  # type: ignore[arg-type]
            assert not await delete(sample_id(kind, 1))  # type: ignore[arg-type]

    async def test_an_entity_takes_every_relationship_at_it_along(self, open_store: OpenStore) -> None:
        store = await open_store()
        edges = [relationship(1, 1, 2), relationship(2, 2, 1), relationship(3, 1, 1), relationship(4, 2, 3)]
        closed = relationship(5, 1, 3, invalidated_by=sample_id("relationship", 1))
        await store.write(RecordBatch(entities=[entity(n) for n in (1, 2, 3)], relationships=[*edges, closed]))
        receipt = await store.write(RecordBatch(removals={"entity": [sample_id("entity", 1)]}))
        assert receipt.removed == {**_ids("entity", 1), **_ids("relationship", 1, 2, 3, 5)}
        assert list(await store.get_relationships([edge.id for edge in edges])) == [sample_id("relationship", 4)]

    async def test_deleting_an_entity_that_is_not_stored_removes_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_relationship(relationship(1, 1, 2))
        receipt = await store.write(RecordBatch(removals={"entity": [sample_id("entity", 1)]}))
        assert (receipt.removed, receipt.placeholders_removed) == ({}, {})
        assert await store.get_relationship(sample_id("relationship", 1)) is not None

    async def test_deleting_an_episode_keeps_its_messages(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(RecordBatch(episodes=[episode(1, messages=[message(1)])], facts=[fact(1, episodes=[1])]))
        assert await store.delete_episode(sample_id("episode", 1))
        assert await store.get_message(sample_id("message", 1)) == message(1)
        got = await store.get_fact(sample_id("fact", 1))
        assert got is not None
        assert got.source_episode_ids == (sample_id("episode", 1),)

    async def test_a_deleted_message_is_missing_from_its_episode(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_episode(episode(1, messages=[message(1), message(2)]))
        await store.delete_message(sample_id("message", 1))
        got = await store.get_episode(sample_id("episode", 1))
        assert got is not None
        assert [one.id for one in got.messages] == [sample_id("message", 2)]

    async def test_clearing_removes_everything(self, open_store: OpenStore) -> None:
        store = await open_store()
        batch = RecordBatch(
            entities=[entity(1)],
            relationships=[relationship(1, 1, 2)],
            episodes=[episode(1, messages=[message(1)])],
            facts=[fact(1, tags=["t"])],
            themes=[theme(1, facts=[2])],
        )
        await store.write(batch, idempotency_key="k")
        await store.clear()
        assert await store.find_entities(include_invalidated=True) == []
        assert await store.find_facts(include_invalidated=True) == []
        assert await store.list_episodes() == []
        assert await store.list_themes() == []
        assert await store.stored_message_ids([sample_id("message", 1)]) == set()
        again = await store.write(batch, idempotency_key="k")
        assert not again.replayed
        assert sample_id("fact", 1) in again.created["fact"]
