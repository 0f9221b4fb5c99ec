"""Which texts have a word of a question, as the database's English text index tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

from remembrancer.ports.recall import Term
from remembrancer.records.recall_words import NOT_INDEXED


class Proposal:
    """The words of a question, by the stems under which the index keeps them (Porter, 1980).

    Args:
        terms: The words.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self._stems = frozenset(_stem(term.query) for term in terms if term.query and term.query not in NOT_INDEXED)
        self._pairs = [term.word for term in terms if not term.query]

    def has_a_word(self, words: Iterable[str]) -> bool:
        """Whether one of these words is one of the question in some form."""
        return not self._stems.isdisjoint(map(_stem, words))

    def has_any(self, words: Sequence[str]) -> bool:
        """Whether these words hold one of the question, or a pair of characters of a script without blanks."""
        return self.has_a_word(words) or any(pair in word for pair in self._pairs for word in words)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    porter: Any = snowballstemmer.stemmer("porter")
    stem: Callable[[str], str] = porter.stemWord
    return stem
