"""Words are found as they were written, whatever stands in them, and by both stores alike."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import opening

from remembrancer.memory import Memory
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace, Message
from remembrancer.records.recall_words import LONGEST, hidden_words, words_in
from remembrancer.testing import FixedClock, OpenStore
from remembrancer.testing.samples import sample_id

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
EMBEDDER = HashingEmbedder(dimensions=64)
SPACE = EmbeddingSpace(model=EMBEDDER.model, dimensions=EMBEDDER.dimensions)
LONG = "".join(chr(ord("a") + place * place % 26) for place in range(3_000))

WRITTEN = [
    "O'Brien", "O’Brien", "v2.3.1", "1,000.50", "192.168.1.17", "2026-03-01T12:30", "battery_pack",
    "__init__", "_private", "foo_bar@x.com", "https://x.org/a_b?c=d#e", "C++", "C#", ".NET", "node.js",
    "#hashtag", "@user", "50%", "$9.99", "R&D", "co-operate", "lithium-ion", "and/or-gate", "fooBar",
    "l'école", "U.S.S.R.", "a:b:c", "key=value", "**bold**", "`code`", '"quoted"', "(bracketed)",
    "first\nsecond", "tab\tbed", "rock'n'roll", "Caroline's", "İstanbul", "ΟΔΥΣΣΕΥΣ", "Straße", "STRASSE",
    "café", "cafe\u0301", "ﬁne", "ｆｕｌｌ", "x²", "soft\u00adhyphen", "zero\u200bwidth", "he\u200dart",
    "स्त्री", "Привет", "مرحبا", "שלום", "東京タワー", "iPhone手机", "手机iPhone", "서울에서", "ภาษาไทย", "🎉party🎉",
    "naïve", "Ünïcödé", "A1_B2-C3.D4", LONG,
]  # fmt: skip


def said(content: str, place: int) -> Message:
    """A message of its own conversation."""
    at = NOON + dt.timedelta(minutes=place)
    return Message(
        id=sample_id("message", place), role="user", content=content, timestamp=at, conversation=f"c{place % 3}"
    )


@pytest.mark.parametrize("vectors", [True, False])
async def test_what_was_written_is_found_as_it_was_written(open_store: OpenStore, vectors: bool) -> None:
    store = await open_store(space=SPACE if vectors else None, clock=FixedClock(NOON))
    memory = Memory(store, store.index, embedder=EMBEDDER if vectors else None, clock=FixedClock(NOON))
    texts = [f"Regarding {written} they decided {place}" for place, written in enumerate(WRITTEN)]
    await memory.ingest([said(text, place) for place, text in enumerate(texts)])
    for place, written in enumerate(WRITTEN):
        recall = await memory.recall(written, valid_at=NOON + dt.timedelta(days=1))
        found = [hit.id for hit in recall.hits if hit.parts.get("text", 0) > 0]
        assert sample_id("message", place) in found, written


PIECES = st.sampled_from([*WRITTEN[:-1], "ada", "boats", "boating", "happy", "happiness", "the", "will", "May"])
GLUE = st.sampled_from(
    [" ", "", "-", "_", ".", ",", "'", "’", "’s ", "\n", ":", "/", "\u00ad", "\u200b", "\u0301", "@", "漢"]
)
TEXTS = st.lists(st.tuples(PIECES, GLUE), min_size=1, max_size=5).map(lambda parts: "".join(a + b for a, b in parts))


@pytest.mark.neo4j
@settings(max_examples=12)
@given(contents=st.lists(TEXTS, min_size=2, max_size=20), questions=st.lists(TEXTS, min_size=1, max_size=6))
async def test_both_stores_find_and_rank_alike_by_words(
    neo4j_database: Any, contents: list[str], questions: list[str]
) -> None:
    answers = []
    for backend in (None, neo4j_database):
        async with opening(backend) as open_store:
            store = await open_store(clock=FixedClock(NOON))
            memory = Memory(store, store.index, embedder=None, clock=FixedClock(NOON))
            await memory.ingest([said(content, place) for place, content in enumerate(contents)])
            told = []
            for question in [*questions, *contents]:
                recall = await memory.recall(question, valid_at=NOON + dt.timedelta(days=1), limit=50)
                told.append((question, {hit.id: round(hit.score, 5) for hit in recall.hits}))
            answers.append(told)
    assert answers[0] == answers[1]


@given(text=st.text() | TEXTS)
def test_cutting_into_words_is_stable_and_bounded(text: str) -> None:
    words = words_in(text)
    assert all(word and " " not in word for word in words)
    assert words_in(" ".join(words)) == words
    assert set(hidden_words(text).split()) <= set(words)


def test_a_long_word_is_cut_not_dropped() -> None:
    assert [len(word) for word in words_in("x" * (2 * LONGEST + 7))] == [LONGEST, LONGEST, 7]


async def test_without_an_embedder_stop_words_are_found_where_there_is_nothing_else(open_store: OpenStore) -> None:
    store = await open_store(clock=FixedClock(NOON))
    memory = Memory(store, store.index, embedder=None, clock=FixedClock(NOON))
    await memory.ingest([said("the crane is built with make", 0), said("the ferry left", 1)])
    assert [hit.id for hit in (await memory.recall("make")).hits] == [sample_id("message", 0)]
    assert (await memory.recall("it is the")).empty_because == "nothing asked"
