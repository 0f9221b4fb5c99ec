"""Reading benchmark data: both forms, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.bench import read_extraction_set, read_retrieval_set
from remembrancer.records import InvalidInputError

Data = dict[str, Any]
Write = Callable[[Data], Path]


def test_each_conversation_is_a_memory_and_each_turn_a_message(write: Write, conversations: Data) -> None:
    read = read_retrieval_set(write(conversations))
    assert [material.id for material in read.materials] == ["7", "8"]
    first = read.materials[0].sources[0]
    assert first.message.speaker == "Nils"
    assert first.message.conversation == "7"
    assert first.message.metadata == {"turn": "7/1:1"}
    assert first.shown == "[2 May 2024] Nils: I bought a red kayak at the harbour market."
    assert read.has_facts


def test_each_corpus_is_a_memory_and_each_paragraph_a_conversation_with_its_title(
    write: Write, paragraphs: Data
) -> None:
    read = read_retrieval_set(write(paragraphs))
    source = read.materials[0].sources[0]
    assert source.message.content == "Vindholm: Vindholm is an island with a stone lighthouse."
    assert source.message.conversation == "isles/P1"
    assert source.message.speaker is None
    assert read.questions[0].groups == ("isles", "isles: 2hop")
    assert not read.has_facts


def _unknown_evidence(data: Data) -> None:
    data["conversations"][0]["questions"][0]["evidence"] = ["8/1:1"]


def _unknown_fact_source(data: Data) -> None:
    data["conversations"][0]["sessions"][0]["facts"][0]["source_ids"] = ["nowhere"]


def _question_twice(data: Data) -> None:
    data["conversations"][0]["questions"] *= 2


def _turn_twice(data: Data) -> None:
    data["conversations"][0]["sessions"] *= 2


def _nothing_asked(data: Data) -> None:
    for conversation in data["conversations"]:
        conversation["questions"] = []


def _no_evidence(data: Data) -> None:
    data["conversations"][0]["questions"][0]["evidence"] = []


def _other_kind(data: Data) -> None:
    data["kind"] = "poems"


def _no_speaker(data: Data) -> None:
    del data["conversations"][1]["sessions"][0]["turns"][0]["speaker"]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (_unknown_evidence, "question '7/Q1' cites '8/1:1', which is not in '7'"),
        (_unknown_fact_source, "cites 'nowhere'"),
        (_question_twice, "the question '7/Q1' is there twice"),
        (_turn_twice, "the turn or paragraph '7/1:1' is there twice"),
        (_nothing_asked, "no questions"),
        (_no_evidence, "questions.0.evidence"),
        (_other_kind, "kind"),
        (_no_speaker, "turns.0.speaker"),
    ],
)
def test_wrong_data_is_refused_and_named(
    write: Write, conversations: Data, spoil: Callable[[Data], None], problem: str
) -> None:
    spoil(conversations)
    with pytest.raises(InvalidInputError) as refused:
        read_retrieval_set(write(conversations))
    assert refused.value.field.startswith("data")
    assert problem in str(refused.value)


def test_a_file_that_is_not_there_or_not_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_retrieval_set(tmp_path / "none.json")
    (tmp_path / "torn.json").write_text('{"kind": "conv', encoding="utf-8")
    with pytest.raises(InvalidInputError, match="data: invalid JSON"):
        read_extraction_set(tmp_path / "torn.json")


def test_a_case_that_is_there_twice_is_refused(write: Write, cases: Data) -> None:
    cases["cases"] *= 2
    with pytest.raises(InvalidInputError, match="the case 'plain' is there twice"):
        read_extraction_set(write(cases))
