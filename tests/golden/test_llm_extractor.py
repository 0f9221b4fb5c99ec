"""The extractor that asks a language model, by worked examples."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from remembrancer.hierarchy import LLMExtractor
from remembrancer.records import Episode, Message, Provenance

AREA = "cycgraph/llm_extractor"

START = "2025-01-01T00:00:00.000Z"
GOOD = json.dumps([{"content": "good"}])


class Model:
    """Does as it is told: answers, throws, or never answers."""

    def __init__(self) -> None:
        self.behaviour = "good"
        self.response = GOOD
        self.calls = 0

    def complete(self, prompt: str) -> Any:
        self.calls += 1
        if self.behaviour == "throw":
            raise RuntimeError("before anything is awaited")
        return self._answer()

    async def _answer(self) -> str:
        if self.behaviour == "timeout":
            await asyncio.sleep(60)
        return "not JSON" if self.behaviour == "malformed" else self.response


NAMES = {
    "maxFactsPerEpisode": "max_facts_per_episode",
    "timeoutMs": "timeout_ms",
    "maxConsecutiveFailures": "max_consecutive_failures",
    "breakerCooldownMs": "breaker_cooldown_ms",
}


def extractor(model: Model, options: dict[str, Any], **more: Any) -> LLMExtractor:
    given = {NAMES[name]: value for name, value in options.items()}
    return LLMExtractor(model, **{"timeout_ms": 20, **given, **more})


def episode(contents: list[str]) -> Episode:
    return Episode(
        id="d0000000-0000-4000-8000-000000000001",
        topic="",
        messages=[Message(role="user", content=content, timestamp=START) for content in contents],
        started_at=START,
        ended_at=START,
        provenance=Provenance(source="system", created_at=START),
    )


async def extract(given: dict[str, Any]) -> dict[str, Any]:
    model = Model()
    model.behaviour = given.get("provider") or "good"
    model.response = given.get("response") or ""
    asked = extractor(model, given.get("options", {}))
    extraction = await asked.extract(episode(given["messages"]))
    name_of = {entity.id: entity.name for entity in extraction.entities}
    return {
        "path": "llm" if extraction.fell_back is None else "rules",
        "result": {
            "facts": [
                {"content": fact.content, "entities": [name_of[entity_id] for entity_id in fact.entity_ids]}
                for fact in extraction.facts
            ],
            "entities": [[entity.name, entity.entity_type] for entity in extraction.entities],
            "relationships": [
                [name_of[edge.source_id], edge.relation_type, name_of[edge.target_id]]
                for edge in extraction.relationships
            ],
            "linked": list(extraction.episode.fact_ids) == [fact.id for fact in extraction.facts],
        },
        "failures": asked.failures,
    }


async def sequence(given: dict[str, Any]) -> list[dict[str, Any]]:
    model, now = Model(), 0.0
    asked = extractor(model, given.get("options", {}), timer=lambda: now / 1000)
    told = []
    for step in given["steps"]:
        now, model.behaviour = step["at_ms"], step["provider"]
        before = model.calls
        extraction = await asked.extract(episode(["Alice Smith works at Acme Corp in Lisbon."]))
        told.append({"called": model.calls > before, "path": "llm" if extraction.fell_back is None else "rules"})
    return told


ANSWERS = {"extract": extract, "sequence": sequence}


async def test_the_answer_is_the_worked_one(case: Any) -> None:
    assert await ANSWERS[case.fn](case.input) == case.expected
