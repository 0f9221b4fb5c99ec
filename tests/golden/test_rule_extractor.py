"""The rule-based extractor, by worked examples."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from remembrancer.hierarchy import RuleBasedExtractor, verb_forms
from remembrancer.hierarchy.extraction.names import NameFinder
from remembrancer.records import Episode, InvalidInputError, Message, Provenance

AREA = "cycgraph/rule_extractor"

START = "2025-01-01T00:00:00.000Z"
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def pattern(source: str, flags: str) -> re.Pattern[str]:
    """The example's regular expression in this language: named groups are spelled otherwise, classes are ASCII."""
    spelled = re.sub(r"\(\?<(?![=!])", "(?P<", source)
    compiled = re.ASCII
    for flag in flags:
        compiled |= FLAGS.get(flag, re.ASCII)
    return re.compile(spelled, compiled)


def options(given: dict[str, Any]) -> dict[str, Any]:
    named = {
        "minSentenceLength": lambda value: ("min_sentence_length", value),
        "relationshipVerbs": lambda value: ("relationship_verbs", value),
        "entityPatterns": lambda value: ("entity_patterns", [pattern(*one) for one in value]),
    }
    return dict(named[name](value) for name, value in given.items())


async def extract(given: dict[str, Any]) -> dict[str, Any]:
    episode = Episode(
        id="d0000000-0000-4000-8000-000000000001",
        topic="",
        messages=[Message(role="user", content=content, timestamp=START) for content in given["messages"]],
        started_at=START,
        ended_at=START,
        provenance=Provenance(source="system", created_at=START),
    )
    extraction = await RuleBasedExtractor(**options(given.get("options", {}))).extract(episode)
    name_of = {entity.id: entity.name for entity in extraction.entities}
    return {
        "facts": [
            {"content": fact.content, "entities": [name_of[entity_id] for entity_id in fact.entity_ids]}
            for fact in extraction.facts
        ],
        "entities": [[entity.name, entity.entity_type] for entity in extraction.entities],
        "relationships": [
            [name_of[edge.source_id], edge.relation_type, name_of[edge.target_id]] for edge in extraction.relationships
        ],
        "linked": list(extraction.episode.fact_ids) == [fact.id for fact in extraction.facts],
    }


async def extract_entities(given: dict[str, Any]) -> list[list[str]]:
    patterns = options(given.get("options", {})).get("entity_patterns", ())
    return [list(found) for found in NameFinder(patterns).find(given["text"]).items()]


async def list_verb_forms(given: dict[str, Any]) -> list[list[str]]:
    return [list(form) for form in verb_forms(given["verbs"]).items()]


ANSWERS = {"extract": extract, "extract_entities": extract_entities, "verb_forms": list_verb_forms}


async def test_the_answer_is_the_worked_one(case: Any) -> None:
    if case.error:
        with pytest.raises((InvalidInputError, ValidationError)):
            await ANSWERS[case.fn](case.input)
    else:
        assert await ANSWERS[case.fn](case.input) == case.expected
