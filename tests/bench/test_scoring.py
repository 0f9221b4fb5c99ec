"""Scores of retrieval runs, by hand on small runs, and what holds for any run."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.bench import BUDGETS, RANKS, Item, Material, RetrievalSet, score_run
from remembrancer.bench.data import Question, Source
from remembrancer.bench.text import content_words, count_tokens
from remembrancer.records import Message

TEXTS = {
    "a": "kayak harbour market paint wood oar rope sail knot tide",
    "b": "bread yeast oven flour",
    "c": "ferry noon quay ticket",
}


def source(name: str) -> Source:
    message = Message(role="user", content=TEXTS[name], timestamp=dt.datetime(2024, 1, 1, tzinfo=dt.UTC))
    return Source(name, message, TEXTS[name], TEXTS[name], TEXTS[name])


def asking(*evidence: str, category: str = "single-hop") -> Question:
    return Question(f"q-{'-'.join(evidence)}-{category}", "?", frozenset(evidence), (category,))


def data(*questions: Question) -> RetrievalSet:
    return RetrievalSet("made-up", "conversations", (Material("m", tuple(map(source, TEXTS)), questions),))


def whole(name: str) -> Item:
    return Item((name,), TEXTS[name])


def test_tokens_are_1_3_a_word_rounded_up() -> None:
    assert [count_tokens(text) for text in ("", "one", "one two three", " ".join("w" * 10))] == [0, 2, 4, 13]


def test_recall_counts_what_is_cited_so_far() -> None:
    question = asking("a", "b")
    run = {question.id: [whole("c"), whole("a"), *[whole("c")] * 5, whole("b")]}
    scores = score_run(data(question), run)["all"]
    assert (scores.recall[5], scores.recall[10]) == (0.5, 1.0)
    assert scores.mrr == 0.5
    assert scores.tokens[5] == 4 * count_tokens(TEXTS["c"]) + count_tokens(TEXTS["a"])


def test_a_citation_without_the_words_is_recalled_but_not_grounded() -> None:
    question = asking("a")
    scores = score_run(data(question), {question.id: [Item(("a", "b", "c"), "They talked about things.")]})["all"]
    assert (scores.recall[5], scores.grounded[5], scores.mrr) == (1.0, 0.0, 1.0)


def test_two_items_ground_a_source_together_from_a_fifth_of_its_words_on() -> None:
    question = asking("a")
    one, other = Item(("a",), "a kayak"), Item(("a",), "in the harbour")
    assert score_run(data(question), {question.id: [one]})["all"].grounded[5] == 0.0
    assert score_run(data(question), {question.id: [one, other]})["all"].grounded[5] == 1.0


def test_words_of_an_item_that_does_not_cite_the_source_do_not_ground_it() -> None:
    question = asking("a")
    run = {question.id: [Item(("b",), TEXTS["a"]), Item(("a",), "a kayak")]}
    assert score_run(data(question), run)["all"].grounded[5] == 0.0


def test_a_budget_holds_the_longest_beginning_that_fits() -> None:
    question = asking("b")
    filler = Item(("c",), "word " * 150)  # 195 tokens
    scores = score_run(data(question), {question.id: [filler, filler, whole("b")]})["all"]
    assert (scores.within[250], scores.within[500]) == (0.0, 1.0)


def test_a_question_without_an_answer_scores_nothing() -> None:
    scores = score_run(data(asking("a"), asking("b")), {asking("a").id: [whole("a")]})["all"]
    assert (scores.questions, scores.recall[50], scores.mrr, scores.within[2000]) == (2, 0.5, 0.5, 0.5)


def test_answerable_leaves_adversarial_questions_out() -> None:
    asked = asking("a"), asking("b", category="adversarial")
    scores = score_run(data(*asked), {asked[0].id: [whole("a")]})
    assert {group: one.questions for group, one in scores.items()} == {
        "all": 2, "answerable": 1, "adversarial": 1, "single-hop": 1
    }  # fmt: skip
    assert scores["answerable"].recall[5] == 1.0


items = st.builds(
    Item, st.lists(st.sampled_from("abcx"), max_size=3, unique=True).map(tuple), st.sampled_from([*TEXTS.values(), ""])
)


@given(st.lists(items, max_size=60))
def test_more_room_never_finds_less_and_grounded_never_exceeds_recall(answers: list[Item]) -> None:
    question = asking("a", "b")
    scores = score_run(data(question), {question.id: answers})["all"]
    for by_rank in (scores.recall, scores.grounded, scores.tokens):
        assert list(by_rank.values()) == sorted(by_rank.values())
    assert [scores.within[budget] for budget in BUDGETS] == sorted(scores.within.values())
    assert all(scores.grounded[rank] <= scores.recall[rank] for rank in RANKS)
    assert (scores.mrr > 0) == any({"a", "b"} & set(item.source_ids) for item in answers)


@pytest.mark.parametrize("text", ["She painted Mara's boats", "she paints the boat, Mara!"])
def test_content_words_are_stems_without_stop_words(text: str) -> None:
    assert content_words(text) == {"paint", "mara", "boat"}
