"""BM25 over a few texts, with these texts as the collection."""

from __future__ import annotations

import math
from collections.abc import Sequence

_K1, _B = 1.2, 0.75


class Collection:
    """Texts, and how rare each word of a question is among them.

    BM25 (Robertson and Zaragoza, 2009) with k1 1.2 and b 0.75; the rarity of a word is log(1 + texts / (1 + texts that
    have it)), and lengths are counted in characters. A word counts where a word of the text begins with its stem.
    """

    def __init__(self, texts: Sequence[str], needles: Sequence[str]) -> None:
        """Take the texts.

        Args:
            texts: The collection.
            needles: The words, as lower-cased texts between blanks hold them.
        """
        self._lowered = lowered = [_lowered(text) for text in texts]
        self._mean = sum(map(len, lowered)) / len(lowered) if lowered else 1.0
        self._rarity = {
            needle: math.log(1 + len(lowered) / (1.0 + sum(needle in text for text in lowered))) for needle in needles
        }

    def ranks(self) -> list[float]:
        """How well each of the texts has the words; 0: it has none."""
        return [self._rank(lowered) for lowered in self._lowered]

    def rank(self, text: str) -> float:
        """How well a text that is not of the collection has the words; 0: it has none."""
        return self._rank(_lowered(text))

    def _rank(self, lowered: str) -> float:
        floor = _K1 * (1 - _B + _B * len(lowered) / self._mean)
        counts = ((rarity, lowered.count(needle)) for needle, rarity in self._rarity.items())
        return sum(rarity * count * (_K1 + 1) / (count + floor) for rarity, count in counts if count)


def _lowered(text: str) -> str:
    return f" {text.lower()} "
