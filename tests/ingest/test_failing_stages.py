"""Extractors and segmenters of users that fail in whatever way: the messages are stored, the report tells, the rest
goes on; in both stores."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from remembrancer.hierarchy import RuleBasedExtractor, SimpleEpisodeSegmenter
from remembrancer.hierarchy.ingestion import retry_extraction
from remembrancer.inmemory import InMemoryStore
from remembrancer.ports import Extraction
from remembrancer.records import Episode, Message
from remembrancer.testing import OpenStore

NAMES = ("Alice", "Bob", "Carol")


class OddError(Exception):
    """What no library knows."""


def talk(kit: Any) -> list[Message]:
    return [kit.said(60 * place, f"{name} works at Acme Corp now.") for place, name in enumerate(NAMES)]


def raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


class Extractor(RuleBasedExtractor):
    """Reads by rules, unless it is down for what an episode holds."""

    def __init__(self, fail: Callable[[], Any]) -> None:
        super().__init__()
        self.fail: Callable[[], Any] | None = fail

    async def extract(self, episode: Episode) -> Extraction:
        if self.fail is not None and "Bob" in episode.topic:
            return self.fail()  # type: ignore[no-any-return]
        return await super().extract(episode)


WAYS: list[tuple[Callable[[], Any], str]] = [
    (raising(OddError("my parser\n  gave up")), "OddError: my parser gave up"),
    (raising(ZeroDivisionError("division by zero")), "ZeroDivisionError: division by zero"),
    (raising(TimeoutError()), "TimeoutError:"),
    (raising(ValueError("long " * 1_000)), "ValueError: long"),
    (lambda: None, "the extractor gave NoneType instead of an Extraction"),
    (lambda: {"facts": []}, "the extractor gave dict instead of an Extraction"),
    (lambda: Extraction(None, facts=("Bob works.",)), "the extractor gave str among its facts"),  # type: ignore[arg-type]
    (lambda: Extraction(None, entities=None), "TypeError: 'NoneType' object is not iterable"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("fail", "reason"), WAYS)
async def test_an_episode_on_which_an_extractor_fails_is_told_and_stops_nothing(
    open_store: OpenStore, kit: Any, fail: Callable[[], Any], reason: str
) -> None:
    store = await open_store(space=kit.space)
    extractor = Extractor(fail)
    ingestion = kit.ingestion(store, extractor=extractor)
    report = await ingestion.ingest(talk(kit))
    (failed,) = report.failed
    assert failed.reason.startswith(reason)
    assert len(failed.reason) < 400
    (unread,) = await store.find_unread_episodes()
    assert unread.id == failed.episode_id
    assert [message.content for message in unread.messages] == ["Bob works at Acme Corp now."]
    contents = await kit.contents_of(store)
    assert (len(contents.messages), len(contents.facts)) == (3, 2)

    again = await retry_extraction(ingestion)
    assert again.failed == report.failed
    extractor.fail = None
    mended = await retry_extraction(ingestion)
    assert (mended.failed, mended.counts["fact"]) == ((), 1)
    assert await store.find_unread_episodes() == []
    (await kit.contents_of(store)).check()


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt])
async def test_what_is_to_end_a_program_ends_an_ingest(kit: Any, error: type[BaseException]) -> None:
    class Interrupted(BaseException):
        pass

    # A real KeyboardInterrupt would leave the event loop of the whole run.
    raised = Interrupted if error is KeyboardInterrupt else error
    store = InMemoryStore("x", space=kit.space)
    with pytest.raises(raised):
        await kit.ingestion(store, extractor=Extractor(raising(raised()))).ingest(talk(kit))
    assert (await kit.contents_of(store)).messages == {}


class Segmenter(SimpleEpisodeSegmenter):
    """Cuts as a plan says."""

    def __init__(self, cut: Callable[[list[Episode]], Any]) -> None:
        super().__init__()
        self.cut = cut

    @property
    def reach(self) -> dt.timedelta:
        return dt.timedelta(hours=2)

    async def segment(self, messages: Sequence[Message]) -> list[Episode]:
        return self.cut(await super().segment(messages))  # type: ignore[no-any-return]


def failing(episodes: list[Episode]) -> Any:
    raise OddError("no boundary found")


def emptied(episodes: list[Episode]) -> list[Episode]:
    return [*episodes, episodes[0].model_copy(update={"messages": ()})]


CUTS: list[tuple[Callable[[list[Episode]], Any], str]] = [
    (failing, "OddError: no boundary found"),
    (lambda episodes: None, "expected a list of Episode records, got NoneType"),
    (lambda episodes: episodes[1:], "1 messages are in no episode, 0 in more than one or from elsewhere"),
    (lambda episodes: [*episodes, episodes[0]], "0 messages are in no episode, 1 in more than one or from elsewhere"),
    (emptied, "an episode without messages"),
]


@pytest.mark.parametrize(("cut", "reason"), CUTS)
async def test_where_a_segmenter_fails_silences_cut_and_nothing_is_lost(
    open_store: OpenStore, kit: Any, cut: Callable[[list[Episode]], Any], reason: str
) -> None:
    store = await open_store(space=kit.space)
    ingestion = kit.ingestion(store, segmenter=Segmenter(cut))
    report = await ingestion.ingest(talk(kit))
    assert {one.reason for one in report.fell_back} == {f"the segmenter failed, cut at silences instead: {reason}"}
    assert sorted(one.episode_id for one in report.fell_back) == sorted(report.created["episode"])
    assert report.failed == ()
    contents = await kit.contents_of(store)
    contents.check()
    assert (len(contents.messages), len(contents.episodes), len(contents.facts)) == (3, 3, 3)
    assert await store.find_unread_episodes() == []
    later = await ingestion.ingest([kit.said(121, "Dave works at Acme Corp now.")])
    assert len(later.fell_back) == 1
    (await kit.contents_of(store)).check()


async def test_a_segmenter_that_fails_on_one_conversation_cuts_the_others(open_store: OpenStore, kit: Any) -> None:
    def on_bobs(episodes: list[Episode]) -> list[Episode]:
        return failing(episodes) if "Bob" in episodes[0].topic else episodes

    store = await open_store(space=kit.space)
    messages = [
        kit.said(minute, f"{name} works at Acme Corp now.", conversation=name) for minute, name in enumerate(NAMES)
    ]
    report = await kit.ingestion(store, segmenter=Segmenter(on_bobs)).ingest(messages)
    (fell_back,) = report.fell_back
    episode = await store.get_episode(fell_back.episode_id)
    assert episode is not None
    assert episode.messages[0].conversation == "Bob"
    assert report.counts["fact"] == 3
