"""Which texts have a word of a question, as the database's English text index tells it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from remembrancer.ports.recall import Term

if TYPE_CHECKING:
    from collections.abc import Callable

# What the English analyzer of Lucene leaves out.
_STOPPED = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with
    """.split()  # noqa: SIM905 - easier to compare with its source
)


class Proposal:
    """The words of a question, by the stems under which the index keeps them (Porter, 1980).

    Args:
        terms: The words.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self._stems = frozenset(_stem(term.query) for term in terms if term.query and term.query not in _STOPPED)
        self._pairs = [term.word for term in terms if not term.query]

    def has_a_word(self, worded: str) -> bool:
        """Whether a text, as `recall_words.worded` gives it, has a word of the question in one of its forms."""
        return not self._stems.isdisjoint(map(_stem, worded.split()))

    def has_any(self, worded: str) -> bool:
        """Whether it has a word, or a pair of characters of a script without blanks between words."""
        return self.has_a_word(worded) or any(pair in worded for pair in self._pairs)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    porter: Any = snowballstemmer.stemmer("porter")
    stem: Callable[[str], str] = porter.stemWord
    return stem
