"""The words of a question: what is searched for, and what only holds a sentence together.

They are cut as those of the texts are (`recall_words`). Of scripts without blanks between words overlapping pairs of
characters are searched for. Only when a question has more than `MAX_CLAUSES` words the shortest are left out, and the
answer says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.ports.recall import Term
from remembrancer.records.recall_words import UNSPACED, gram, words_in

MAX_CLAUSES = 300
"""How many words are searched for at most; the rest of `MOST_WORDS` is for names in what is found first."""

_SHORT = 3
STOP_WORDS = frozenset(
    """
    a about above after again against all also although am among an and any anyone anything are aren as at away
    be became because become been before being below between both but by came can cannot come could couldn d did
    didn do does doesn doing don done down during each either else ever every everyone everything few for from
    further gave get gets getting give given go goes going gone got had hadn has hasn have haven having he her
    here hers herself him himself his how however i if in into is isn it its itself just know let like ll m made
    make makes many may maybe me might mine more most much must my myself near neither never no nobody none nor
    not nothing now of off often oh ok okay on once one only onto or other others our ours ourselves out over
    own perhaps please quite rather re really s said same say says see seem seems several shall she should
    shouldn since so some somebody someone something sometimes somewhere still such t take tell than that the
    their theirs them themselves then there therefore these they thing things this those though through thus to
    together told too took toward towards under until up upon us use used ve very want wants was wasn way we
    well went were weren what whatever when whenever where wherever whether which while who whoever whom whose
    why will with within without won would wouldn yes yet you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a paragraph is easier to keep than a list of quoted words
)
"""English words that say nothing about what is asked for, question words among them."""

_SUFFIXES = ("ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s", "e", "y")


def stem(word: str) -> str:
    """The part of an English word that its forms share: `paints`, `painted` and `painting` give `paint`."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def question_terms(text: str, *, without: frozenset[str] = STOP_WORDS) -> tuple[tuple[Term, ...], int]:
    """The terms of a question, and how many words had to be left out because there were too many.

    Args:
        text: The question.
        without: Words that are no terms.
    """
    words = list(dict.fromkeys(_words(text, without)))
    left_out = 0
    if len(words) > MAX_CLAUSES:
        kept = set(sorted(words, key=len, reverse=True)[:MAX_CLAUSES])
        left_out = len(words) - len(kept)
        words = [word for word in words if word in kept]
    return tuple(_terms(words)), left_out


def _words(text: str, without: frozenset[str]) -> Iterator[str]:
    for word in words_in(text):
        if UNSPACED.match(word):
            yield from _pairs(word)
        elif word not in without:
            yield word


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    yield from (run[place : place + 2] for place in range(len(run) - 1))


def _terms(words: list[str]) -> Iterator[Term]:
    seen: set[str] = set()
    for word in words:
        is_run = UNSPACED.match(word) is not None
        needle = word if is_run else _needle(word)
        kept = "" if needle in seen else needle
        seen.add(needle)
        yield Term(word, kept, "", gram(word)) if is_run else Term(word, kept, word, word)


def _needle(word: str) -> str:
    # A short word would be the beginning of far too many others.
    return f" {word} " if len(word) < _SHORT else f" {stem(word)}"
