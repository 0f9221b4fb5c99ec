"""Excerpts: of each message that was found, the sentences that speak to the question.

Words alone decide, no embedding of sentences: a sentence is worth what its message is worth, more for each of the
question's words that it holds, less when it asks or says next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from remembrancer.ports.recall import Evidence, Term
from remembrancer.records.recall_words import worded
from remembrancer.records.sentences import split_sentences

SENTENCES = 2
"""How many sentences of one message are shown at most."""

WORDS = 24
"""A further sentence is shown only while the excerpt stays within this many words."""

_SHARE, _LENGTH, _QUESTION, _SHORT = 0.5, 0.15, 0.3, 0.2
_FULL_LENGTH, _FEW_WORDS = 15, 4
_GAP = "…"


@dataclass(frozen=True)
class Excerpt:
    """What is shown of one message or fact.

    Attributes:
        score: That of the evidence and of its best sentence.
        is_whole: Whether nothing was left out.
    """

    evidence: Evidence
    text: str
    score: float
    is_whole: bool


def excerpts(evidence: Sequence[Evidence], terms: Sequence[Term], *, whole: bool = False) -> list[Excerpt]:
    """One excerpt for each piece of evidence, best first; ties keep the order of the evidence.

    Args:
        evidence: What was found.
        terms: Words of the question.
        whole: Show messages whole; their order is still that of their best sentences.
    """
    needles = [term.needle for term in terms if term.needle]
    return sorted((_excerpt(found, needles, whole=whole) for found in evidence), key=lambda excerpt: -excerpt.score)


def _excerpt(found: Evidence, needles: Sequence[str], *, whole: bool) -> Excerpt:
    sentences = split_sentences(found.content, all_scripts=True)
    if len(sentences) <= 1:
        return Excerpt(found, found.content.strip(), found.score + _worth(found.content, needles), is_whole=True)
    worth = [_worth(sentence, needles) for sentence in sentences]
    ranked = sorted(range(len(sentences)), key=lambda place: -worth[place])
    score = found.score + worth[ranked[0]]
    if whole or found.kind == "fact":
        return Excerpt(found, found.content.strip(), score, is_whole=True)
    kept = _fitting(ranked, sentences)
    return Excerpt(found, _joined(sorted(kept), sentences), score, is_whole=len(kept) == len(sentences))


def _fitting(ranked: Sequence[int], sentences: Sequence[str]) -> list[int]:
    kept = [ranked[0]]
    words = len(sentences[ranked[0]].split())
    for place in ranked[1:]:
        more = len(sentences[place].split())
        if len(kept) < SENTENCES and words + more <= WORDS:
            kept.append(place)
            words += more
    return kept


def _joined(places: Sequence[int], sentences: Sequence[str]) -> str:
    text = sentences[places[0]]
    for before, place in pairwise(places):
        # The mark of what is left out clings to the sentence before it, so that it is no word of its own.
        text += f" {sentences[place]}" if place == before + 1 else f"{_GAP} {sentences[place]}"
    return text


def _worth(sentence: str, needles: Sequence[str]) -> float:
    text = worded(sentence)
    words = len(sentence.split())
    share = sum(needle in text for needle in needles) / len(needles) if needles else 0.0
    worth = _SHARE * share + _LENGTH * min(words, _FULL_LENGTH) / _FULL_LENGTH
    if sentence.rstrip().endswith(("?", "？", "؟")):
        worth -= _QUESTION
    if words < _FEW_WORDS:
        worth -= _SHORT
    return worth
