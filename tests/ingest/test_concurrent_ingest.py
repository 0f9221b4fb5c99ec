"""Many ingests at once, of one store, several, and several processes: one set of records, no error."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from remembrancer.hierarchy import ConsolidatingThemeClusterer
from remembrancer.hierarchy.ingestion import IngestReport
from remembrancer.ports import Clustering
from remembrancer.records import Fact, Message, Theme, name_key
from remembrancer.testing import OpenStore

Server = tuple[str, tuple[str, str]]

INGESTER = """
import asyncio, json, sys
from remembrancer import Memory
from remembrancer.providers.embedding import HashingEmbedder

async def main():
    uri, user, password, namespace = sys.argv[1:]
    messages = json.load(sys.stdin)
    embedder = HashingEmbedder(dimensions=32)
    async with Memory.connect(uri, auth=(user, password), namespace=namespace, embedder=embedder) as memory:
        print((await memory.ingest(messages)).model_dump_json())

asyncio.run(main())
"""


def as_json(messages: Sequence[Message]) -> bytes:
    return json.dumps([message.model_dump(mode="json") for message in messages]).encode()


async def ingest_elsewhere(server: Server, namespace: str, messages: Sequence[Message]) -> dict[str, Any]:
    """Run one ingest in another process; its report."""
    uri, (user, password) = server
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", INGESTER, uri, user, password, namespace),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(as_json(messages))
    assert process.returncode == 0, err.decode()[-2000:]
    assert err == b""
    report: dict[str, Any] = json.loads(out)
    return report


async def test_sixteen_ingests_of_the_same_messages_make_one_set(open_store: OpenStore, kit: Any) -> None:
    messages = [*kit.conversation(0), *kit.conversation(1)]
    alone = await open_store(space=kit.space)
    await kit.ingestion(alone).ingest(messages)
    stores = [await open_store(space=kit.space, namespace=alone.namespace + " contested") for _ in range(16)]
    reports = await asyncio.gather(*(kit.ingestion(store).ingest(messages) for store in stores))
    held, whole = await kit.contents_of(stores[0]), await kit.contents_of(alone)
    held.check()
    assert held.ids("messages", "episodes", "facts") == whole.ids("messages", "episodes", "facts")
    assert len(held.entities) == len(whole.entities)
    assert len(held.relationships) == len(whole.relationships)
    assert len(held.themes) == len(whole.themes)
    assert sorted(len(report.created.get("message", ())) for report in reports) == [0] * 15 + [24]
    assert all(len(report.duplicates) == 24 for report in reports if not report.created)


@pytest.mark.neo4j
@pytest.mark.long
async def test_four_processes_with_the_same_messages_make_one_set(
    neo4j_server: Server, neo4j_database: Any, kit: Any, unique_namespace: str
) -> None:
    from remembrancer.graph import Neo4jStore

    messages = [*kit.conversation(0), *kit.conversation(1)]
    reports = await asyncio.gather(*(ingest_elsewhere(neo4j_server, unique_namespace, messages) for _ in range(4)))
    async with Neo4jStore.open(database=neo4j_database, namespace=unique_namespace) as store:
        held = await kit.contents_of(store)
    held.check()
    assert len(held.messages) == len(held.facts) == 24
    assert len(held.episodes) == 4
    assert sum(len(report["created"].get("message", ())) for report in reports) == 24


async def test_ingests_that_share_some_messages_store_each_once(open_store: OpenStore, kit: Any) -> None:
    """Overlapping pieces of one conversation, as two readers of one mailbox meet them."""
    messages = kit.conversation(length=20, gap_after=(6, 13))
    pieces = [messages[begin : begin + 8] for begin in range(13)]
    for _ in range(3):
        store = await open_store(space=kit.space)
        await asyncio.gather(*(kit.ingestion(store).ingest(piece) for piece in pieces))
        held = await kit.contents_of(store)
        held.check()
        assert set(held.messages) == {message.id for message in messages}
        assert len(held.facts) == len(messages)


async def test_pieces_of_one_conversation_at_once_are_all_stored(open_store: OpenStore, kit: Any) -> None:
    messages = kit.conversation(length=16, gap_after=())
    store = await open_store(space=kit.space)
    await asyncio.gather(*(kit.ingestion(store).ingest([message]) for message in messages))
    held = await kit.contents_of(store)
    held.check()
    assert set(held.messages) == {message.id for message in messages}
    assert len(held.facts) == 16


async def test_sixteen_conversations_that_name_the_same_make_one_entity_a_name_and_type(
    open_store: OpenStore, kit: Any
) -> None:
    store = await open_store(space=kit.space)
    reports = await asyncio.gather(
        *(kit.ingestion(store).ingest(kit.conversation(number, length=6)) for number in range(16))
    )
    held = await kit.contents_of(store)
    held.check()
    assert len(held.messages) == 16 * 6
    keys = Counter(name_key(entity.name, entity.entity_type) for entity in held.entities.values())
    assert set(keys.values()) == {1}
    created = [entity_id for report in reports for entity_id in report.created.get("entity", ())]
    assert sorted(created) == sorted(held.entities)
    pairs = Counter((edge.source_id, edge.target_id, edge.relation_type) for edge in held.relationships.values())
    assert set(pairs.values()) == {1}


async def test_eight_namespaces_at_once_hold_exactly_their_own(open_store: OpenStore, kit: Any) -> None:
    names = [f"Tenant{number}" for number in range(8)]
    stores = {name: await open_store(space=kit.space) for name in names}
    shared = kit.conversation(0, length=5)

    def own(name: str, part: int) -> list[Message]:
        return [kit.said(60 * part + 1, f"The secret of {name} is part {part} of {name}.", conversation=f"own {part}")]

    await asyncio.gather(
        *(kit.ingestion(stores[name]).ingest(own(name, part)) for name in names for part in range(6)),
        *(kit.ingestion(stores[name]).ingest(shared) for name in names),
    )
    for name in names:
        held = await kit.contents_of(stores[name])
        held.check()
        expected = {message.id for part in range(6) for message in own(name, part)} | {one.id for one in shared}
        assert set(held.messages) == expected
        others = [other for other in names if other != name]
        texts = [
            *(message.content for message in held.messages.values()),
            *(fact.content for fact in held.facts.values()),
            *(entity.name for entity in held.entities.values()),
            *(theme.label for theme in held.themes.values()),
        ]
        assert not [text for text in texts for other in others if other in text]


async def test_of_two_at_once_with_one_key_both_get_the_same_ids(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    messages = kit.conversation()
    reports = await asyncio.gather(
        *(kit.ingestion(store).ingest(messages, idempotency_key="the key") for _ in range(8))
    )
    assert sorted(report.replayed_batches for report in reports) == [0] + [1] * 7
    assert len({json.dumps(report.created, sort_keys=True) for report in reports}) == 1
    (await kit.contents_of(store)).check()


@pytest.mark.neo4j
async def test_deleting_while_ingests_run_ends_in_a_graph_that_agrees(neo4j_database: Any, kit: Any) -> None:
    from remembrancer.graph import Neo4jStore

    async with Neo4jStore.open(database=neo4j_database, namespace=kit.unique(), space=kit.space) as store:
        await kit.ingestion(store).ingest(kit.conversation(0))
        done = asyncio.Event()

        async def deletes() -> int:
            removed = 0
            while not done.is_set():
                for fact in (await store.find_facts(limit=5))[::2]:
                    removed += await store.delete_fact(fact.id)
                for entity in (await store.find_entities(limit=3))[:1]:
                    removed += await store.delete_entity(entity.id)
                for episode in (await store.list_episodes(limit=3))[:1]:
                    removed += await store.delete_episode(episode.id)
            return removed

        deleting = asyncio.create_task(deletes())
        reports: list[IngestReport | BaseException] = await asyncio.gather(
            *(kit.ingestion(store).ingest(kit.conversation(number, length=8)) for number in range(1, 9)),
            return_exceptions=True,
        )
        done.set()
        assert await deleting > 0
        assert [report for report in reports if isinstance(report, BaseException)] == []
        rows = await neo4j_database.read(
            "MATCH (n {namespace: $namespace}) WHERE n:Placeholder AND NOT (n)--() AND NOT n:Namespace "
            "RETURN labels(n) AS labels, n.id AS id",
            {"namespace": store.namespace},
        )
        assert rows == []
        held = await kit.contents_of(store)
        listed = [message.id for episode in held.episodes.values() for message in episode.messages]
        assert len(listed) == len(set(listed))


class Slowly(ConsolidatingThemeClusterer):
    """Takes its time, so that others write meanwhile."""

    async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
        clustering = await super().cluster(facts, themes)
        await asyncio.sleep(0.03)
        return clustering


WORDS = "river stone copper lamp violin anchor orchard meadow falcon engine piano market garden winter castle bridge"


async def test_themes_that_merge_while_others_add_to_them_lose_no_fact(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    words = WORDS.split()

    def about(number: int, sentences: int) -> list[Message]:
        chosen = [[words[(number * 7 + n * 5 + w * 3) % len(words)] for w in range(5)] for n in range(sentences)]
        texts = [f"The {' '.join(five)} is what they spoke of." for five in chosen]
        return [kit.said(n, text, conversation=f"talk {number}") for n, text in enumerate(texts)]

    apart = ConsolidatingThemeClusterer(assignment_threshold=0.99, merge_threshold=2)
    for number in range(6):
        await kit.ingestion(store, clusterer=apart).ingest(about(number, 1))
    merging = Slowly(assignment_threshold=0.7, merge_threshold=0.75, max_themes=2)
    await asyncio.gather(
        *(kit.ingestion(store, clusterer=merging).ingest(about(number, 4)) for number in range(10, 18))
    )
    held = await kit.contents_of(store)
    held.check()
    assert len(held.messages) == 6 + 8 * 4


async def test_without_vectors_many_at_once_make_one_general_theme(open_store: OpenStore, kit: Any) -> None:
    store = await open_store()
    await asyncio.gather(
        *(
            kit.ingestion(store, clusterer=Slowly()).ingest(kit.conversation(number, length=3, gap_after=()))
            for number in range(8)
        )
    )
    held = await kit.contents_of(store)
    held.check()
    assert [len(theme.fact_ids) for theme in held.themes.values()] == [24]


async def test_a_general_theme_that_was_renamed_is_left_alone(open_store: OpenStore, kit: Any) -> None:
    store = await open_store()
    await kit.ingestion(store).ingest(kit.conversation(0, length=2))
    (theme,) = await store.list_themes()
    await store.put_theme(theme.model_copy(update={"label": "Mine"}))
    await kit.ingestion(store).ingest(kit.conversation(1, length=2))
    held = await kit.contents_of(store)
    held.check()
    assert sorted(one.label for one in held.themes.values()) == ["General", "Mine"]
