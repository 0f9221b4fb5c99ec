"""Questions and other searched texts: any text is one, on both stores, and is never query syntax."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, fuzz_costly, holds, in_time, only_ours
from tests.fuzz.outside import odd_texts, odd_values

from remembrancer import Memory
from remembrancer.graph import Neo4jStore
from remembrancer.records import InvalidInputError, MemoryQuery
from remembrancer.records.base import build
from remembrancer.records.instant import parse_instant, require_instant
from remembrancer.records.statement import canonical_predicate
from remembrancer.retrieval.recall.dates import MAX_WINDOWS, asks_when, date_windows
from remembrancer.retrieval.recall.words import MAX_CLAUSES, question_terms

SAID = {"role": "user", "content": "The harbour opens at six.", "timestamp": "2026-03-02T09:00:00Z"}

WORDS = ["harbour", "opens", "AND", "OR", "NOT", "&&", "||", "!", "+", "-", "(", ")", "{", "}", "[", "]", "^", '"',
    "~", "*", "?", ":", "\\", "/",
         "^2", "~1", "content:", "namespace_token:", "_exists_:", "[a TO b]", "{* TO *}", "/.*/", "日本", "ราคา", "é",
         "e\u0301", "😀", "\u202e"]  # fmt: skip
questions = st.lists(st.sampled_from(WORDS) | odd_texts, max_size=10).map(" ".join) | st.lists(
    st.sampled_from(WORDS), max_size=6
).map("".join)

MONTHS = [
    "Jan",
    "sept",
    "March",
    "may",
    "APRIL",
    "Aprıl",
    "maſ",
    "auguſt",
    "Apr.",
    "İn",
    "since",
    "in",
    "last",
    "this",
    "on",
    "by",
]
DAY_WORDS = [*MONTHS, "1st", "31", "30 of", "0", "29 Feb", "2023", "1900", "2099", "2024-02-30", "2024-13", "99",
    "999", "٣", "three", "fıve", "a",
             "couple of", "few", "days", "weeks", "months", "years", "year", "ago", "yesterday", "tonight",
             "last night", "Monday", "frıday",
             "ſunday", "week", "weeK", "weekend", "month", "when", "what time", "how long", ",", "-", "."]  # fmt: skip
phrases = st.lists(st.sampled_from(DAY_WORDS) | st.text(max_size=3), max_size=8).map(" ".join)
instants = st.sampled_from(["0001-01-01", "0001-01-31", "0004-02-29", "2024-02-29T12", "9999-12-31T23:59"]).map(
    parse_instant
)


@fuzz
@given(text=phrases | questions, asked_at=instants)
def test_any_text_names_days_or_none(text: str, asked_at: dt.datetime) -> None:
    with in_time():
        asks_when(text)
        windows = date_windows(text, asked_at=asked_at)
    assert len(windows) <= MAX_WINDOWS
    for one in windows:
        assert dt.date.fromisoformat(one.first) <= dt.date.fromisoformat(one.last)


@pytest.mark.parametrize(
    "text", ["in Aprıl", "frİday last", "last frıday", "3 auguſt 2024", "fıve days ago", "in maſ", "20٢٤-٠٥"]
)
def test_letters_of_other_alphabets_are_no_part_of_a_month_or_day(text: str) -> None:
    date_windows(text, asked_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))


@fuzz
@given(text=questions)
def test_no_word_of_a_question_is_query_syntax(text: str) -> None:
    with in_time():
        terms, left_out = question_terms(text)
    assert len(terms) <= MAX_CLAUSES * 2
    assert left_out >= 0
    for term in terms:
        assert not set(term.word) & set('+-&|!(){}[]^"~*?:\\/ ')


@fuzz_costly
@given(text=questions | phrases, limit=st.sampled_from([1, 20, 1_000]))
async def test_any_question_is_answered(text: str, limit: int) -> None:
    async with Memory.in_memory() as memory:
        await memory.ingest([SAID])
        with only_ours():
            found = await memory.recall(text, limit=limit)
            assert found.to_prompt(max_tokens=50) is not None
            assert len(found.hits) <= limit
            assert found.hits or found.empty_because
            assert found.hits or "harbour" not in text.lower().split()


@fuzz_costly
@given(
    arguments=st.dictionaries(st.sampled_from(["limit", "valid_at", "believed_at", "include_invalidated"]), odd_values)
)
async def test_any_argument_of_a_question_is_taken_or_refused_by_name(arguments: dict[str, Any]) -> None:
    async with Memory.in_memory() as memory:
        with only_ours():
            await memory.recall("harbour", **arguments)
        for name, value in arguments.items():
            try:
                await memory.recall("harbour", **{name: value})
            except InvalidInputError as error:
                holds(error.field.split(".")[0] == name, error)


@fuzz
@given(fields=st.dictionaries(st.sampled_from([*MemoryQuery.model_fields]), odd_values, max_size=3))
async def test_any_query_is_answered_or_refused_by_its_field(fields: dict[str, Any]) -> None:
    async with Memory.in_memory() as memory:
        with only_ours():
            await memory.retrieve(build(MemoryQuery, **fields))


@fuzz
@given(
    value=odd_values
    | odd_texts
    | st.datetimes().map(str)
    | st.datetimes(timezones=st.timezones()).map(lambda one: one.isoformat())
)
def test_any_value_is_an_instant_or_refused(value: Any) -> None:
    with in_time():
        try:
            read = require_instant(value, field="at")
        except InvalidInputError as error:
            holds(error.field == "at", error)
            return
    assert read.tzinfo is dt.UTC
    assert parse_instant(read.isoformat()) == read


@fuzz
@given(predicate=odd_texts | st.text())
def test_the_form_of_a_predicate_is_that_of_its_form(predicate: str) -> None:
    form = canonical_predicate(predicate)
    assert canonical_predicate(form) == form


@pytest.mark.neo4j
async def test_any_question_is_answered_by_neo4j(neo4j_database: Any) -> None:
    async with Neo4jStore.open(database=neo4j_database, namespace="test-fuzz-questions") as store:
        memory = Memory(store, store.index)
        await memory.ingest([SAID])

        for text in _drawn(questions):
            with only_ours():
                found = await memory.recall(text)
                assert found.hits or "harbour" not in text.lower().split(), text
        await memory.clear()


def _drawn(strategy: st.SearchStrategy[str]) -> list[str]:
    """Examples, gathered before the questions are asked: hypothesis cannot wait for a store that is already open."""
    drawn: list[str] = []

    @fuzz
    @given(text=strategy)
    def gather(text: str) -> None:
        drawn.append(text)

    gather()
    return drawn
