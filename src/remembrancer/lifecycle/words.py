"""Words of a fact, as conflict detection compares them.

A word is a piece between white space, in lower case, curly apostrophes straightened, everything at its edges taken off
that is neither letter, digit nor mark: "Acme." is "acme", "(not)" is "not", "don’t" is "don't". Negation is found in
whole words, so that "significant" does not count as "cant". The lists are English; words of other scripts are compared
as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_STOP_WORDS = """
a an the is are was were be been being have has had do does did will would shall should may might must can could
to of in for on with at by from as into through during before after above below between and but or nor so yet both
either neither each every all any few more most other some such that this these those it its
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""What overlap does not count. `nor` and `neither` are negation words as well."""

NEGATION_WORDS = frozenset(("not", "no", "never", "neither", "nor", "cannot"))

_NEGATED_STEMS = "does do is was has wo ca could would should are were have had"
CONTRACTIONS = frozenset(stem + ending for stem in _NEGATED_STEMS.split() for ending in ("n't", "nt"))
"""Negated verbs, with the apostrophe and without."""

_DATE = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}")
_CLOCK_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?")
_CURLY = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'"})


def words_of(text: str) -> list[str]:
    """The words in order, repeats kept."""
    pieces = (_trimmed(piece) for piece in text.lower().translate(_CURLY).split())
    return [piece for piece in pieces if piece]


def content_words(words: Iterable[str]) -> list[str]:
    """The words without stop words, repeats kept."""
    return [word for word in words if word not in STOP_WORDS]


def is_negation(word: str) -> bool:
    """Whether a word, as `words_of` gives it, negates."""
    return word in NEGATION_WORDS or word in CONTRACTIONS or word.endswith("n't")


def contains_negation(text: str) -> bool:
    """Whether a text negates what it says: by a negation word, a contraction, or "no longer"."""
    return any(map(is_negation, words_of(text)))


def without_times(text: str) -> str:
    """The text without dates such as 2024-05-01 and clock times such as 10:30; other numbers stay."""
    return _CLOCK_TIME.sub("", _DATE.sub("", text))


def overlap_coefficient(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words as a part of the smaller set, 0 to 1; 0 when either is empty (Szymkiewicz and Simpson)."""
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


def word_overlap(a: str, b: str, *, with_negation: bool = True) -> float:
    """The overlap of two texts' words, stop words left out.

    Args:
        a: A text.
        b: Another.
        with_negation: Whether words that negate count as well.
    """
    sets = [frozenset(content_words(words_of(text))) for text in (a, b)]
    if not with_negation:
        sets = [frozenset(word for word in words if not is_negation(word)) for words in sets]
    return overlap_coefficient(*sets)


def _trimmed(piece: str) -> str:
    if piece.isalnum():
        return piece
    start, end = 0, len(piece)
    while start < end and not is_part_of_word(piece[start]):
        start += 1
    while end > start and not is_part_of_word(piece[end - 1]):
        end -= 1
    return piece[start:end]


@lru_cache(maxsize=4096)
def is_part_of_word(character: str) -> bool:
    """Whether a character is a letter, a digit, or a mark on one; without marks Indic words would lose their vowels."""
    return character.isalnum() or unicodedata.category(character).startswith("M")
