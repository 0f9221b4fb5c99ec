"""Which messages a fact was read from, when nobody says: those that share most of its words.

A word counts the more, the fewer of the episode's messages have it, so that the words of all of them decide nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from remembrancer.records import Message
from remembrancer.records.recall_words import UNSPACED, grams_of

_WORD = re.compile(r"\w+")
_LEAST_SHARE = 0.25  # of a fact's words that are anywhere in the episode: what the first message must have
_LEAST_FURTHER = 0.3  # likewise, of words that no message cited so far has: what a further one must add


class Sources:
    """The messages of an episode, to be cited."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._ids = [message.id for message in messages]
        self._words = [_words(message.spoken) for message in messages]
        self._counts = Counter(word for words in self._words for word in words)

    def of(self, content: str) -> list[str]:
        """Ids of the messages that share most of a text's words, in the order they were said; at most three.

        Empty when no message shares a quarter of its words: then nobody can tell.
        """
        wanted = _words(content)
        found = {word for word in wanted if word in self._counts}
        if not found or len(found) < _LEAST_SHARE * len(wanted):
            return []
        whole = self._weight(found)
        cited: list[int] = []
        missing = found
        while missing and len(cited) < 3:
            gains = [self._weight(words & missing) for words in self._words]
            best = max(range(len(gains)), key=gains.__getitem__)
            if gains[best] < (_LEAST_FURTHER if cited else _LEAST_SHARE) * whole:
                break
            cited.append(best)
            missing = missing - self._words[best]
        return [self._ids[place] for place in sorted(cited)]

    def _weight(self, words: set[str]) -> float:
        return sum(1 / self._counts[word] for word in words)


def _words(text: str) -> set[str]:
    folded = text.casefold()
    return {*_WORD.findall(UNSPACED.sub(" ", folded)), *grams_of(folded).split()}
