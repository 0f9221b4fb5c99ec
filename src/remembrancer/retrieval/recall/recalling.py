"""Recall: the best evidence for a question, from messages and facts, by meaning, words, dates and speakers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from remembrancer.ports import Embedder, MemoryStore
from remembrancer.ports.arguments import flag, moment, text, whole_number
from remembrancer.ports.recall import Findings, GathersCandidates, RecallQuestion, RecallsEvidence
from remembrancer.ports.weights import RecallWeights
from remembrancer.records import Clock, InvalidInputError, system_clock
from remembrancer.records.recall_words import NOT_INDEXED
from remembrancer.retrieval.recall.answer import EmptyBecause, LeftOut, Recall, RecallHit, parts_of
from remembrancer.retrieval.recall.dates import asks_when, date_windows
from remembrancer.retrieval.recall.excerpts import Excerpt, excerpts
from remembrancer.retrieval.recall.ranking import rank, searched
from remembrancer.retrieval.recall.words import question_terms

DEFAULT_WEIGHTS = RecallWeights()

WORD_WEIGHTS = RecallWeights(text=0.6, episode_text=0.3)
"""Without vectors the text search has to carry more."""

_WIDTH = 60
"""How much evidence is asked for at least: excerpts reorder it, and budgets are filled from it."""


async def recall(
    store: MemoryStore,
    question: str,
    *,
    embedder: Embedder | None = None,
    limit: int = 20,
    valid_at: dt.datetime | None = None,
    believed_at: dt.datetime | None = None,
    include_invalidated: bool = False,
    whole_messages: bool = False,
    weights: RecallWeights | None = None,
    clock: Clock = system_clock,
) -> Recall:
    """Find what speaks to a question, best evidence first.

    Args:
        store: Where to look; it must rank evidence itself or gather candidates.
        question: In the user's words; never read as query syntax.
        embedder: Embeds the question; `None`: only words, dates and speakers are looked at.
        limit: The most hits, 1 to 1,000.
        valid_at: Facts that held, and messages that had been said, at this instant; by default now.
        believed_at: Only what had been recorded by this instant.
        include_invalidated: Closed facts too.
        whole_messages: Show messages whole, not their most telling sentences.
        weights: How evidence is scored; by default `DEFAULT_WEIGHTS`, without an embedder `WORD_WEIGHTS`.
        clock: Tells what now is, and what `yesterday` is counted from.

    Raises:
        InvalidInputError: An argument is wrong; names it.
        ServerUnavailableError: The database or the embedder could not be reached.
    """
    asked = text(question, field="text")
    most = whole_number(limit, field="limit", least=1, most=1000)
    instant = moment(valid_at, field="valid_at") or clock()
    if weights is not None and not isinstance(weights, RecallWeights):
        raise InvalidInputError("weights", f"expected RecallWeights, got {type(weights).__name__}")
    whole = flag(whole_messages, field="whole_messages")
    terms, dropped = question_terms(asked)
    if not terms and embedder is None:  # words that say little, such as make and said, are all there is
        terms, dropped = question_terms(asked, without=NOT_INDEXED)
    if not any(map(str.isalnum, asked)):
        return Recall(text=asked, valid_at=instant, empty_because="nothing asked", searched=_searched(embedder))
    embedding = await _embedded(asked, embedder)
    prepared = RecallQuestion(
        terms=terms,
        embedding=embedding,
        windows=date_windows(asked, asked_at=instant),
        asks_when=asks_when(asked),
        weights=weights or (WORD_WEIGHTS if embedding is None else DEFAULT_WEIGHTS),
        limit=max(most, _WIDTH),
        valid_at=instant,
        believed_at=moment(believed_at, field="believed_at"),
        include_invalidated=flag(include_invalidated, field="include_invalidated"),
    )
    findings = await _find(store, prepared)
    named = frozenset(findings.speakers)
    cut = excerpts(findings.evidence, searched(terms, named), whole=whole)
    shown, repeated = _distinct(cut)
    return Recall(
        text=asked,
        valid_at=instant,
        hits=[_hit(excerpt, sources) for excerpt, sources in shown[:most]],
        left_out=LeftOut(
            below_limit=max(0, len(shown) - most) + max(0, findings.candidates - len(findings.evidence)),
            superseded=findings.superseded,
            at_other_times=findings.at_other_times,
            repeated=repeated,
            words=dropped,
        ),
        empty_because=None if shown else _why_empty(findings, prepared),
        searched=_searched(embedder),
    )


def _searched(embedder: Embedder | None) -> Literal["vectors and text", "text"]:
    return "text" if embedder is None else "vectors and text"


async def _embedded(question: str, embedder: Embedder | None) -> tuple[float, ...] | None:
    if embedder is None:
        return None
    vectors = await embedder.embed([question])
    return tuple(map(float, vectors[0]))


async def _find(store: MemoryStore, question: RecallQuestion) -> Findings:
    if isinstance(store, RecallsEvidence):
        return await store.recall(question)
    if isinstance(store, GathersCandidates):
        return rank(await store.gather_candidates(question), question)
    raise InvalidInputError("store", f"{type(store).__name__} can neither recall nor gather candidates")


def _distinct(cut: Sequence[Excerpt]) -> tuple[list[tuple[Excerpt, list[str]]], int]:
    """Each text once, where it ranks best, told by who said it last; with the sources of all that say it."""
    alike: dict[str, list[Excerpt]] = {}
    for excerpt in cut:
        if words := " ".join(excerpt.text.split()).casefold():
            alike.setdefault(words, []).append(excerpt)
    kept = []
    for same in alike.values():
        latest = max(same, key=lambda excerpt: excerpt.evidence.at)
        shown = replace(
            same[0], evidence=replace(latest.evidence, score=same[0].evidence.score, parts=same[0].evidence.parts)
        )
        kept.append((shown, list(dict.fromkeys(source for excerpt in same for source in _sources(excerpt)))))
    return kept, len(cut) - len(kept)


def _sources(excerpt: Excerpt) -> Sequence[str]:
    evidence = excerpt.evidence
    return [evidence.id] if evidence.kind == "message" else evidence.source_ids


def _hit(excerpt: Excerpt, sources: Sequence[str]) -> RecallHit:
    evidence = excerpt.evidence
    return RecallHit(
        kind=evidence.kind,
        id=evidence.id,
        text=excerpt.text,
        score=excerpt.score,
        parts=parts_of((*evidence.parts, excerpt.score - evidence.score)),
        episode_id=evidence.episode_id,
        position=evidence.position,
        speaker=evidence.speaker,
        at=evidence.at,
        source_ids=sources,
    )


def _why_empty(findings: Findings, question: RecallQuestion) -> EmptyBecause:
    if not question.terms and question.embedding is None:
        return "nothing asked"
    if not findings.is_filled:
        return "nothing stored"
    return "nothing held then" if findings.superseded or findings.at_other_times else "nothing similar"
