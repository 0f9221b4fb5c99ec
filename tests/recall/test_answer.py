"""The answer of a recall: budgets, grouping, excerpts."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.ports.recall import PARTS, Evidence
from remembrancer.records import InvalidInputError
from remembrancer.retrieval.recall import Recall, RecallHit, estimate_tokens
from remembrancer.retrieval.recall.dates import MAX_WINDOWS, asks_when, date_windows
from remembrancer.retrieval.recall.excerpts import WORDS, excerpts
from remembrancer.retrieval.recall.words import MAX_CLAUSES, question_terms, stem

NOON = dt.datetime(2026, 5, 13, 12, tzinfo=dt.UTC)  # a Wednesday

TEXTS = st.lists(st.sampled_from(["Ada", "moved", "to", "Oslo", "東京に行った", "in", "spring."]), min_size=1).map(
    " ".join
)
HITS = st.lists(
    st.builds(
        lambda text, episode, position, speaker: RecallHit(
            kind="message",
            id=f"{episode}-{position}",
            text=text,
            score=1.0,
            parts={},
            episode_id=str(episode),
            position=position,
            speaker=speaker,
            at=NOON + dt.timedelta(days=episode, minutes=position),
        ),
        TEXTS,
        st.integers(0, 3),
        st.integers(0, 20),
        st.sampled_from(["Ada Berg", "Bob", None]),
    ),
    max_size=25,
    unique_by=lambda hit: hit.id,
)


@given(HITS, st.integers(1, 120))
def test_a_prompt_never_exceeds_its_budget(hits: list[RecallHit], budget: int) -> None:
    recall = Recall(text="?", valid_at=NOON, hits=hits)
    prompt = recall.to_prompt(max_tokens=budget)
    assert estimate_tokens(prompt) <= budget
    by_words = recall.to_prompt(max_tokens=budget, count_tokens=lambda text: math.ceil(1.3 * len(text.split())))
    assert math.ceil(1.3 * len(by_words.split())) <= budget


@given(HITS)
def test_without_a_budget_everything_is_shown_once(hits: list[RecallHit]) -> None:
    prompt = Recall(text="?", valid_at=NOON, hits=hits).to_prompt()
    assert prompt.count("[") == len({hit.episode_id for hit in hits})
    assert len(prompt.splitlines()) == len(hits)


def test_the_date_is_printed_once_an_episode_in_order_of_time() -> None:
    hits = [
        RecallHit(kind="message", id=i, text=t, score=s, parts={}, episode_id=e, position=p, speaker="Ada", at=a)
        for i, t, s, e, p, a in [
            ("c", "third", 3.0, "two", 0, NOON + dt.timedelta(days=1)),
            ("b", "second", 2.0, "one", 4, NOON + dt.timedelta(minutes=4)),
            ("a", "first", 1.0, "one", 1, NOON),
        ]
    ]
    recall = Recall(text="?", valid_at=NOON, hits=hits)
    assert recall.to_prompt() == "[13 May 2026] Ada: first\nAda: second\n[14 May 2026] Ada: third"
    assert recall.lines() == ["[14 May 2026] Ada: third", "[13 May 2026] Ada: second", "Ada: first"]


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, "10"])
def test_a_budget_that_is_none_is_refused(budget: object) -> None:
    with pytest.raises(InvalidInputError, match="max_tokens"):
        Recall(text="?", valid_at=NOON).to_prompt(max_tokens=budget)  # type: ignore[arg-type]


def evidence(content: str, score: float = 1.0) -> Evidence:
    return Evidence("message", "m", content, score, tuple(0.0 for _ in PARTS), "e", 0, "Ada", NOON)


def test_an_excerpt_shows_the_sentence_that_speaks_to_the_question() -> None:
    terms, _ = question_terms("Where did the crane go?")
    text = (
        "Good morning to all of you. The crane went to the north quay on Monday. " + "Nothing else matters here. " * 9
    )
    [excerpt] = excerpts([evidence(text)], terms)
    assert "The crane went to the north quay on Monday." in excerpt.text
    assert not excerpt.is_whole
    assert len(excerpt.text.split()) <= WORDS
    [whole] = excerpts([evidence(text)], terms, whole=True)
    assert whole.text == text.strip()


def test_sentences_that_are_apart_are_told_apart() -> None:
    terms, _ = question_terms("crane ferry")
    [excerpt] = excerpts([evidence("The crane left at nine. Is that so? The ferry left at ten.")], terms)
    assert excerpt.text == "The crane left at nine.… The ferry left at ten."


def test_question_words_and_stop_words_are_not_searched_for() -> None:
    terms, left_out = question_terms("When did Ada's sister move to the new house?")
    assert [term.word for term in terms] == ["ada", "sister", "move", "new", "house"]
    assert left_out == 0


def test_too_many_words_are_counted_not_hidden() -> None:
    terms, left_out = question_terms(" ".join(f"w{place}" for place in range(MAX_CLAUSES + 7)))
    assert (len(terms), left_out) == (MAX_CLAUSES, 7)


@given(st.text())
def test_terms_hold_nothing_that_a_query_could_read(text: str) -> None:
    for term in question_terms(text)[0]:
        searched = term.query + term.token
        assert searched
        assert searched == searched.casefold()
        assert not set(searched) & set('+-&|!(){}[]^"~*?:\\/ \t\n\0')


def test_forms_of_a_word_share_a_stem() -> None:
    assert len({stem(word) for word in ("paint", "paints", "painted", "painting", "paintings")}) == 1


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what happened on 2026-05-06?", "2026-05-06"),
        ("on 6 May 2026", "2026-05-06"),
        ("on May 6th, 2026", "2026-05-06"),
        ("yesterday", "2026-05-12"),
        ("two days ago", "2026-05-11"),
        ("last Monday", "2026-05-11"),
        ("last week", "2026-05-06"),
        ("last month", "2026-04-17"),
        ("in April", "2026-04-17"),
        ("in April 2024", "2024-04-17"),
        ("three weeks ago", "2026-04-22"),
        ("in 2024", "2024-07-01"),
    ],
)
def test_days_that_a_question_names_lie_in_its_windows(text: str, day: str) -> None:
    assert any(window.first <= day <= window.last for window in date_windows(text, asked_at=NOON))


@pytest.mark.parametrize("text", ["May I ask?", "it may rain", "room 2b", "8443", "31 February 2026", ""])
def test_what_names_no_day_has_no_window(text: str) -> None:
    assert date_windows(text, asked_at=NOON) == ()


@given(st.text(), st.datetimes(timezones=st.just(dt.UTC)))
def test_any_text_at_any_instant_gives_few_windows_in_order(text: str, now: dt.datetime) -> None:
    windows = date_windows(text + " last week, 3 May, in June, ten years ago", asked_at=now)
    assert len(windows) <= MAX_WINDOWS
    assert all(window.first <= window.last and 0 < window.weight <= 1 for window in windows)


def test_questions_for_a_time_are_told_from_others() -> None:
    assert asks_when("When is the launch?")
    assert asks_when("In what year did she move?")
    assert not asks_when("Who is the contact?")
