"""Kind 6: whatever a model answers, an ingest goes through and its messages are kept."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory
from remembrancer.testing.samples import entity, sample_id

pytestmark = pytest.mark.neo4j

GOOD = '[{"content": "The boat is blue."}]'
REPAIRED = {
    "fence": f"```json\n{GOOD}\n```",
    "bare fence": f"```\n{GOOD}\n```",
    "byte order mark": "\ufeff" + GOOD,
    "windows lines": GOOD.replace(", ", ",\r\n"),
    "extra keys": '[{"content": "The boat is blue.", "mood": "good", "n": {"a": [1]}}]',
}
ANY = [
    f"Here you are:\n{GOOD}\nAnything else?", f"<think>is it [blue]? {{}}</think>\n{GOOD}",
    "", " ", "null", "true", "7", '"text"', "{}", "[]", "[[]]", "[null]", "[1, 2]", '[{}]', '{"content": "lone"}',
    '[{"content": null}]', '[{"content": 7}]', '[{"content": ""}]', '[{"content": ["a"]}]', '[{"CONTENT": "case"}]',
    '[{"content": "a",}]', "[{'content': 'a'}]", '[{"content": "cut o', '[{"content": "a"}', '[{"content": "a"}]]',
    '[{"content": NaN}]', '[NaN]', '[{"content": "a", "content": "b"}]', '{"facts": {"content": "a"}}',
    '{"facts": null}', '{"type": "object", "properties": {"content": {"type": "string"}}}',
    "<think>", "<think></think>",
    "```", "```json", "I cannot help with that.", "\x00", "[" * 2_000, '{"a":' * 500, '[{"content": "\\ud800"}]',
    '[{"content": "a", "entities": {"name": {"first": "A"}}}]', '[{"content": "a", "entities": [null]}]',
    '[{"content": "a", "confidence": "very"}]', '[{"content": "a", "valid_from": "yesterday"}]', "x" * 1_000_000,
]  # fmt: skip


class Answering:
    def __init__(self, reply: str) -> None:
        self.reply = reply

    async def complete(self, prompt: str) -> str:
        return self.reply


@pytest.mark.parametrize("name", REPAIRED)
async def test_what_can_be_read_is_read(name: str) -> None:
    async with Memory.in_memory(llm=Answering(REPAIRED[name])) as memory:
        report = await memory.ingest([said("The boat is blue.")])
        assert report.fell_back == ()
        assert [one.content for one in await memory.store.find_facts()] == ["The boat is blue."]


@pytest.mark.parametrize("place", range(len(ANY)))
async def test_no_answer_stops_an_ingest_or_loses_its_message(place: int) -> None:
    async with Memory.in_memory(llm=Answering(ANY[place])) as memory:
        report = await memory.ingest([said("The boat is blue.")])
        assert len(report.created["message"]) == 1
        (episode,) = await memory.store.list_episodes()
        assert [one.content for one in episode.messages] == ["The boat is blue."]
        if report.fell_back or report.failed:
            memory._llm.reply = GOOD  # type: ignore[union-attr]
            again = await memory.retry_extraction()
            assert (again.messages_read, again.fell_back) == (1, ())


def test_the_corpus_is_large_enough() -> None:
    assert len(ANY) + len(REPAIRED) >= 40
    assert not [one for one, other in itertools.combinations(ANY, 2) if one == other]


async def test_a_bad_answer_leaves_a_whole_episode_in_the_database(open_memory: OpenMemory) -> None:
    memory = await open_memory(llm=Answering('[{"content": {"nested": 1}}]'))
    report = await memory.ingest([said("The boat is blue.")])
    assert len(report.created["message"]) == 1
    assert await memory.store.stored_message_ids(report.created["message"]) == set(report.created["message"])


async def test_nested_attributes_come_back(memory: Memory) -> None:
    nested: dict[str, Any] = {"a": {"b": [1, None, {"c": 2**70}]}, "when": "2025-01-01", "none": None, "e": []}
    await memory.store.put_entity(entity(1, attributes=nested))
    stored = await memory.store.get_entity(sample_id("entity", 1))
    assert stored is not None
    assert stored.attributes == nested
