"""Segmentation and the simple extractor, by worked examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from remembrancer.hierarchy import SimpleEpisodeSegmenter, SimpleExtractor
from remembrancer.records import Episode, InvalidInputError, Message, Provenance

AREA = "cycgraph/segmenter"

OPTIONS = {"gapThresholdMs": "gap_threshold_ms", "maxTopicLength": "max_topic_length"}


def instant(value: Any) -> str:
    return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def segment(given: dict[str, Any]) -> list[dict[str, Any]]:
    messages = [
        Message(id=message_id, role=role, content=content, timestamp=timestamp)
        for message_id, role, content, timestamp in given["messages"]
    ]
    segmenter = SimpleEpisodeSegmenter(**{OPTIONS[name]: value for name, value in given.get("options", {}).items()})
    return [
        {
            "topic": episode.topic,
            "started_at": instant(episode.started_at),
            "ended_at": instant(episode.ended_at),
            "message_ids": [message.id for message in episode.messages],
            "source": episode.provenance.source,
            "fact_ids": list(episode.fact_ids),
        }
        for episode in await segmenter.segment(messages)
    ]


async def simple_extract(given: dict[str, Any]) -> dict[str, Any]:
    episode = Episode(
        id=given["episode"],
        topic=given["topic"],
        messages=[],
        started_at=given["started_at"],
        ended_at=given["started_at"],
        provenance=Provenance(source="system", created_at=given["started_at"]),
    )
    extraction = await SimpleExtractor().extract(episode)
    return {
        "facts": [
            {
                "content": fact.content,
                "source_episode_ids": list(fact.source_episode_ids),
                "entity_ids": list(fact.entity_ids),
                "valid_from": instant(fact.valid_from),
                "source": fact.provenance.source,
                "tags": list(fact.tags),
            }
            for fact in extraction.facts
        ],
        "entities": len(extraction.entities),
        "relationships": len(extraction.relationships),
        "episode_fact_ids": len(extraction.episode.fact_ids),
    }


ANSWERS = {"segment": segment, "simple_extract": simple_extract}


def with_right_topics(case: Any, recut: Callable[[str, str, int], str]) -> Any:
    """The expected answer, its topics cut by characters."""
    contents = {message[0]: message[2] for message in case.input["messages"]}
    length = case.input.get("options", {}).get("maxTopicLength", 100)
    episodes = []
    for place, episode in enumerate(case.expected):
        topic = recut(episode["topic"], contents[episode["message_ids"][0]], length)
        if place == 0:
            topic = case.get("fixed_topic", topic)
        episodes.append({**episode, "topic": topic})
    return episodes


async def test_the_answer_is_the_worked_one(case: Any, recut: Callable[[str, str, int], str]) -> None:
    if case.error:
        with pytest.raises((InvalidInputError, ValidationError)):
            await ANSWERS[case.fn](case.input)
        return
    expected = case.expected
    if case.fn == "segment" and "fixed" not in case.fields:
        expected = with_right_topics(case, recut)
    assert await ANSWERS[case.fn](case.input) == expected
