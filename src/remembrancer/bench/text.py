"""How the benchmark counts and compares texts: tokens without a tokenizer, content words without grammar.

The words are those of recall itself (its stop words and its stems), so there is one notion of a content word.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from remembrancer.retrieval.recall.words import STOP_WORDS, stem

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")


@lru_cache(maxsize=1 << 16)
def count_tokens(text: str) -> int:
    """1.3 tokens for each word between blanks, rounded up; the same for every method."""
    return math.ceil(1.3 * len(text.split()))


@lru_cache(maxsize=1 << 16)
def word_list(text: str) -> tuple[str, ...]:
    """The content words of a text in their order: stems, without stop words."""
    return tuple(stem(word) for word in _WORD.findall(_POSSESSIVE.sub("", text.lower())) if word not in STOP_WORDS)


@lru_cache(maxsize=1 << 16)
def content_words(text: str) -> frozenset[str]:
    """The distinct content words of a text."""
    return frozenset(word_list(text))
