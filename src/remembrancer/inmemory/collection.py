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
            texts: The collection, as `recall_words.worded` gives them.
            needles: The words, as such texts hold them.
        """
        self._texts = texts
        self._mean = sum(map(len, texts)) / max(1, len(texts)) or 1.0
        self._rarity = {
            needle: math.log(1 + len(texts) / (1.0 + sum(needle in text for text in texts))) for needle in needles
        }

    def ranks(self) -> list[float]:
        """How well each of the texts has the words; 0: it has none."""
        return [self.rank(text) for text in self._texts]

    def rank(self, text: str) -> float:
        """How well a text, of the collection or not, has the words; 0: it has none."""
        floor = _K1 * (1 - _B + _B * len(text) / self._mean)
        counts = ((rarity, text.count(needle)) for needle, rarity in self._rarity.items())
        return sum(rarity * count * (_K1 + 1) / (count + floor) for rarity, count in counts if count)
