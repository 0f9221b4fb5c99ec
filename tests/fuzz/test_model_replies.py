"""What language models reply: thoughts, fences, prose, broken JSON; each fact is kept, or told as dropped."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, holds, in_time
from tests.fuzz.outside import changed, odd_texts, written

from remembrancer.hierarchy import LLMExtractor
from remembrancer.hierarchy.clustering.naming import ThemeNamer
from remembrancer.hierarchy.extraction.llm_answer import parsed_array, taken
from remembrancer.hierarchy.reflection import MAX_LESSONS, reflect
from remembrancer.providers.openai.spoken_json import read_json, without_thoughts
from remembrancer.testing.samples import episode, message

REPLY = [
    {
        "content": "Priya Raman works at Northwind Labs.",
        "entities": [{"name": "Priya Raman", "type": "person"}, {"name": "Northwind Labs", "type": "organization"}],
        "relationships": [{"source": "Priya Raman", "type": "works_at", "target": "Northwind Labs"}],
    },
    {"content": "Tideline is planned for 15 April.", "entities": [], "relationships": []},
]
THEMES = {
    "themes": [
        {"number": 1, "label": "Work", "description": "Who works where."},
        {"number": 2, "label": "Tea", "description": ""},
    ]
}
NOTE = "Deploys need a review by two people. Lunch is at noon on every day of the week."
EPISODE = episode(1, messages=[message(1, content="Priya Raman works at Northwind Labs.")])

spoken = st.lists(
    st.sampled_from(["<think>", "</think>", "<THINKING>", "</reasoning>", "```", "```json\n", "```\n", "Here it is: ",
        "[", "{", "}", "]", '"',
                     "\\", ",", ",]", "'", "\n", " ", ":", "NaN", "None", "True", '{"a": 1,}', "[1, 2,]", "{'a': 1}",
                     '{"a": "', "(", "-"])
    | odd_texts,
    max_size=8,
).map("".join)  # fmt: skip


class Model:
    """Answers with a text, whatever it is asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def complete(self, prompt: str) -> str:
        return self.text


class Held(Model):
    """Answers in a form, as a model of a server that knows schemas."""

    async def answer(self, prompt: str, *, schema: Mapping[str, Any], read: Callable[[Any], Any]) -> Any:
        return read(read_json(self.text))


replies = changed(REPLY).map(written) | spoken | st.tuples(spoken, changed(REPLY).map(written), spoken).map("".join)


@fuzz
@given(text=replies)
def test_any_reply_is_json_or_a_value_error(text: str) -> None:
    with in_time():
        without_thoughts(text)
        for read in (read_json, parsed_array):
            try:
                json.dumps(read(text))
            except ValueError as error:
                holds(str(error), error)


@fuzz
@given(text=replies)
def test_each_item_of_a_reply_is_a_fact_or_told_as_dropped(text: str) -> None:
    with in_time():
        try:
            items = parsed_array(text)
        except ValueError:
            return
        answer = taken(items, most=1)
        dropped = sum(one.count for one in answer.dropped if one.part == "fact")
        assert len(answer.items) + dropped == len(items)


@fuzz
@given(text=replies | changed({"facts": REPLY}).map(written), is_held=st.booleans())
async def test_no_reply_stops_the_reading_of_an_episode(text: str, is_held: bool) -> None:
    with in_time():
        read = await LLMExtractor(Held(text) if is_held else Model(text)).extract(EPISODE)
        assert read.facts or read.fell_back or read.dropped or text.strip()
        assert all(one.model_dump_json() for one in (*read.facts, *read.entities, *read.relationships))


@fuzz
@given(text=changed(THEMES).map(written) | spoken, is_held=st.booleans())
async def test_no_reply_leaves_a_theme_without_a_name(text: str, is_held: bool) -> None:
    with in_time():
        names = await ThemeNamer(Held(text) if is_held else Model(text)).name([["Ada works."], ["Tea is hot."]])
        assert all(1 <= len(one.label) <= 80 and one.label.encode() for one in names)
        assert len(names) == 2


@fuzz
@given(
    text=changed(["Ask twice.", "Ask twice. ", NOTE]).map(written) | changed({"lessons": [NOTE]}).map(written) | spoken,
    is_held=st.booleans(),
)
async def test_each_lesson_of_a_reply_is_kept_or_told_as_dropped(text: str, is_held: bool) -> None:
    with in_time():
        reflection = await reflect(NOTE, model=Held(text) if is_held else Model(text))
        if reflection.fell_back is None:
            value = read_json(text) if is_held else parsed_array(text)
            listed = value["lessons"] if isinstance(value, dict) else value
            assert len(reflection.lessons) + len(reflection.dropped) == len(listed)
            assert len(reflection.lessons) <= MAX_LESSONS
        else:
            assert len(reflection.lessons) == 2
        assert reflection.model_dump_json()


SURROUNDINGS = ["@", "<think>So [1, 2]: {}?</think>@", "```json\n@\n```", "```\n@```",
    "Sure!\n```json\n@\n```\nAnything else?", "\ufeff @ ",
                "thinking [...]</think>\n@", "```json\n@", "Here: @",
                "<reasoning>\n</reasoning>\n\n```JSON\n@\n```"]  # fmt: skip


@fuzz
@given(
    value=st.lists(
        st.dictionaries(st.text(max_size=4), st.text(max_size=8) | st.integers() | st.lists(st.none(), max_size=2)),
        min_size=2,
        max_size=4,
    ),
    around=st.sampled_from(SURROUNDINGS),
    spaces=st.sampled_from([None, 2]),
)
def test_good_json_is_read_whatever_stands_around_it(value: list[Any], around: str, spaces: int | None) -> None:
    text = json.dumps(value, indent=spaces)
    if "```" not in text:
        with in_time():
            assert read_json(around.replace("@", text, 1)) == value


@fuzz
@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4), lambda one: st.lists(one,
max_size=3)
       | st.dictionaries(st.text(max_size=3), one, max_size=3)).filter(lambda one: isinstance(one,
       list | dict)))  # fmt: skip
def test_what_python_would_write_is_read(value: Any) -> None:
    with in_time():
        assert read_json(repr(value)) == ast.literal_eval(repr(value))


@pytest.mark.parametrize(
    "text",
    [
        "```" + " " * 20_000,
        "```" + "a" * 100_000,
        '["' + '\\"' * 50_000,
        '[{"content": "' + '\\"' * 50_000 + "x",
        "[" + "-" * 50_000 + "1]",
        "[" + "1+" * 30_000 + "1]",
        "{'a':" * 30_000,
        "[" + "{" * 190 + "}" * 190 + "]",
    ],
)
def test_a_long_reply_that_is_broken_is_refused_at_once(text: str) -> None:
    with in_time(10), pytest.raises(ValueError, match="it is"):
        read_json(text)


def test_a_key_given_twice_is_ambiguous_in_the_writing_of_python_too() -> None:
    for text in ('[{"a": 1, "a": 2}]', "[{'a': 1, 'a': 2}]", "Here: {'x': [{'a': 1, 'a': 1}]}"[6:]):
        with pytest.raises(ValueError, match="given twice"):
            read_json(text)


def test_what_a_key_given_twice_held_first_is_told_as_dropped() -> None:
    answer = taken(parsed_array('[{"content": "One.", "content": "Two.", "content": "Three."}]'), most=5)
    assert [one.content for one in answer.items] == ["Three."]
    assert [(one.part, one.reason, one.count) for one in answer.dropped] == [
        ("field", "'content' of a fact but for its last value", 2)
    ]


@pytest.mark.parametrize("depth", [150, 600, 950, 10_000])
async def test_a_reply_that_is_nested_too_deeply_is_not_used(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for text in (f'[{{"content": "One.", "entities": {deep}}}]', f"[{deep}]", f'{{"lessons": [{deep}]}}'):
        for read in (read_json, parsed_array):
            with pytest.raises(ValueError, match="nested"):
                read(text)
        assert (await reflect(NOTE, model=Model(text))).fell_back
        assert (await reflect(NOTE, model=Held(text))).fell_back
