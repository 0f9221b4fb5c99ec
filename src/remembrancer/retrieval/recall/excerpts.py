"""Excerpts: of each message that was found, the sentences that speak to the question.

Words alone decide, no embedding of sentences: a sentence is worth what its message is worth, more for each of the
question's words that it holds, less when it asks or says next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.ports.recall import Evidence, Term
from remembrancer.records.sentences import split_sentences

SENTENCES = 2
"""How many sentences of one message are shown at most."""

_SHARE, _LENGTH, _QUESTION, _SHORT = 0.4, 0.3, 0.15, 0.15
_FULL_LENGTH, _FEW_WORDS = 15, 4


@dataclass(frozen=True)
class Excerpt:
    """One or more sentences of a message, or a whole fact.

    Attributes:
        places: Which sentences of the message, by their place.
    """

    evidence: Evidence
    text: str
    score: float
    places: tuple[int, ...]


def excerpts(evidence: Sequence[Evidence], terms: Sequence[Term], *, sentences: int = SENTENCES) -> list[Excerpt]:
    """The best sentences of each piece of evidence, best first; ties keep the order of the evidence."""
    needles = [term.needle for term in terms if term.needle]
    cut: list[Excerpt] = []
    for found in evidence:
        parts = split_sentences(found.content, all_scripts=True)
        if found.kind == "fact" or len(parts) <= 1:
            cut.append(Excerpt(found, found.content.strip(), found.score + _worth(found.content, needles), (0,)))
            continue
        scored = [
            Excerpt(found, sentence, found.score + _worth(sentence, needles), (place,))
            for place, sentence in enumerate(parts)
        ]
        cut += sorted(scored, key=lambda excerpt: -excerpt.score)[:sentences]
    return sorted(cut, key=lambda excerpt: -excerpt.score)


def _worth(sentence: str, needles: Sequence[str]) -> float:
    text = f" {sentence.lower()}"
    words = len(sentence.split())
    share = sum(needle in text for needle in needles) / len(needles) if needles else 0.0
    worth = _SHARE * share + _LENGTH * min(words, _FULL_LENGTH) / _FULL_LENGTH
    if sentence.rstrip().endswith(("?", "？", "؟")):
        worth -= _QUESTION
    if words < _FEW_WORDS:
        worth -= _SHORT
    return worth
