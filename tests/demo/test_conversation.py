"""The conversation that is shipped for trying things out: that it is sound, and that it holds what is asked of it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from remembrancer import demo
from remembrancer.records.message import Message

SIMPLE_EPISODES_PART_AFTER = dt.timedelta(minutes=5)


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return [Message.model_validate(one) for one in demo.conversation()]


@pytest.fixture(scope="module")
def asked() -> list[dict[str, Any]]:
    return demo.questions()


def test_every_line_is_a_message_with_a_speaker_and_a_conversation(messages: list[Message]) -> None:
    assert 200 <= len(messages) <= 300
    assert all(message.speaker and message.conversation and message.content for message in messages)
    assert {message.role for message in messages} == {"user", "assistant"}


def test_no_message_is_there_twice(messages: list[Message]) -> None:
    assert len({message.id for message in messages}) == len(messages)
    assert len({message.content for message in messages}) == len(messages)


def test_messages_are_in_the_order_of_their_times_over_several_weeks(messages: list[Message]) -> None:
    assert all(earlier.timestamp < later.timestamp for earlier, later in pairwise(messages))
    assert messages[-1].timestamp - messages[0].timestamp > dt.timedelta(weeks=7)


def test_several_people_talk_in_several_conversations(messages: list[Message]) -> None:
    spoken = Counter(message.speaker for message in messages)

    assert len(spoken) == 6
    assert min(spoken.values()) >= 10
    assert len({message.conversation for message in messages}) >= 6
    assert {message.speaker for message in messages if message.role == "assistant"} == {"Scout"}


def test_a_burst_is_quick_and_in_one_conversation_and_bursts_are_far_apart(messages: list[Message]) -> None:
    sizes = [1]
    for earlier, later in pairwise(messages):
        pause = later.timestamp - earlier.timestamp
        if pause > SIMPLE_EPISODES_PART_AFTER:
            sizes.append(1)
            continue
        sizes[-1] += 1
        assert dt.timedelta(seconds=20) <= pause <= dt.timedelta(seconds=120)
        assert earlier.conversation == later.conversation

    assert len(sizes) > 20
    assert all(5 <= size <= 15 for size in sizes)


def test_the_evidence_of_every_question_is_said_and_holds_its_key_words(
    messages: list[Message], asked: list[dict[str, Any]]
) -> None:
    said = {(one.conversation, one.speaker, one.timestamp): one.content for one in messages}
    for question in asked:
        assert question["evidence"]
        for place in question["evidence"]:
            time = dt.datetime.fromisoformat(place["timestamp"])
            content = said[place["conversation"], place["speaker"], time]
            assert all(word in content for word in question["key_words"])
        assert all(word in question["answer"] for word in question["key_words"])


def test_one_question_asks_of_an_earlier_instant_and_its_answer_differs_from_todays(
    messages: list[Message], asked: list[dict[str, Any]]
) -> None:
    then = [question for question in asked if question["valid_at"] is not None]
    assert len(asked) - len(then) == 5
    assert len(then) == 1
    (question,) = then
    instant = dt.datetime.fromisoformat(question["valid_at"])

    assert all(dt.datetime.fromisoformat(place["timestamp"]) < instant for place in question["evidence"])
    for word in question["not_yet"]:
        first_said = min(message.timestamp for message in messages if word in message.content)
        assert first_said > instant
