"""A memory with a language model: what it is used for, and what a report tells of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from remembrancer import InvalidInputError, Memory, SyncMemory
from remembrancer.ports import ModelUsage
from remembrancer.providers.embedding import HashingEmbedder

SAID = [
    {"role": "user", "content": f"Boat number {n} lies in the old harbour.", "timestamp": f"2026-01-05T09:0{n}Z"}
    for n in range(4)
]


class Model:
    """Reads each message as a fact, and names every theme alike."""

    def __init__(self) -> None:
        self.usage = ModelUsage()
        self.is_down = False

    async def complete(self, prompt: str) -> str:
        calls = self.usage.calls + 1
        self.usage = ModelUsage(calls=calls, prompt_tokens=100 * calls, reply_tokens=10 * calls)
        if self.is_down:
            raise RuntimeError("down")
        if "<groups " in prompt:
            count = len(re.findall(r"^group \d+$", prompt, re.MULTILINE))
            themes = [{"number": n + 1, "label": "Boats", "description": "Where boats lie."} for n in range(count)]
            return json.dumps({"themes": themes})
        return json.dumps([{"content": text} for text in re.findall(r"^\[user\]: (.*)$", prompt, re.MULTILINE)])


async def test_it_reads_episodes_and_names_themes_and_its_use_is_told() -> None:
    async with Memory.in_memory(embedder=HashingEmbedder(), llm=Model()) as memory:
        report = await memory.ingest(SAID)
        (theme,) = await memory.store.list_themes()
        assert (theme.label, theme.description, len(theme.fact_ids)) == ("Boats", "Where boats lie.", 4)
        assert (report.model_calls, report.model_tokens) == (2, 220)


def test_a_blocking_memory_reads_again_too() -> None:
    model = Model()
    model.is_down = True
    with SyncMemory.in_memory(llm=model) as memory:
        report = memory.ingest(SAID)
        assert [one.reason for one in report.fell_back] == ["RuntimeError: down"]
        assert report.counts["fact"] == 4
        model.is_down = False
        again = memory.retry_extraction()
        assert (again.messages_read, again.fell_back, again.model_calls) == (4, (), 1)
        assert memory.retry_extraction().messages_read == 0


@pytest.mark.parametrize("bad", ["gpt", 7, object()])
async def test_what_is_no_model_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInputError) as raised:
        async with Memory.in_memory(llm=bad):
            pass
    assert raised.value.field == "llm"
