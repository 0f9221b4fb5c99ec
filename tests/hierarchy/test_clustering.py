"""Clustering: the fast way equals the definition, each fact has one theme, and doing it again changes nothing."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.hierarchy import GENERAL_LABEL, ConsolidatingThemeClusterer, SimpleThemeClusterer
from remembrancer.hierarchy.clustering.directions import Directions, FirstAtLeast, Greatest, Pick
from remembrancer.ports import Clusterer, Clustering
from remembrancer.records import Fact, InvalidInputError, Provenance, Theme, cosine

ORIGIN = Provenance(source="agent", created_at="2025-01-01")

# Few directions, so that ties and thresholds that are hit exactly come up; and a few odd lengths.
components = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0, 1e-200, 1e200]) | st.floats(-2, 2)
vectors = st.lists(components, min_size=2, max_size=2) | st.lists(components, max_size=3)
embeddings = st.none() | vectors
thresholds = st.sampled_from([-1.0, 0.0, 0.5, 0.7, math.sqrt(0.5), 0.9, 1.0, 2.0])


def fact(number: int, embedding: Sequence[float] | None, content: str = "") -> Fact:
    return Fact(
        id=f"f0000000-0000-4000-8000-{number:012}",
        content=content or f"fact {number}",
        embedding=embedding,
        provenance=ORIGIN,
        valid_from="2025-01-01",
    )


def theme(number: int, embedding: Sequence[float] | None, fact_numbers: Sequence[int] = (), label: str = "") -> Theme:
    return Theme(
        id=f"c0000000-0000-4000-8000-{number:012}",
        label=label or f"theme {number}",
        fact_ids=[f"f0000000-0000-4000-8000-{one:012}" for one in fact_numbers],
        embedding=embedding,
        provenance=ORIGIN,
    )


facts = st.lists(embeddings, max_size=8).map(lambda given_: [fact(place, one) for place, one in enumerate(given_)])
members = st.lists(st.integers(50, 60), max_size=3, unique=True)
themes = st.lists(st.tuples(embeddings, members, st.sampled_from(["", "", GENERAL_LABEL])), max_size=4).map(
    lambda given_: [theme(place, *one) for place, one in enumerate(given_)]
)


@dataclass
class Plain:
    """A theme of the definition below."""

    label: str
    members: list[str]
    embedding: Sequence[float] | None
    absorbed: list[str] = field(default_factory=list)


def by_definition(
    given_facts: Sequence[Fact],
    existing: Sequence[Theme],
    *,
    assignment: float,
    merge: float | None = None,
    most: int | None = None,
) -> list[tuple[str, list[str]]]:
    """Labels and members, found by scanning all pairs anew after each merge."""
    plain = [Plain(one.label, list(one.fact_ids), one.embedding) for one in existing]
    for one in given_facts:
        assign(plain, one, assignment)
    if merge is not None and (not given_facts or any(one.embedding is not None for one in given_facts)):
        while (pair := first_pair(plain, merge)) is not None:
            join(plain, *pair)
        while most is not None and len(plain) > most and (pair := closest_pair(plain)) is not None:
            join(plain, *pair)
    return [(one.label, one.members) for one in plain]


def assign(plain: list[Plain], one: Fact, threshold: float) -> None:
    if one.embedding is None:
        home = next((other for other in plain if other.label == GENERAL_LABEL), None)
        if home is None:
            home = Plain(GENERAL_LABEL, [], None)
            plain.append(home)
        home.members.append(one.id)
        return
    best, greatest = None, -1.0
    for other in plain:
        if other.embedding is not None and cosine(one.embedding, other.embedding) > greatest:
            best, greatest = other, cosine(one.embedding, other.embedding)
    if best is None or greatest < threshold:
        best = Plain(one.content[:80], [], one.embedding)
        plain.append(best)
    best.members.append(one.id)


def comparable(plain: list[Plain]) -> list[tuple[int, int, float]]:
    return [
        (one, other, cosine(plain[one].embedding or (), plain[other].embedding or ()))
        for one, other in combinations(range(len(plain)), 2)
        if plain[one].embedding is not None and plain[other].embedding is not None
    ]


def first_pair(plain: list[Plain], threshold: float) -> tuple[int, int] | None:
    return next(((one, other) for one, other, similarity in comparable(plain) if similarity >= threshold), None)


def closest_pair(plain: list[Plain]) -> tuple[int, int] | None:
    best, greatest = None, -1.0
    for one, other, similarity in comparable(plain):
        if similarity > greatest:
            best, greatest = (one, other), similarity
    return best


def join(plain: list[Plain], one: int, other: int) -> None:
    survivor, absorbed = plain[one], plain[other]
    if len(absorbed.members) > len(survivor.members):
        survivor, absorbed = absorbed, survivor
    kept, given_ = survivor.embedding, absorbed.embedding
    assert kept is not None
    assert given_ is not None
    total = len(survivor.members) + len(absorbed.members)
    weight = len(survivor.members) / total if total else 0.5
    other_weight = len(absorbed.members) / total if total else 0.5
    if len(kept) == len(given_):
        mean = [weight * a + other_weight * b for a, b in zip(kept, given_, strict=True)]
        survivor.embedding = mean if any(mean) or not any(kept) else kept
    else:
        survivor.embedding = max(kept, given_, key=len)
    survivor.members = list(dict.fromkeys(survivor.members + absorbed.members))
    plain.remove(absorbed)


def shape(clustering: Clustering) -> list[tuple[str, list[str]]]:
    return [(one.label, list(one.fact_ids)) for one in clustering.themes]


@given(facts, themes, thresholds)
async def test_simple_clustering_is_what_its_definition_says(
    given_facts: list[Fact], existing: list[Theme], threshold: float
) -> None:
    clustering = await SimpleThemeClusterer(similarity_threshold=threshold).cluster(given_facts, existing)
    assert shape(clustering) == by_definition(given_facts, existing, assignment=threshold)


@settings(max_examples=300)
@given(facts, themes, thresholds, thresholds, st.none() | st.integers(0, 3))
async def test_consolidating_clustering_is_what_its_definition_says(
    given_facts: list[Fact], existing: list[Theme], assignment: float, merge: float, most: int | None
) -> None:
    clusterer = ConsolidatingThemeClusterer(assignment_threshold=assignment, merge_threshold=merge, max_themes=most)
    expected = by_definition(given_facts, existing, assignment=assignment, merge=merge, most=most)
    assert shape(await clusterer.cluster(given_facts, existing)) == expected


@given(facts, themes, st.sampled_from(["simple", "merging", "capped"]), thresholds)
async def test_each_fact_is_in_one_theme_and_clustering_again_changes_nothing(
    given_facts: list[Fact], existing: list[Theme], kind: str, threshold: float
) -> None:
    clusterer: Clusterer = {
        "simple": SimpleThemeClusterer(similarity_threshold=threshold),
        "merging": ConsolidatingThemeClusterer(assignment_threshold=threshold),
        "capped": ConsolidatingThemeClusterer(assignment_threshold=threshold, merge_threshold=2, max_themes=1),
    }[kind]
    once = await clusterer.cluster(given_facts, existing)
    assert [one.id for one in once.facts] == [one.id for one in given_facts]
    listed = Counter(one for each in once.themes for one in each.fact_ids)
    for one in once.facts:
        assert listed[one.id] == 1
        (home,) = [each for each in once.themes if one.id in each.fact_ids]
        assert one.theme_id == home.id
    assert await clusterer.cluster(once.facts, once.themes) == once


@given(facts, themes)
async def test_members_that_are_not_passed_in_are_never_lost(given_facts: list[Fact], existing: list[Theme]) -> None:
    clustering = await ConsolidatingThemeClusterer(max_themes=1).cluster(given_facts, existing)
    before = {one for each in existing for one in each.fact_ids} | {one.id for one in given_facts}
    assert {one for each in clustering.themes for one in each.fact_ids} == before


async def test_what_did_not_change_comes_back_as_it_was() -> None:
    existing = [theme(1, [1, 0], [1]), theme(2, [0, 1], [2])]
    clustering = await SimpleThemeClusterer().cluster([fact(3, [0, 2])], existing)
    assert clustering.themes[0] is existing[0]
    assert existing[1].fact_ids == ("f0000000-0000-4000-8000-000000000002",)
    assert (await SimpleThemeClusterer().cluster([], existing)).themes == tuple(existing)


async def test_a_fact_that_got_an_embedding_leaves_the_general_theme() -> None:
    first = await SimpleThemeClusterer().cluster([fact(1, None)], [])
    assert [one.label for one in first.themes] == [GENERAL_LABEL]
    second = await SimpleThemeClusterer().cluster([fact(1, [1, 0])], first.themes)
    assert shape(second) == [(GENERAL_LABEL, []), ("fact 1", [second.facts[0].id])]


async def test_a_fact_that_several_themes_list_is_left_in_the_last() -> None:
    existing = [theme(1, [1, 0], [1]), theme(2, [0, 1], [1])]
    clustering = await SimpleThemeClusterer().cluster([fact(1, [1, 0])], existing)
    assert shape(clustering) == [("theme 1", []), ("theme 2", [clustering.facts[0].id])]


async def test_a_label_counts_characters() -> None:
    clustering = await SimpleThemeClusterer().cluster([fact(1, [1, 0], content="😀" * 100)], [])
    assert clustering.themes[0].label == "😀" * 80


async def test_vectors_that_cancel_out_leave_the_survivor_where_it_was() -> None:
    tries = ([0.1, place / 10, 0.7] for place in range(1, 1000))
    vector, opposite = next(
        (one, other) for one in tries if cosine(one, other := [-component for component in one]) > -1
    )
    clustering = await ConsolidatingThemeClusterer(max_themes=1).cluster(
        [], [theme(1, vector, [1]), theme(2, opposite, [2])]
    )
    assert [one.embedding for one in clustering.themes] == [tuple(vector)]


@given(st.lists(embeddings, max_size=8), vectors, st.data())
def test_picks_are_made_by_exactly_the_cosine_of_the_records(
    given_vectors: list[list[float] | None], vector: list[float], data: st.DataObject
) -> None:
    directions = Directions(given_vectors)
    if given_vectors:
        slot = data.draw(st.integers(0, len(given_vectors) - 1))
        given_vectors[slot] = data.draw(embeddings)
        directions.replace(slot, given_vectors[slot])
    exact = [(slot, cosine(vector, one)) for slot, one in enumerate(given_vectors) if one is not None]
    greatest = max((similarity for _, similarity in exact if similarity > -1), default=None)
    expected = next((Pick(*one) for one in exact if one[1] == greatest), None)
    assert directions.pick(vector, Greatest()) == expected
    # A threshold that one of the cosines hits to the last bit.
    for threshold in {similarity for _, similarity in exact}:
        first = next(Pick(*one) for one in exact if one[1] >= threshold)
        assert directions.pick(vector, FirstAtLeast(threshold)) == first


def test_cosines_of_long_vectors_are_the_same_to_the_last_bit() -> None:
    rng = np.random.default_rng(7)
    rows = (rng.standard_normal((200, 384)) * rng.lognormal(size=(200, 1))).tolist()
    found = Directions(rows).cosines(0)
    assert found.tolist() == [cosine(rows[0], row) for row in rows]


async def test_a_thousand_themes_take_a_thousand_facts_in_seconds() -> None:
    rng = np.random.default_rng(7)
    existing = [theme(place, row) for place, row in enumerate(rng.standard_normal((1000, 384)).tolist())]
    given_facts = [fact(place, row) for place, row in enumerate(rng.standard_normal((1000, 384)).tolist())]
    began = time.monotonic()
    await ConsolidatingThemeClusterer(assignment_threshold=0.1).cluster(given_facts, existing)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("clusterer", [SimpleThemeClusterer(), ConsolidatingThemeClusterer()])
async def test_only_facts_and_themes_are_clustered(clusterer: Clusterer) -> None:
    assert isinstance(clusterer, Clusterer)
    wrong: Any = [fact(1, None), theme(1, None)]
    with pytest.raises(InvalidInputError, match=r"facts\.1: expected Fact, got Theme"):
        await clusterer.cluster(wrong, [])
    with pytest.raises(InvalidInputError, match=r"themes\.0: expected Theme, got Fact"):
        await clusterer.cluster([], wrong)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("assignment_threshold", math.nan),
        ("assignment_threshold", "0.5"),
        ("merge_threshold", True),
        ("merge_threshold", math.inf),
        ("max_themes", -1),
        ("max_themes", 1.5),
        ("max_themes", True),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ConsolidatingThemeClusterer(**{option: value})
    assert caught.value.field == option


def test_a_wrong_similarity_threshold_is_named() -> None:
    with pytest.raises(InvalidInputError, match=r"^similarity_threshold: "):
        SimpleThemeClusterer(similarity_threshold=math.nan)
