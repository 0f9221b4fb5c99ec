"""Conflicts that words and times show, within the facts of one entity. Everything here is pure.

Facts are handed in as outlines, without their vectors. Not every pair is compared: `word_join` finds those whose words
overlap enough, and gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.lifecycle.conflict import Conflict, ConflictingFact, ConflictKind, age_gap
from remembrancer.lifecycle.word_join import overlapping_pairs
from remembrancer.lifecycle.words import (
    contains_negation,
    content_words,
    is_negation,
    overlap_coefficient,
    without_times,
    words_of,
)
from remembrancer.ports.pushdown import FactOutline

NEGATION_OVERLAP = 0.5
SUPERSESSION_OVERLAP = 0.4
"""More than this part of the shorter text's words must be shared; for a negation without the words that negate."""

_CONFIDENCE: dict[ConflictKind, float] = {"negation": 0.8, "supersession": 0.9}
_SURE, _FAIRLY_SURE = 4, 8  # words


class Pairs:
    """Which pairs were reported already; each is reported once."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def take(self, a: str, b: str) -> bool:
        """Whether the pair is new; from now on it is not."""
        pair = (a, b) if a < b else (b, a)
        if pair in self._seen:
            return False
        self._seen.add(pair)
        return True

    def has(self, a: str, b: str) -> bool:
        """Whether the pair was reported."""
        return ((a, b) if a < b else (b, a)) in self._seen


def negations(group: Sequence[FactOutline], pairs: Pairs) -> list[Conflict]:
    """Pairs of which exactly one negates, and that otherwise say much the same.

    Args:
        group: The facts of one entity, in order.
        pairs: What was reported before; what is found is added.
    """
    negated = [contains_negation(fact.content) for fact in group]
    if len(set(negated)) < 2:
        return []
    words = [
        frozenset(word for word in content_words(words_of(fact.content)) if not is_negation(word)) for fact in group
    ]
    found = overlapping_pairs(words, above=NEGATION_OVERLAP, sides=negated)
    return _conflicts("negation", group, sorted(found), pairs)


def supersessions(group: Sequence[FactOutline], pairs: Pairs, *, day_threshold: float) -> list[Conflict]:
    """Pairs that began more than so many days apart, and say much the same but for dates and clock times."""
    if len(group) < 2:
        return []
    words = [frozenset(content_words(words_of(without_times(fact.content)))) for fact in group]
    found = (
        (i, j)
        for i, j in overlapping_pairs(words, above=SUPERSESSION_OVERLAP)
        if age_gap(group[i].valid_from, group[j].valid_from) > day_threshold
    )
    return _conflicts("supersession", group, sorted(found), pairs)


def contradiction(a: FactOutline, b: FactOutline, pairs: Pairs, *, overlap_threshold: float) -> Conflict | None:
    """The conflict of two facts that are near each other in meaning and share an entity, unless their words overlap.

    Args:
        a: The one that was searched from.
        b: The one that was found.
        pairs: What was reported before; what is found is added.
        overlap_threshold: From this overlap on two facts say the same thing, and are none.
    """
    if pairs.has(a.id, b.id):
        return None
    words = [content_words(words_of(fact.content)) for fact in (a, b)]
    if overlap_coefficient(frozenset(words[0]), frozenset(words[1])) >= overlap_threshold:
        return None
    pairs.take(a.id, b.id)
    shorter = min(map(len, words))
    confidence = 0.7 if shorter <= _SURE else 0.5 if shorter <= _FAIRLY_SURE else 0.3
    return Conflict(kind="semantic_contradiction", confidence=confidence, a=_side(a), b=_side(b))


def _conflicts(
    kind: ConflictKind, group: Sequence[FactOutline], found: Sequence[tuple[int, int]], pairs: Pairs
) -> list[Conflict]:
    return [
        Conflict(kind=kind, confidence=_CONFIDENCE[kind], a=_side(group[i]), b=_side(group[j]))
        for i, j in found
        if pairs.take(group[i].id, group[j].id)
    ]


def _side(fact: FactOutline) -> ConflictingFact:
    return ConflictingFact(id=fact.id, content=fact.content, valid_from=fact.valid_from)
