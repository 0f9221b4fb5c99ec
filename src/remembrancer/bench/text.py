"""How the benchmark counts and compares texts: tokens without a tokenizer, content words without grammar.

Only words that carry no content anywhere are dropped. Recall's own list is longer, since it also leaves out what says
nothing in a question (`get`, `say`, `want`); in a text that is to be carried such words count.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = frozenset(
    """
    a an the this that these those some such any all each few more most other own same only
    i me my we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose what which when where why how
    am is are was were be been being do does did doing have has had having
    can could will would shall should may might must
    and or but nor not no so if than then because while as too very just really also now again here there once
    about above after at before below between by down during for from in into of off on out over through to under
    until up with like
    d don didn doesn isn ll m re s t ve wasn
    oh hey hi yes yeah okay wow
    image photo
    """.split()  # noqa: SIM905 - a paragraph is easier to keep than a list of quoted words
)
"""Words without content of their own; the last two mark pictures that a turn shared (`[image: a red kayak]`)."""

_SUFFIXES = ("ing", "ies", "ied", "es", "ed", "s", "e", "y")
_SHORTEST = 3  # characters that a suffix has to leave


@lru_cache(maxsize=1 << 16)
def count_tokens(text: str) -> int:
    """1.3 tokens for each word between blanks, rounded up; the same for every method."""
    return math.ceil(1.3 * len(text.split()))


def word_stem(word: str) -> str:
    """A word without its first suffix that can go, and without the second of two equal letters at its end then."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) >= len(suffix) + _SHORTEST:
            word = word.removesuffix(suffix)
            break
    is_doubled = len(word) > _SHORTEST and word[-1] == word[-2]
    return word[:-1] if is_doubled else word


@lru_cache(maxsize=1 << 16)
def word_list(text: str) -> tuple[str, ...]:
    """The content words of a text in their order, as stems."""
    return tuple(word_stem(word) for word in _WORD.findall(text.lower()) if word not in _FUNCTION_WORDS)


@lru_cache(maxsize=1 << 16)
def content_words(text: str) -> frozenset[str]:
    """The distinct content words of a text."""
    return frozenset(word_list(text))
