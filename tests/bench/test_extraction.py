"""Scores of extraction runs: what was found, which way round, and what was made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.bench import read_extraction_set, run_extraction
from remembrancer.bench.labels import ExtractionSet
from remembrancer.bench.marking import Marks, ReadEdge, ReadEntity, Reading, mark
from remembrancer.hierarchy import RuleBasedExtractor

Data = dict[str, Any]


@pytest.fixture
def labelled(write: Callable[[Data], Path], cases: Data) -> ExtractionSet:
    return read_extraction_set(write(cases))


def marked(labelled: ExtractionSet, *edges: tuple[str, str, str], case: str = "plain") -> Marks:
    return mark(labelled, {case: Reading(edges=tuple(ReadEdge(*edge) for edge in edges))})


def hits(marks: Marks, measure: str) -> tuple[int, int]:
    share = marks.overall[measure]
    return share.hits, share.of


async def test_the_rules_read_the_plain_sentence_and_nothing_from_its_denial(labelled: ExtractionSet) -> None:
    report = await run_extraction(labelled, RuleBasedExtractor())
    assert hits(report.marks, "edge recall") == (1, 1)
    assert hits(report.marks, "edge direction") == (1, 1)
    assert hits(report.marks, "safe cases") == (1, 1)
    assert report.marks.made_up == ()


def test_names_match_without_case_and_leading_the(labelled: ExtractionSet) -> None:
    reading = Reading(entities=(ReadEntity("the tide project", "concept"), ReadEntity("NORA VIK", "organization")))
    marks = mark(labelled, {"plain": reading})
    assert hits(marks, "entity recall") == (2, 2)
    assert hits(marks, "entity type") == (0, 1)


def test_part_of_a_name_is_enough_in_a_passage_only(labelled: ExtractionSet) -> None:
    reading = {"plain": Reading(entities=(ReadEntity("Vik", "person"),))}
    assert hits(mark(labelled, reading), "entity recall") == (0, 2)
    passage = labelled.cases[0].model_copy(update={"kind": "passage"})
    assert hits(mark(labelled.model_copy(update={"cases": (passage,)}), reading), "entity recall") == (1, 2)


def test_an_edge_the_wrong_way_round_is_found_but_not_right(labelled: ExtractionSet) -> None:
    marks = marked(labelled, ("Tide Project", "managed_by", "Nora Vik"))
    assert [hits(marks, measure) for measure in ("edge recall", "edge direction", "edge precision")] == [
        (1, 1), (0, 1), (0, 1)
    ]  # fmt: skip


def test_another_verb_is_another_edge(labelled: ExtractionSet) -> None:
    marks = marked(labelled, ("Nora Vik", "founded", "Tide Project"))
    assert hits(marks, "edge recall") == (0, 1)
    assert hits(marks, "edge precision") == (0, 1)


def test_an_edge_from_a_trap_is_made_up_unless_it_denies(labelled: ExtractionSet) -> None:
    made_up = marked(labelled, ("Nora Vik", "manages", "Tide Project"), case="denied")
    assert hits(made_up, "safe cases") == (0, 1)
    assert made_up.made_up == ("denied: Nora Vik -manages-> Tide Project",)
    denied = marked(labelled, ("Nora Vik", "no_longer_manages", "Tide Project"), case="denied")
    assert hits(denied, "safe cases") == (1, 1)


def test_a_case_that_was_not_read_counts_as_empty(labelled: ExtractionSet) -> None:
    marks = mark(labelled, {})
    assert hits(marks, "entity recall") == (0, 2)
    assert marks.overall["edge precision"].rate is None
    assert set(marks.by_category) == {"standard", "negation"}
