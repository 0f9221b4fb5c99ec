"""Ingest in both stores: what goes in is found, once, under episodes, facts and themes that agree with each other."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import tracemalloc
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.hierarchy import (
    GENERAL_LABEL,
    ConsolidatingThemeClusterer,
    RuleBasedExtractor,
    SimpleEpisodeSegmenter,
    SimpleThemeClusterer,
)
from remembrancer.hierarchy.clustering import ThemeNamer
from remembrancer.hierarchy.ingestion import PORTION, Renewal, theming
from remembrancer.ports import Clustering, Extraction
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    Episode,
    Fact,
    InvalidInputError,
    Message,
    RemembranceError,
    Theme,
)
from remembrancer.testing import OpenStore

MINUTE = dt.timedelta(minutes=1)


async def test_what_goes_in_is_found_and_agrees(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    messages = kit.conversation()
    report = await kit.ingestion(store).ingest(messages)
    held = await kit.contents_of(store)
    held.check()
    assert set(held.messages) == {message.id for message in messages}
    assert len(held.episodes) == 2
    assert len(held.facts) == len(messages)
    assert {"Alice", "Acme Corp"} <= {entity.name for entity in held.entities.values()}
    assert {edge.relation_type for edge in held.relationships.values()} == {"work_at"}
    for record in itertools.chain(held.messages.values(), held.facts.values(), held.entities.values()):
        assert record.embedding is not None
        assert len(record.embedding) == kit.space.dimensions
    assert all(one.embedding is not None for one in (*held.episodes.values(), *held.themes.values()))
    assert report.messages_read == len(messages)
    assert report.duplicates == ()
    assert report.failed == ()
    assert report.changed == {}
    assert {kind: set(ids) for kind, ids in report.created.items()} == {
        "message": set(held.messages),
        "episode": set(held.episodes),
        "fact": set(held.facts),
        "theme": set(held.themes),
        "entity": set(held.entities),
        "relationship": set(held.relationships),
    }
    assert report.counts == {
        **{kind: len(ids) for kind, ids in report.created.items()},
        "duplicate": 0,
        "failed": 0,
    }


async def test_messages_come_back_as_they_went_in(open_store: OpenStore, kit: Any) -> None:
    store = await open_store()
    messages = [
        kit.said(0, "", speaker="Ada"),
        kit.said(1, "  \n ", role="assistant", metadata={"tool": None, "n": 2**70}),
        kit.said(2, "Zażółć gęślą jaźń 🎈 \x00 `MATCH (n) DETACH DELETE n` $'\"\\", role="tool", speaker="Ω"),
    ]
    await kit.ingestion(store).ingest(messages)
    assert await store.get_messages([message.id for message in messages]) == {one.id: one for one in messages}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "`) DETACH DELETE n //",
        "' OR 1=1 --",
        '$param {x: "y"} \\u0041',
        'title:"x" AND (a OR b*) ~2 ^3 [a TO z] + - && || ! ( ) { } ? : \\ /',
        "\x00\x01\x7f\ufeff\u2028\r\n\t",
        "مرحبا \u202eעולם\u202c",
        "e\u0301\u0323 Å Å ﬁ ǆ ß İ",
        "日本語 ภาษาไทย 한국어 हिन्दी தமிழ் ქართული አማርኛ བོད་སྐད ᏣᎳᎩ",
        "👩‍👩‍👧‍👦🏳️‍🌈\U0010ffff",
    ]
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(contents=st.lists(TEXTS, min_size=1, max_size=4), speaker=TEXTS, conversation=TEXTS, key=TEXTS)
async def test_any_text_comes_back_to_the_last_character(
    open_store: OpenStore, kit: Any, contents: list[str], speaker: str, conversation: str, key: str
) -> None:
    store = await open_store(space=kit.space)
    messages = [
        kit.said(n, text, speaker=speaker, conversation=conversation, metadata={key: text})
        for n, text in enumerate(contents)
    ]
    await kit.ingestion(store).ingest(messages, idempotency_key=key or "k")
    found = await store.get_messages([message.id for message in messages])
    assert {one.id: one.model_copy(update={"embedding": None}) for one in found.values()} == {
        one.id: one for one in messages
    }
    (await kit.contents_of(store)).check()


async def test_empty_texts_are_taken_in_with_an_embedder_too(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    report = await kit.ingestion(store).ingest([kit.said(0, ""), kit.said(1, " "), kit.said(2, "!")])
    assert report.counts["message"] == 3


async def test_nothing_is_taken_in_from_nothing(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    report = await kit.ingestion(store).ingest([])
    assert (report.messages_read, report.created, report.batches) == (0, {}, 0)


async def test_again_changes_nothing(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    messages = [*kit.conversation(0), *kit.conversation(1)]
    await kit.ingestion(store).ingest(messages)
    before = await kit.contents_of(store)
    shuffled = random.Random(1).sample(messages, len(messages))

    async def slowly() -> AsyncIterator[Message]:
        for message in messages:
            yield message

    again: list[Any] = [
        messages,
        tuple(reversed(messages)),
        shuffled,
        shuffled[7:15],
        [message.model_dump() for message in messages],
        [message.model_dump(mode="json") for message in messages],
        (message for message in messages),
        slowly(),
        [*messages, *messages],
    ]
    for incoming in again:
        report = await kit.ingestion(store).ingest(incoming)
        assert report.created == report.changed == report.removed == {}
        assert len(report.duplicates) == report.messages_read > 0
        assert await kit.contents_of(store) == before


async def test_a_message_given_twice_at_once_is_stored_once(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    messages = kit.conversation(length=4, gap_after=())
    report = await kit.ingestion(store).ingest([*messages, messages[1], *messages])
    assert report.messages_read == 9
    assert sorted(report.duplicates) == sorted([messages[1].id, *(message.id for message in messages)])
    held = await kit.contents_of(store)
    held.check()
    assert len(held.messages) == len(held.facts) == 4


ONE_GO = ("messages", "episodes", "facts")


async def in_one_go(open_store: OpenStore, kit: Any, messages: Sequence[Message]) -> Any:
    store = await open_store(space=kit.space)
    await kit.ingestion(store).ingest(messages)
    return await kit.contents_of(store)


async def test_one_at_a_time_is_as_in_one_go(open_store: OpenStore, kit: Any) -> None:
    messages = sorted([*kit.conversation(0), *kit.conversation(1, length=9)], key=lambda message: message.timestamp)
    whole = await in_one_go(open_store, kit, messages)
    store = await open_store(space=kit.space)
    for message in messages:
        report = await kit.ingestion(store).ingest([message])
        assert report.created["message"] == (message.id,)
    held = await kit.contents_of(store)
    held.check()
    assert held.ids(*ONE_GO) == whole.ids(*ONE_GO)
    for episode in whole.episodes.values():
        same = held.episodes[episode.id]
        assert [message.id for message in same.messages] == [message.id for message in episode.messages]
        assert set(same.fact_ids) == set(episode.fact_ids)
        assert (same.topic, same.started_at, same.ended_at) == (episode.topic, episode.started_at, episode.ended_at)
    assert {entity.name for entity in held.entities.values()} == {entity.name for entity in whole.entities.values()}
    assert len(held.relationships) == len(whole.relationships)


async def test_portions_beyond_one_transaction_are_as_in_one_go(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    messages = kit.conversation(length=2 * PORTION + 30, gap_after=range(0, 1000, 37))
    told: list[int] = []
    report = await kit.ingestion(store).ingest(messages, progress=told.append)
    assert told == [PORTION, 2 * PORTION, 2 * PORTION + 30]
    assert report.batches == 3
    held = await kit.contents_of(store)
    held.check()
    assert set(held.messages) == {message.id for message in messages}
    assert len(held.episodes) == len(range(0, 430, 37)) + 1
    assert {kind: set(ids) for kind, ids in report.created.items() if kind == "episode"} == {
        "episode": set(held.episodes)
    }


SPLITS = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


@SPLITS
@given(data=st.data())
async def test_any_split_in_order_of_time_is_as_in_one_go(open_store: OpenStore, kit: Any, data: st.DataObject) -> None:
    minutes = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=14, unique=True), label="minutes")
    talks = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=14, max_size=14), label="conversations")
    messages = [
        kit.said(minute, f"Alice visited Paris on day {minute} of spring.", conversation=talk)
        for minute, talk in zip(sorted(minutes), talks, strict=False)
    ]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(messages)), max_size=5), label="cuts") | {0, len(messages)})
    whole = await in_one_go(open_store, kit, messages)
    store = await open_store(space=kit.space)
    for begin, end in itertools.pairwise(cuts):
        await kit.ingestion(store).ingest(messages[begin:end])
    held = await kit.contents_of(store)
    held.check()
    assert held.ids(*ONE_GO) == whole.ids(*ONE_GO)


@SPLITS
@given(data=st.data())
async def test_in_any_order_each_message_is_stored_once(open_store: OpenStore, kit: Any, data: st.DataObject) -> None:
    minutes = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=12), label="minutes")
    messages = [
        kit.said(minute, f"Bob moved to Berlin for reason {place} of many.", conversation=None)
        for place, minute in enumerate(minutes)
    ]
    store = await open_store(space=kit.space)
    for _ in range(2):
        for size in data.draw(st.lists(st.integers(1, 5), min_size=12, max_size=12), label="portions"):
            chosen = data.draw(st.permutations(messages), label="order")[:size]
            await kit.ingestion(store).ingest(chosen)
    await kit.ingestion(store).ingest(messages)
    held = await kit.contents_of(store)
    held.check()
    assert set(held.messages) == {message.id for message in messages}
    assert len(held.facts) == len(messages)


async def test_an_open_episode_goes_on_within_the_gap_and_not_beyond(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    await kit.ingestion(store).ingest([kit.said(0, "Alice works at Acme Corp these days.")])
    within = await kit.ingestion(store).ingest([kit.said(5, "Bob works at Acme Corp these days.")])
    assert "episode" not in within.created
    assert len(within.changed["episode"]) == 1
    beyond = await kit.ingestion(store).ingest([kit.said(10.001, "Carol works at Acme Corp these days.")])
    assert len(beyond.created["episode"]) == 1
    sizes = sorted(len(episode.messages) for episode in await store.list_episodes())
    assert sizes == [1, 2]


async def test_conversations_are_kept_apart(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    talks = ["a", "b", "", None]
    for minute in range(3):
        await kit.ingestion(store).ingest(
            [kit.said(minute, f"Alice works at Acme Corp, minute {minute}.", conversation=talk) for talk in talks]
        )
    held = await kit.contents_of(store)
    held.check()
    assert sorted(len(episode.messages) for episode in held.episodes.values()) == [3, 3, 3, 3]
    assert len(held.facts) == 12


async def test_a_late_message_finds_its_place(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    early, middle, late = (kit.said(minute, f"Alice spoke at minute {minute} of the hour.") for minute in (0, 4, 8))
    await kit.ingestion(store).ingest([early])
    await kit.ingestion(store).ingest([late])
    assert len(await store.list_episodes()) == 2
    await kit.ingestion(store).ingest([middle])
    held = await kit.contents_of(store)
    held.check()
    assert len(held.messages) == len(held.facts) == 3
    holder = next(
        one
        for one in held.episodes.values()
        if middle in [m.model_copy(update={"embedding": None}) for m in one.messages]
    )
    assert len(holder.messages) == 2


async def test_a_message_before_everything_begins_its_episode_earlier(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    await kit.ingestion(store).ingest([kit.said(3, "Alice spoke at minute three."), kit.said(4, "Bob was there too.")])
    await kit.ingestion(store).ingest([kit.said(0, "Carol spoke first of all of them.")])
    (episode,) = await store.list_episodes()
    assert episode.started_at == kit.start
    assert [message.timestamp for message in episode.messages] == [kit.start + n * MINUTE for n in (0, 3, 4)]


async def test_messages_of_one_instant_are_all_kept(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    texts = [f"Alice said thing number {number} at once." for number in range(5)]
    await kit.ingestion(store).ingest([kit.said(0, text) for text in texts])
    await kit.ingestion(store).ingest([kit.said(0, "Bob said a thing at the same instant.")])
    (episode,) = await store.list_episodes()
    assert [message.content for message in episode.messages] == [*texts, "Bob said a thing at the same instant."]


@pytest.mark.parametrize("edge", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
@pytest.mark.parametrize("gap_ms", [300_000, 10**15, 10**18], ids=["minutes", "ages", "beyond"])
async def test_the_ends_of_time_are_no_obstacle(open_store: OpenStore, kit: Any, edge: str, gap_ms: int) -> None:
    store = await open_store(space=kit.space)
    segmenter = SimpleEpisodeSegmenter(gap_threshold_ms=gap_ms)
    at = dt.datetime.fromisoformat(edge)
    for number in range(2):
        message = kit.said(0, f"Alice spoke at the edge, number {number}.", timestamp=at)
        await kit.ingestion(store, segmenter=segmenter).ingest([message])
    (episode,) = await store.list_episodes()
    assert (episode.started_at, episode.ended_at, len(episode.messages)) == (at, at, 2)
    assert [fact.valid_from for fact in await store.find_facts()] == [at, at]


async def test_what_is_stored_together_stays_together_under_a_stricter_segmenter(
    open_store: OpenStore, kit: Any
) -> None:
    store = await open_store(space=kit.space)
    await kit.ingestion(store).ingest([kit.said(minute, f"Alice spoke at minute {minute}.") for minute in (0, 4, 8)])
    (before,) = await store.list_episodes()
    strict = SimpleEpisodeSegmenter(gap_threshold_ms=60_000)
    for minute in (2, 6, 8.5, -0.5):
        await kit.ingestion(store, segmenter=strict).ingest([kit.said(minute, f"Bob spoke at minute {minute}.")])
    held = await kit.contents_of(store)
    held.check()
    kept = held.episodes[before.id]
    assert {message.id for message in before.messages} <= {message.id for message in kept.messages}
    assert len(held.messages) == len(held.facts) == 7
    assert sorted(len(episode.messages) for episode in held.episodes.values()) == [1, 1, 5]


class TestThemes:
    async def test_facts_join_the_themes_that_are_there(self, open_store: OpenStore, kit: Any) -> None:
        store = await open_store(space=kit.space)
        await kit.ingestion(store).ingest([kit.said(0, "Alice loves hiking in the high mountains.")])
        (theme,) = await store.list_themes()
        report = await kit.ingestion(store).ingest([kit.said(200, "Alice loves hiking in the high mountains again.")])
        assert report.changed["theme"] == (theme.id,)
        (grown,) = await store.list_themes()
        assert grown.fact_ids[:1] == theme.fact_ids
        assert grown.model_copy(update={"fact_ids": theme.fact_ids}) == theme
        (await kit.contents_of(store)).check()

    async def test_without_vectors_facts_gather_in_the_general_theme(self, open_store: OpenStore, kit: Any) -> None:
        store = await open_store()
        for number in range(3):
            await kit.ingestion(store).ingest(kit.conversation(number, length=3))
        held = await kit.contents_of(store)
        held.check()
        assert [theme.label for theme in held.themes.values()] == [GENERAL_LABEL]
        assert len(held.facts) == 9
        assert all(record.embedding is None for record in (*held.messages.values(), *held.facts.values()))

    async def test_a_merged_theme_is_gone_and_its_facts_point_to_the_one_that_stays(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        store = await open_store(space=kit.space)
        texts = [
            "Alice loves hiking in the high mountains.",
            "Bob repairs old wooden boats near the harbour.",
            "Carol studies medieval trade routes.",
        ]
        for number, text in enumerate(texts):
            apart = ConsolidatingThemeClusterer(assignment_threshold=0.99, merge_threshold=2)
            await kit.ingestion(store, clusterer=apart).ingest([kit.said(60 * number, text)])
        assert len(await store.list_themes()) == 3
        merging = ConsolidatingThemeClusterer(assignment_threshold=0.99, merge_threshold=2, max_themes=1)
        report = await kit.ingestion(store, clusterer=merging).ingest([kit.said(600, "Dave sings in the city choir.")])
        held = await kit.contents_of(store)
        held.check()
        assert len(held.themes) == 1
        assert len(held.facts) == 4
        assert len(report.removed["theme"]) == 3 - len(set(held.themes) & set(report.changed.get("theme", ())))
        assert await store.get_themes(report.removed["theme"]) == {}
        assert report.batches == 1

    async def test_themes_are_renewed_as_they_grow_and_only_those_near_are_read(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        store = await open_store(space=kit.space)
        shown: list[int] = []

        class Counting(ConsolidatingThemeClusterer):
            async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
                shown.append(len(themes))
                return await super().cluster(facts, themes)

        clusterer = Counting(assignment_threshold=0.5, merge_threshold=0.95)
        parts = {"clusterer": clusterer, "renewal": Renewal(ThemeNamer())}
        words = ["boats", "choirs", "trains", "bread", "violins", "glaciers", "tulips", "kayaks", "comets", "pottery"]
        others = [kit.said(60 * n, f"Everybody here has always loved {word} most.") for n, word in enumerate(words)]
        await kit.ingestion(store, **parts, segmenter=SimpleEpisodeSegmenter()).ingest(others)
        for number in range(4):
            text = f"Alice hiked number {number} in the high mountains."
            await kit.ingestion(store, **parts).ingest([kit.said(6000 + 60 * number, text)])
        held = await kit.contents_of(store)
        held.check()
        (hikes,) = [one for one in held.themes.values() if "mountains" in one.description]
        assert len(hikes.fact_ids) == 4
        assert "mountains" in hikes.label
        assert max(shown) <= 5

    async def test_of_large_themes_only_some_facts_are_read_and_none_is_lost(
        self, open_store: OpenStore, kit: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(theming, "_NAMED_FACTS", 3)
        store = await open_store(space=kit.space)
        shown: list[int] = []

        class Counting(ConsolidatingThemeClusterer):
            async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
                shown.extend(len(theme.fact_ids) for theme in themes)
                return await super().cluster(facts, themes)

        apart = Counting(assignment_threshold=0.6, merge_threshold=2)
        parts = {"renewal": Renewal(ThemeNamer())}
        for number in range(9):
            texts = [f"Alice hiked number {number} in the high mountains.", f"Boat {number} lies in the old harbour."]
            said = [kit.said(60 * number, text, conversation=text[:5]) for text in texts]
            await kit.ingestion(store, clusterer=apart, **parts).ingest(said)
        before = await kit.contents_of(store)
        before.check()
        assert max(len(theme.fact_ids) for theme in before.themes.values()) > 4
        assert max(shown) == 3
        merging = Counting(assignment_threshold=0.6, merge_threshold=2, max_themes=1)
        report = await kit.ingestion(store, clusterer=merging, **parts).ingest(
            [kit.said(9000, "Dave sings in a choir.")]
        )
        held = await kit.contents_of(store)
        held.check()
        assert len(held.facts) == len(before.facts) + 1
        assert report.removed["theme"]
        assert len(held.themes) < len(before.themes) + 1

    async def test_a_theme_that_went_away_meanwhile_is_planned_around(self, open_store: OpenStore, kit: Any) -> None:
        store = await open_store(space=kit.space)
        await kit.ingestion(store).ingest([kit.said(0, "Alice loves hiking in the high mountains.")])
        (theme,) = await store.list_themes()

        class Meddling(ConsolidatingThemeClusterer):
            async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
                clustering = await super().cluster(facts, themes)
                await store.delete_theme(theme.id)
                return clustering

        await kit.ingestion(store, clusterer=Meddling(assignment_threshold=0.5)).ingest(
            [kit.said(200, "Alice loves hiking in the high mountains again.")]
        )
        (new,) = await store.list_themes()
        assert new.id != theme.id
        assert len(new.fact_ids) == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("spoil", "field"),
        [
            ({"content": None}, "messages.3.content"),
            ({"role": "nobody"}, "messages.3.role"),
            ({"timestamp": dt.datetime(2025, 1, 1)}, "messages.3.timestamp"),  # noqa: DTZ001 - what is tested
            ({"timestamp": "yesterday"}, "messages.3.timestamp"),
            ({"conversation": "x" * 1001}, "messages.3.conversation"),
            ({"content": "a \ud800 b"}, "messages.3.content"),
            ({"metadata": {"when": dt.datetime.now(dt.UTC)}}, "messages.3.metadata"),
            ({"id": "not an id"}, "messages.3.id"),
            ({"embedding": [float("nan")] * 32}, "messages.3.embedding"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    async def test_one_bad_message_of_a_list_stops_everything_and_is_named(
        self, open_store: OpenStore, kit: Any, spoil: dict[str, Any], field: str
    ) -> None:
        store = await open_store(space=kit.space)
        messages: list[Any] = [message.model_dump() for message in kit.conversation(length=4)]
        messages[3] |= spoil
        with pytest.raises(InvalidInputError) as raised:
            await kit.ingestion(store).ingest(messages)
        assert raised.value.field.startswith(field)
        assert await store.list_episodes() == []

    @pytest.mark.parametrize("bad", [7, "text", {"role": "user"}, None, b"bytes", object()])
    async def test_what_is_no_messages_is_refused(self, open_store: OpenStore, kit: Any, bad: Any) -> None:
        store = await open_store()
        with pytest.raises(InvalidInputError, match="messages"):
            await kit.ingestion(store).ingest(bad)

    @pytest.mark.parametrize("whole_portions", [0, 1])
    async def test_what_came_before_a_stream_failed_is_stored(
        self, open_store: OpenStore, kit: Any, whole_portions: int
    ) -> None:
        store = await open_store(space=kit.space)
        messages = kit.conversation(length=whole_portions * PORTION + 7, gap_after=(3,))

        def failing() -> Iterator[Message]:
            yield from messages
            raise LookupError("the source is gone")

        def spoilt() -> Iterator[Any]:
            yield from messages
            yield {"role": "user"}

        with pytest.raises(LookupError, match="the source is gone"):
            await kit.ingestion(store).ingest(failing())
        assert set((await kit.contents_of(store)).messages) == {message.id for message in messages}
        with pytest.raises(InvalidInputError, match=rf"messages\.{len(messages)}\.content"):
            await kit.ingestion(store).ingest(spoilt())

    async def test_with_a_key_a_failed_stream_stores_whole_portions_and_loses_nothing_when_run_again(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        store = await open_store(space=kit.space)
        messages = kit.conversation(length=PORTION + 7)

        async def failing() -> AsyncIterator[Message]:
            for message in messages[:-2]:
                yield message
            raise LookupError("the source is gone")

        with pytest.raises(LookupError):
            await kit.ingestion(store).ingest(failing(), idempotency_key="k")
        assert len((await kit.contents_of(store)).messages) == PORTION
        report = await kit.ingestion(store).ingest(messages, idempotency_key="k")
        assert (report.batches, report.replayed_batches) == (2, 1)
        held = await kit.contents_of(store)
        held.check()
        assert set(held.messages) == {message.id for message in messages}

    @pytest.mark.parametrize(
        ("vector", "error"),
        [
            ([1.0] * 31, EmbeddingDimensionMismatchError),
            ([0.0] * 32, InvalidInputError),
            ([float("nan")] * 32, InvalidInputError),
            ([float("inf")] + [0.0] * 31, InvalidInputError),
            ([], EmbeddingDimensionMismatchError),
        ],
        ids=["short", "zero", "nan", "infinite", "empty"],
    )
    @pytest.mark.parametrize("which", ["message", "fact", "entity"])
    async def test_a_bad_vector_of_the_embedder_stops_everything_and_names_the_record(
        self, open_store: OpenStore, kit: Any, vector: list[float], error: type[RemembranceError], which: str
    ) -> None:
        store = await open_store(space=kit.space)

        class Bad:
            model, dimensions = kit.embedder.model, kit.embedder.dimensions

            async def embed(self, texts: Sequence[str]) -> list[Any]:
                good = await kit.embedder.embed(texts)
                last = {"message": texts[-1].startswith("Frank: "), "entity": texts[-1] == "Paris"}
                is_which = last.get(which, texts[-1].endswith(".") and not texts[-1].startswith("Frank: "))
                return [*good[:-1], vector] if is_which else good

        with pytest.raises(error, match=rf"embedder \({which} [0-9a-f-]{{36}}\)"):
            await kit.ingestion(store, embedder=Bad()).ingest(
                [kit.said(0, "Alice moved to the old town of Paris.", speaker="Frank")]
            )
        held = await kit.contents_of(store)
        assert not held.messages
        assert not held.entities

    async def test_another_number_of_vectors_than_texts_is_refused(self, open_store: OpenStore, kit: Any) -> None:
        store = await open_store(space=kit.space)

        class Short:
            model, dimensions = kit.embedder.model, kit.embedder.dimensions

            async def embed(self, texts: Sequence[str]) -> list[list[float]]:
                return (await kit.embedder.embed(texts))[:-1]

        with pytest.raises(InvalidInputError, match="embedder"):
            await kit.ingestion(store, embedder=Short()).ingest(kit.conversation(length=3))
        assert not (await kit.contents_of(store)).messages

    async def test_a_message_that_brings_a_wrong_vector_is_refused_by_name(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        store = await open_store(space=kit.space)
        messages = [kit.said(0, "Alice brings her own.", embedding=[1.0] * 5), kit.said(1, "Bob brings none at all.")]
        with pytest.raises(EmbeddingDimensionMismatchError, match=r"messages\.0\.embedding"):
            await kit.ingestion(store).ingest(messages)
        assert not (await kit.contents_of(store)).messages


class Reading(RuleBasedExtractor):
    """Fails on some texts."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def extract(self, episode: Episode) -> Extraction:
        if any("Bob" in message.content for message in episode.messages):
            raise self.error
        return await super().extract(episode)


class TestExtraction:
    async def test_an_episode_that_cannot_be_read_is_reported_and_stored_with_the_others(
        self, open_store: OpenStore, kit: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        store = await open_store(space=kit.space)
        messages = [
            kit.said(60 * n, f"{who} works at Acme Corp now.") for n, who in enumerate(["Alice", "Bob", "Carol"])
        ]
        report = await kit.ingestion(store, extractor=Reading(RemembranceError("unreadable"))).ingest(messages)
        held = await kit.contents_of(store)
        assert set(held.messages) == {message.id for message in messages}
        assert len(held.facts) == 2
        (failed,) = report.failed
        assert failed.reason == "RemembranceError: unreadable"
        assert [message.id for message in held.episodes[failed.episode_id].messages] == [messages[1].id]
        assert report.counts["failed"] == 1
        assert failed.episode_id in caplog.text

    async def test_an_error_of_a_clusterer_goes_through_and_nothing_is_written(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        class Failing(SimpleThemeClusterer):
            async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
                raise ZeroDivisionError

        store = await open_store(space=kit.space)
        messages = [kit.said(60 * n, f"{who} works at Acme Corp now.") for n, who in enumerate(["Alice", "Bob"])]
        with pytest.raises(ZeroDivisionError):
            await kit.ingestion(store, clusterer=Failing()).ingest(messages)
        held = await kit.contents_of(store)
        assert not held.messages
        assert not held.entities
        report = await kit.ingestion(store).ingest(messages)
        assert report.counts["message"] == 2

    async def test_a_sentence_said_again_in_a_later_portion_is_not_a_second_fact(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        store = await open_store(space=kit.space)
        for minute in range(3):
            await kit.ingestion(store).ingest([kit.said(minute, "Alice works at  Acme Corp now.")])
            await kit.ingestion(store).ingest([kit.said(minute, "alice works at Acme Corp NOW.", speaker="Bob")])
        held = await kit.contents_of(store)
        held.check()
        assert (len(held.messages), len(held.facts)) == (6, 1)


class TestIdempotency:
    async def test_the_same_key_writes_once(self, open_store: OpenStore, kit: Any) -> None:
        store = await open_store(space=kit.space)
        messages = kit.conversation()
        first = await kit.ingestion(store).ingest(messages, idempotency_key="k")
        before = await kit.contents_of(store)
        second = await kit.ingestion(store).ingest(messages, idempotency_key="k")
        assert second.created == first.created
        assert (first.replayed_batches, second.replayed_batches) == (0, 1)
        assert await kit.contents_of(store) == before

    async def test_what_was_deleted_since_does_not_come_back(self, open_store: OpenStore, kit: Any) -> None:
        store = await open_store(space=kit.space)
        messages = kit.conversation()
        await kit.ingestion(store).ingest(messages, idempotency_key="k")
        await store.delete_message(messages[0].id)
        await kit.ingestion(store).ingest(messages, idempotency_key="k")
        assert await store.get_message(messages[0].id) is None

    async def test_a_key_used_for_other_messages_is_refused_and_not_silent(
        self, open_store: OpenStore, kit: Any
    ) -> None:
        store = await open_store(space=kit.space)
        await kit.ingestion(store).ingest(kit.conversation(0), idempotency_key="k")
        with pytest.raises(InvalidInputError, match="was used for other messages") as raised:
            await kit.ingestion(store).ingest(kit.conversation(1), idempotency_key="k")
        assert raised.value.field == "idempotency_key"
        assert len((await kit.contents_of(store)).messages) == 12

    @pytest.mark.parametrize("key", ["k" * 1000, "é" * 500, "k" * 985])
    async def test_the_longest_keys_are_keys_of_many_portions(self, open_store: OpenStore, kit: Any, key: str) -> None:
        store = await open_store()
        messages = kit.conversation(length=PORTION + 1)
        for replayed in (0, 2):
            report = await kit.ingestion(store).ingest(messages, idempotency_key=key)
            assert report.replayed_batches == replayed

    @pytest.mark.parametrize("key", ["", "k" * 1001, "\udc00", 7])
    async def test_a_bad_key_is_refused_before_anything_is_written(
        self, open_store: OpenStore, kit: Any, key: Any
    ) -> None:
        store = await open_store()
        with pytest.raises(InvalidInputError) as raised:
            await kit.ingestion(store).ingest(kit.conversation(), idempotency_key=key)
        assert raised.value.field == "idempotency_key"
        assert await store.list_episodes() == []


async def test_what_an_ingest_holds_in_memory_does_not_grow_with_what_is_stored(
    open_store: OpenStore, kit: Any, backend: Any
) -> None:
    if backend is None:
        pytest.skip("the store in memory holds everything in memory")

    async def peak(store: Any, number: int) -> int:
        messages = kit.conversation(number, length=60)
        await kit.ingestion(store).ingest(kit.conversation(number + 100, length=5))  # whatever is made once
        tracemalloc.start()
        try:
            await kit.ingestion(store).ingest(messages)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    store = await open_store(space=kit.space)
    empty = await peak(store, 1)
    for number in range(2, 17):
        texts = [f"Word{number}x{n} means thing{n * 7 + number} to tribe{n * 31 + number}." for n in range(80)]
        await kit.ingestion(store).ingest(
            [kit.said(n, text, conversation=f"filler {number}") for n, text in enumerate(texts)]
        )
    assert await peak(store, 60) < 1.3 * empty
