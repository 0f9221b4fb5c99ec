"""Words, negation and overlap, in English and in other scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.lifecycle.admission import token_similarity, tokens_of
from remembrancer.lifecycle.conflict_pairs import Pairs, conflicts_within
from remembrancer.lifecycle.word_join import overlapping_pairs
from remembrancer.lifecycle.words import (
    contains_negation,
    overlap_coefficient,
    without_times,
    word_overlap,
    words_of,
)
from remembrancer.ports.pushdown import FactOutline
from remembrancer.testing.samples import day

WORDS = ("alice", "works", "acme", "not", "never", "the", "berlin", "red")


def test_words_lose_what_stands_at_their_edges_alone() -> None:
    assert words_of("(Acme), U.S.A. — it’s 5% “off”!") == ["acme", "u.s.a", "it's", "5", "off"]


def test_marks_stay_with_their_letters() -> None:
    assert words_of("दिल्ली की।") == ["दिल्ली", "की"]
    assert tokens_of("दिल्ली में बारिश") == {"दिल्ली", "में", "बारिश"}


@pytest.mark.parametrize("text", ["It isn’t so", "Never!", "no longer", "You mustn't", "cant", "NEITHER", "a cannot"])
def test_negation_is_seen_in_whole_words(text: str) -> None:
    assert contains_negation(text)


@pytest.mark.parametrize(
    "text", ["significant", "orthodontist", "knot", "no-longer", "Nobody", "Er ist nicht da", "不是"]
)
def test_nothing_else_is_a_negation(text: str) -> None:
    assert not contains_negation(text)


def test_dates_and_clock_times_go_and_other_numbers_stay() -> None:
    assert words_of(without_times("since 2024-05-01 at 10:30, port 8080")) == ["since", "at", "port", "8080"]


def test_accents_and_scripts_overlap_as_they_are_written() -> None:
    assert word_overlap("José trabaja en Łódź.", "JOSÉ vive en łódź") == pytest.approx(3 / 4)
    assert word_overlap("Иван работает в Москве", "иван живёт в Москве!") == pytest.approx(3 / 4)
    assert word_overlap("Jose", "José") == 0


def test_texts_in_another_script_are_duplicates_only_when_they_share_words() -> None:
    assert token_similarity("価格が二倍になった", "会議は月曜日に行われます") == 0
    assert token_similarity("価格が二倍になった", "価格が二倍になった") == 1
    assert token_similarity("Иван работает в Москве", "Иван работает в Киеве") == pytest.approx(0.5)


def test_texts_without_longer_words_are_duplicates_only_when_equal() -> None:
    assert token_similarity(" UP ", "up") == 1
    assert token_similarity("on", "up") == 0
    assert token_similarity("up", "upward trend") == 0


SETS = st.lists(st.frozensets(st.sampled_from(WORDS)), max_size=12)


@given(sets=SETS, above=st.sampled_from((0.0, 0.3, 0.4, 0.5, 2 / 3, 1.0)), data=st.data())
def test_the_join_finds_what_comparing_every_pair_finds(
    sets: list[frozenset[str]], above: float, data: st.DataObject
) -> None:
    sides = data.draw(st.lists(st.booleans(), min_size=len(sets), max_size=len(sets)))
    pairs = [
        (i, j)
        for i in range(len(sets))
        for j in range(i + 1, len(sets))
        if overlap_coefficient(sets[i], sets[j]) > above
    ]
    assert sorted(overlapping_pairs(sets, above=above)) == pairs
    assert sorted(overlapping_pairs(sets, above=above, sides=sides)) == [
        (i, j) for i, j in pairs if sides[i] != sides[j]
    ]


FACTS = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), st.integers(0, 4)), max_size=9
)


@given(facts=FACTS)
def test_conflicts_of_a_group_are_those_that_comparing_every_pair_finds(facts: list[tuple[str, int]]) -> None:
    group = [FactOutline(f"f0000000-0000-4000-8000-{n:012x}", text, day(at)) for n, (text, at) in enumerate(facts)]
    denials, replacements = conflicts_within(group, Pairs(), day_threshold=1)
    found = [*denials, *replacements]
    in_order = [(a, b) for n, a in enumerate(group) for b in group[n + 1 :]]
    denied = [
        (a.id, b.id)
        for a, b in in_order
        if contains_negation(a.content) != contains_negation(b.content)
        and word_overlap(a.content, b.content, with_negation=False) > 0.5
    ]
    replaced = [
        (a.id, b.id)
        for a, b in in_order
        if (a.id, b.id) not in denied
        and abs((a.valid_from - b.valid_from).days) > 1
        and word_overlap(a.content, b.content) > 0.4
    ]
    assert [(one.a.id, one.b.id) for one in found] == [*denied, *replaced]
