"""Segmentation: every message once, in order, cut at silences."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.hierarchy import SimpleEpisodeSegmenter
from remembrancer.ports import Segmenter
from remembrancer.records import InvalidInputError, Message

START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)

messages = st.builds(
    lambda content, milliseconds: Message(
        role="user", content=content, timestamp=START + dt.timedelta(milliseconds=milliseconds)
    ),
    st.text(max_size=3),
    st.integers(0, 60),
)


def said(content: str, *, seconds: float = 0) -> Message:
    return Message(role="user", content=content, timestamp=START + dt.timedelta(seconds=seconds))


@given(st.lists(messages), st.integers(0, 20))
async def test_every_message_is_in_exactly_one_episode_and_gaps_lie_between_them(
    given_messages: list[Message], threshold: int
) -> None:
    episodes = await SimpleEpisodeSegmenter(gap_threshold_ms=threshold).segment(given_messages)
    listed = [message for episode in episodes for message in episode.messages]
    assert Counter(map(id, listed)) == Counter(map(id, given_messages))
    assert listed == sorted(given_messages, key=lambda message: message.timestamp)
    longest = dt.timedelta(milliseconds=threshold)
    for episode in episodes:
        assert episode.started_at == episode.messages[0].timestamp
        assert episode.ended_at == episode.messages[-1].timestamp
        assert all(b.timestamp - a.timestamp <= longest for a, b in pairwise(episode.messages))
    assert all(later.started_at - earlier.ended_at > longest for earlier, later in pairwise(episodes))
    assert len({episode.id for episode in episodes}) == len(episodes)


async def test_a_gap_of_exactly_the_threshold_does_not_cut_and_a_microsecond_more_does() -> None:
    for extra, count in [(0.0, 1), (0.000001, 2)]:
        episodes = await SimpleEpisodeSegmenter().segment([said("a"), said("b", seconds=300 + extra)])
        assert len(episodes) == count


async def test_messages_of_one_instant_keep_the_order_they_came_in() -> None:
    (episode,) = await SimpleEpisodeSegmenter().segment([said("b"), said("a"), said("c")])
    assert [message.content for message in episode.messages] == ["b", "a", "c"]


async def test_a_topic_counts_characters_and_never_cuts_one_in_half() -> None:
    (episode,) = await SimpleEpisodeSegmenter(max_topic_length=3).segment([said("a😀😀😀")])
    assert episode.topic == "a😀😀"


async def test_episodes_say_when_and_by_what_they_were_made() -> None:
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    an_id = "d0000000-0000-4000-8000-000000000001"
    (episode,) = await SimpleEpisodeSegmenter(clock=lambda: now, new_id=lambda: an_id).segment([said("a")])
    assert (episode.id, episode.provenance.source, episode.provenance.created_at) == (an_id, "system", now)


async def test_nothing_said_is_no_episode() -> None:
    assert await SimpleEpisodeSegmenter().segment([]) == []


def test_it_is_a_segmenter() -> None:
    assert isinstance(SimpleEpisodeSegmenter(), Segmenter)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("gap_threshold_ms", -1),
        ("gap_threshold_ms", float("nan")),
        ("gap_threshold_ms", float("inf")),
        ("gap_threshold_ms", True),
        ("gap_threshold_ms", "5"),
        ("gap_threshold_ms", None),
        ("max_topic_length", -1),
        ("max_topic_length", 1.5),
        ("max_topic_length", False),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        SimpleEpisodeSegmenter(**{option: value})
    assert caught.value.field == option


@pytest.mark.parametrize(
    ("wrong", "field"), [([said("a"), {"role": "user"}], "messages.1"), ("ab", "messages"), (None, "messages")]
)
async def test_what_is_no_message_is_named_by_its_place(wrong: Any, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await SimpleEpisodeSegmenter().segment(wrong)
    assert caught.value.field == field
