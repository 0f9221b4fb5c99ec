"""Conflicts that words and times show, within the facts of one entity. Everything here is pure.

Facts are handed in as outlines, without their vectors. Not every pair is compared: `word_join` finds those whose words
overlap enough, and gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.lifecycle.conflict import Conflict, ConflictingFact, ConflictKind, age_gap
from remembrancer.lifecycle.word_join import overlapping_pairs
from remembrancer.lifecycle.words import (
    content_words,
    is_negation,
    overlap_coefficient,
    without_times,
    words_of,
)
from remembrancer.ports.pushdown import FactOutline
from remembrancer.records.assertion import windows_overlap
from remembrancer.records.key import without_repeats

NEGATION_OVERLAP = 0.5
SUPERSESSION_OVERLAP = 0.4
"""More than this part of the shorter text's words must be shared; for a negation without the words that negate."""

_CONFIDENCE: dict[ConflictKind, float] = {"negation": 0.8, "supersession": 0.9}
_SURE, _FAIRLY_SURE = 4, 8  # words


def may_conflict(a: FactOutline, b: FactOutline) -> bool:
    """Whether two facts can be in conflict at all.

    Facts that hold at no common instant are not, nor are statements of different subjects or predicates, however alike
    their words.
    """
    if a.statement_key is not None and b.statement_key is not None and a.statement_key != b.statement_key:
        return False
    return windows_overlap(a.valid_from, a.valid_until, b.valid_from, b.valid_until)


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


def conflicts_within(
    group: Sequence[FactOutline], pairs: Pairs, *, day_threshold: float
) -> tuple[list[Conflict], list[Conflict]]:
    """Negations and supersessions among the facts of one entity, each kind in the order of the group.

    A negation is a pair of which exactly one negates, and that otherwise says much the same. A supersession is a pair
    that began more than so many days apart, and says much the same but for dates and clock times.

    Args:
        group: The facts, in order.
        pairs: What was reported before; what is found is added.
        day_threshold: 0 or more, not included.
    """
    known: dict[str, str] = {}  # each word in memory once, however many facts have it
    words = [tuple(known.setdefault(word, word) for word in words_of(fact.content)) for fact in group]
    negations = _conflicts("negation", group, _negations(words), pairs)
    replaced = (
        (i, j)
        for i, j in overlapping_pairs(
            [
                without_repeats(content_words(_timeless(fact.content, own)))
                for fact, own in zip(group, words, strict=True)
            ],
            above=SUPERSESSION_OVERLAP,
        )
        if age_gap(group[i].valid_from, group[j].valid_from) > day_threshold
    )
    return negations, _conflicts("supersession", group, sorted(replaced), pairs)


def _negations(words: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    negated = [any(map(is_negation, own)) for own in words]
    if len(set(negated)) < 2:
        return []
    said = [without_repeats(word for word in content_words(own) if not is_negation(word)) for own in words]
    return sorted(overlapping_pairs(said, above=NEGATION_OVERLAP, sides=negated))


def _timeless(content: str, words: Sequence[str]) -> Sequence[str]:
    timeless = without_times(content)
    return words if timeless == content else words_of(timeless)


def contradiction(a: FactOutline, b: FactOutline, pairs: Pairs, *, overlap_threshold: float) -> Conflict | None:
    """The conflict of two facts that are near each other in meaning and share an entity, unless their words overlap.

    Args:
        a: The one that was searched from.
        b: The one that was found.
        pairs: What was reported before; what is found is added.
        overlap_threshold: From this overlap on two facts say the same thing, and are none.
    """
    if pairs.has(a.id, b.id) or not may_conflict(a, b):
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
        if may_conflict(group[i], group[j]) and pairs.take(group[i].id, group[j].id)
    ]


def _side(fact: FactOutline) -> ConflictingFact:
    return ConflictingFact(id=fact.id, content=fact.content, valid_from=fact.valid_from)
