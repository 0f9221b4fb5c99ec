"""Clustering, by worked examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from remembrancer.hierarchy import GENERAL_LABEL, ConsolidatingThemeClusterer, SimpleThemeClusterer
from remembrancer.records import Fact, InvalidInputError, Provenance, Theme

AREA = "cycgraph/themes"

PROVENANCE = Provenance(source="agent", created_at="2025-01-01")
OPTIONS = {
    "similarityThreshold": "similarity_threshold",
    "assignmentThreshold": "assignment_threshold",
    "mergeThreshold": "merge_threshold",
    "maxThemes": "max_themes",
}
CLUSTERERS = {"simple": SimpleThemeClusterer, "consolidating": ConsolidatingThemeClusterer}


async def cluster(fn: str, given: dict[str, Any]) -> dict[str, Any]:
    facts = [Fact(provenance=PROVENANCE, valid_from="2025-01-01", **fact) for fact in given["facts"]]
    existing = [Theme(provenance=PROVENANCE, **theme) for theme in given["existing"]]
    options = {OPTIONS[name]: value for name, value in given.get("options", {}).items()}
    clustering = await CLUSTERERS[fn](**options).cluster(facts, existing)
    known = {theme.id for theme in existing}
    places = {theme.id: place for place, theme in enumerate(clustering.themes)}
    assert [fact.id for fact in clustering.facts] == [fact.id for fact in facts]
    return {
        "themes": [
            {
                "id": theme.id if theme.id in known else None,
                "label": theme.label,
                "description": theme.description,
                "fact_ids": list(theme.fact_ids),
                "embedding": None if theme.embedding is None else pytest.approx(list(theme.embedding), abs=1e-9),
            }
            for theme in clustering.themes
        ],
        "fact_themes": [None if fact.theme_id is None else places[fact.theme_id] for fact in clustering.facts],
    }


def in_one_theme(answer: dict[str, Any], fact_ids: list[str]) -> dict[str, Any]:
    """The answer with each clustered fact left only in the theme that the answer itself says is the fact's.

    Some recorded answers list a fact in two themes, and are marked as questionable without a better one. The rule
    that clustering puts a fact into one theme decides: the theme the fact points to is the one that keeps it.
    """
    theme_of = dict(zip(fact_ids, answer["fact_themes"], strict=True))
    themes = [
        {**theme, "fact_ids": [one for one in dict.fromkeys(theme["fact_ids"]) if theme_of.get(one, place) == place]}
        for place, theme in enumerate(answer["themes"])
    ]
    return {**answer, "themes": themes}


def with_right_labels(answer: dict[str, Any], case: Any, recut: Callable[[str, str, int], str]) -> dict[str, Any]:
    """The answer, the labels of new themes cut by characters: each is the beginning of one of the theme's facts."""
    contents = {fact["id"]: fact["content"] for fact in case.input["facts"]}
    themes = []
    for theme in answer["themes"]:
        label = theme["label"]
        if theme["id"] is None and label != GENERAL_LABEL:
            content = next(contents[one] for one in theme["fact_ids"] if is_cut(label, contents.get(one, "")))
            label = recut(label, content, 80)
        themes.append({**theme, "label": label})
    return {**answer, "themes": themes}


def is_cut(label: str, content: str) -> bool:
    halves = content.encode("utf-16-le", "surrogatepass")
    return halves.startswith(label.encode("utf-16-le", "surrogatepass")) and (label != "")


async def test_the_answer_is_the_worked_one(case: Any, recut: Callable[[str, str, int], str]) -> None:
    if case.error:
        with pytest.raises((InvalidInputError, ValidationError)):
            await cluster(case.fn, case.input)
        return
    expected = case.expected
    if "fixed" not in case.fields:
        if "questionable" in case.fields:
            expected = in_one_theme(expected, [fact["id"] for fact in case.input["facts"]])
        expected = with_right_labels(expected, case, recut)
    assert await cluster(case.fn, case.input) == expected
