"""Long texts: four times as long takes about four times as long, whatever they are made of."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz_costly, grows_with_its_input

from remembrancer import Memory
from remembrancer.hierarchy import RuleBasedExtractor
from remembrancer.hierarchy.clustering.telling import words_of as telling_words_of
from remembrancer.hierarchy.exports import read_export
from remembrancer.hierarchy.exports.html_text import plain_text
from remembrancer.hierarchy.extraction.alphabet import every_script
from remembrancer.hierarchy.extraction.llm_answer import parsed_array
from remembrancer.hierarchy.extraction.llm_sources import Sources
from remembrancer.hierarchy.extraction.names import NameFinder
from remembrancer.lifecycle.foreign_records import foreign_id, instant
from remembrancer.lifecycle.words import contains_negation, without_times
from remembrancer.ports.erasure import holds_name
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.providers.openai.endpoint import Endpoint, _wait_asked_for
from remembrancer.providers.openai.spoken_json import read_json, without_thoughts
from remembrancer.records.entity import Entity
from remembrancer.records.instant import require_instant
from remembrancer.records.recall_copies import mentions_time, names_in
from remembrancer.records.recall_words import grams_of, hidden_words, indexed_words, worded
from remembrancer.records.sentences import collapsed, split_sentences
from remembrancer.records.statement import canonical_predicate
from remembrancer.retrieval.recall.dates import asks_when, date_windows
from remembrancer.retrieval.recall.tokens import estimate_tokens
from remembrancer.retrieval.recall.words import question_terms
from remembrancer.server.settings import heap_size
from remembrancer.testing.samples import MADE, START, episode, message, sample_id

ASKED_AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ENDPOINT = Endpoint("http://x", None, timeout_s=5, tries=1)
SPEAKER = Sources([message(1, content="Tea is hot."), message(2, content="aa aa ab")])
FINDERS = NameFinder(), NameFinder(alphabet=every_script())
EMBEDDER = HashingEmbedder(dimensions=16)


def refused(read: Callable[[str], object]) -> Callable[[str], object]:
    """The same, and a text that is none is fine."""

    def reading(text: str) -> None:
        try:
            read(text)
        except ValueError:
            return

    return reading


def _gemini(text: str) -> object:
    record = {"header": "Gemini Apps", "time": "2026-01-01T00:00:00Z", "safeHtmlItem": [{"html": text}]}
    return read_export([{**record, "title": f"Prompted {text}"}, {**record, "title": text}])


async def _remembered(text: str) -> None:
    """A memory that is told a text again of which it was reminded."""
    async with Memory.in_memory() as memory:
        await memory.memory_writer([{"content": text or "x"}])
        await memory.recall(text[:2_000] or "x")
        await memory.ingest([{"role": "user", "content": text, "timestamp": "2026-01-01"}])


READERS: dict[str, Callable[[str], Any]] = {
    "replies": refused(read_json),
    "thoughts": without_thoughts,
    "plain replies": refused(parsed_array),
    "what servers tell": lambda text: ENDPOINT._told(text.encode("utf-8", "replace")),
    "waits": _wait_asked_for,
    "HTML": plain_text,
    "Gemini": _gemini,
    "days": lambda text: (asks_when(text), date_windows(text, asked_at=ASKED_AT)),
    "questions": question_terms,
    "tokens": estimate_tokens,
    "names": lambda text: [finder.find(text) for finder in FINDERS],
    "names for recall": names_in,
    "times": mentions_time,
    "unspaced": grams_of,
    "words of recall": worded,
    "hidden words": hidden_words,
    "indexed words": indexed_words,
    "sentences": lambda text: (split_sentences(text), split_sentences(text, all_scripts=True), collapsed(text)),
    "sources": SPEAKER.of,
    "telling words": telling_words_of,
    "negation": lambda text: (contains_negation(text), without_times(text)),
    "predicates": canonical_predicate,
    "instants": refused(lambda text: require_instant(text, field="at")),
    "foreign instants": refused(lambda text: instant({"at": text}, "at")),
    "foreign ids": lambda text: foreign_id("mem0", text),
    "names to forget": lambda text: holds_name(text, text[:20]),
    "sizes": refused(heap_size),
    "vectors": lambda text: asyncio.run(EMBEDDER.embed([text])),
    "entities": refused(lambda text: Entity(id=sample_id("entity", 1), name=text, entity_type="t", provenance=MADE,
    created_at=START, updated_at=START)),
    "extraction": lambda text: asyncio.run(RuleBasedExtractor().extract(episode(1, messages=[message(1,
    content=text)]))),
    "a memory": lambda text: asyncio.run(_remembered(text)),
}  # fmt: skip

UNITS = [
    *"\"'\\`<>[]{}(),:;=-@#*./&%$~^!?aAzZ01 \n\t_’。 日ก\u0301\u200b",
    '\\"', "Aa ", "Aa", "aA", "a ", "A ", "a.", "a. ", "A. ", "a'", "'a", "a-", "-a ", "@a", "<a", "<a>", "</a>",
    "<!--", "&#", "&amp", "```", "``` ",
    "```json\n", "<think>", "</think>", "[1,", '{"a":', '{"a":1},', "], ", ",\n", "\"a\",", "Attached 1 file ",
    "Attached 1", "in May ", "1 ", "2024-01-",
    "2024 ", "last ", "a couple of ", "dr.", "not ", "n't ", "works at ", "Ada works at Acme. ", "日本", "- [1] ",
    "[x] ", "a: ", "1:", "12:30 ", "x\n", "\r\n",
]  # fmt: skip
ENDS = ["", "x", "!", '"', "\\", "```", "[", "]", "Attached 1 file.x", "<think>", " ", "\n"]


@pytest.mark.parametrize("what", READERS)
@fuzz_costly
@given(
    before=st.sampled_from(ENDS),
    unit=st.sampled_from(UNITS),
    between=st.sampled_from(["", "", *UNITS]),
    after=st.sampled_from(ENDS),
)
def test_the_time_grows_with_the_text(what: str, before: str, unit: str, between: str, after: str) -> None:
    # The parser of HTML in older Pythons looks for the end of what begins with < again and again.
    assume(what not in ("HTML", "Gemini") or "<" not in before + unit + between + after)

    def text_of(size: int) -> str:
        both = unit + between
        return before + both * (size // len(both)) + after

    grows_with_its_input(READERS[what], text_of)


@pytest.mark.parametrize(
    ("what", "before", "unit", "after"),
    [
        ("replies", "```", " ", ""),
        ("replies", "```", "a", ""),
        ("replies", '["', '\\"', ""),
        ("what servers tell", "", "<", ""),
        ("Gemini", "a", " ", "b"),
    ],
)
def test_what_was_quadratic_is_not(what: str, before: str, unit: str, after: str) -> None:
    grows_with_its_input(READERS[what], lambda size: before + unit * (size // len(unit)) + after)
