"""An embedder without a model: words and pieces of words, hashed into a fixed number of buckets.

Two texts are near when they share words, or spellings: "deploying" and "deployment" meet in their pieces, "car" and
"automobile" do not meet at all. It needs no download, so it suits tests and first steps; with full-text search beside
it, it is a fair default.

How a text becomes a vector:

1. The text is put into Unicode form NFKC and casefolded.
2. Its words count once each, times the square root of how often they occur; words that only hold a sentence together
   (`FUNCTION_WORDS`, English) count a fifth.
3. A word gives its own feature with weight 1, and each run of 2, 3 and 4 characters of `<word>` one with weight 0.3.
   So a long word, which is mostly a rare and telling one, weighs more. Where writing puts no spaces between words
   (Han, Kana, Thai, Lao, Khmer, Burmese), runs of 2 characters count as words do, those of 1 and 3 as pieces do.
   Emoji and other symbols are words of one character. Punctuation counts only in a text that has nothing else.
4. A feature's bucket and sign come from its BLAKE2b digest: the same in every process, on every platform.
5. The sum is scaled to length 1 and rounded to float32.

A text with nothing to read (empty, white space) gets the vector of a feature of its own, so that it is never zero and
all such texts are equal. Should signs cancel every bucket, which only a text of very few features can meet, the
features are added up without their signs.

Method: the hashing trick of Weinberger et al., "Feature hashing for large scale multitask learning" (ICML 2009), on the
subwords of Bojanowski et al., "Enriching word vectors with subword information" (TACL 2017).
"""

from __future__ import annotations

import asyncio
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from remembrancer.providers.embedding.texts import checked_texts, encodable
from remembrancer.records.errors import InvalidInputError

FUNCTION_WORDS = frozenset(
    """
    i me my mine myself you your yours yourself he him his she her hers it its we us our ours they them their theirs
    this that these those who whom whose which what when where why how there here
    a an the and or but nor so if then than because while though although as until unless
    of in on at to from by with without for about into onto over under through between during before after up down out
    off again
    am is are was were be been being do does did doing done have has had having will would shall should can could may
    might must
    not no yes too very just also only even still already ever both each every any some all most more such same other
    own
    s t d m ll re ve
    """.split()  # noqa: SIM905  # as a list of literals, one a line, nobody would read it
)

_FUNCTION_WORD_WEIGHT = 0.2
_PIECE_WEIGHT = 0.3
_LARGEST = 4096  # the most dimensions that Neo4j's vector indexes take
_CANCELLED = 1e-9  # below the lightest feature by far, above what rounding leaves of features that cancel
_LONGEST_REMEMBERED = 40
_BUCKET_BITS = (1 << 63) - 1  # of a 64-bit digest; the bit above them is the sign
_BATCH = 256  # texts that are worked on before a cancelled task is let go

# \w leaves out the vowel signs and points that many scripts write as marks of their own
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[\w{_MARKS}]+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

Features = list[tuple[int, float]]  # (digest, weight)


class HashingEmbedder:
    """Hashed words and character runs; deterministic, no model. See the module for how a text becomes a vector.

    Args:
        dimensions: Buckets, 16 to 4,096. More buckets, fewer accidental meetings.

    Raises:
        InvalidInputError: `dimensions` is not a whole number in that range.
    """

    def __init__(self, dimensions: int = 256) -> None:
        if isinstance(dimensions, bool) or not isinstance(dimensions, int) or not 16 <= dimensions <= _LARGEST:
            raise InvalidInputError("dimensions", f"must be a whole number from 16 to {_LARGEST:,}, not {dimensions!r}")
        self._dimensions = dimensions

    @property
    def model(self) -> str:
        """The embedding space, together with `dimensions`; its number rises when the same text gets another vector."""
        return "hashed-words-1"

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 per text, in order.

        Raises:
            InvalidInputError: `texts` is not a sequence of strings.
        """
        wanted = checked_texts(texts)
        vectors: list[list[float]] = []
        for start in range(0, len(wanted), _BATCH):
            vectors += await asyncio.to_thread(self._vectors, wanted[start : start + _BATCH])
        return vectors

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        features = list(_features_of_text(text))
        total = self._sum(features, signed=True)
        if _length(total) < _CANCELLED:
            total = self._sum(features, signed=False)
        unit: list[float] = (total / _length(total)).astype(np.float32).tolist()
        return unit

    def _sum(self, features: Features, *, signed: bool) -> NDArray[np.float64]:
        total = np.zeros(self._dimensions)
        buckets = [(hashed & _BUCKET_BITS) % self._dimensions for hashed, _ in features]
        weights = [-weight if signed and hashed > _BUCKET_BITS else weight for hashed, weight in features]
        np.add.at(total, buckets, weights)
        return total


def _length(vector: NDArray[np.float64]) -> float:
    # fsum is exact, so the last bit does not depend on how a platform's numpy adds up
    return math.sqrt(math.fsum((vector * vector).tolist()))


def _features_of_text(text: str) -> Iterator[tuple[int, float]]:
    folded = unicodedata.normalize("NFKC", encodable(text)).casefold()
    words = Counter(_WORD.findall(folded))
    symbols = Counter(char for char in folded if unicodedata.category(char) in {"So", "Sc", "Sm", "Sk"})
    if not words and not symbols:
        symbols = Counter(char for char in folded if not char.isspace())
    if not words and not symbols:
        yield _hash("nothing to read"), 1.0
    for symbol, count in symbols.items():
        yield _hash(f"symbol {symbol}"), math.sqrt(count)
    for word, count in words.items():
        share = math.sqrt(count) * (_FUNCTION_WORD_WEIGHT if word in FUNCTION_WORDS else 1.0)
        # words recur, so their features are remembered; huge ones (a pasted blob, a page of Chinese) would fill memory
        features = _remembered_features(word) if len(word) <= _LONGEST_REMEMBERED else _features_of_word(word)
        for hashed, weight in features:
            yield hashed, share * weight


def _features_of_word(word: str) -> tuple[tuple[int, float], ...]:
    if _UNSPACED.search(word):
        pairs = ((_hash(f"word {pair}"), 1.0) for pair in _runs(word, 2))
        return (*pairs, *((_hash(f"piece {piece}"), _PIECE_WEIGHT) for piece in _runs(word, 1, 3)))
    pieces = _runs(f"<{word}>", 2, 3, 4)
    return ((_hash(f"word {word}"), 1.0), *((_hash(f"piece {piece}"), _PIECE_WEIGHT) for piece in pieces))


def _runs(text: str, *sizes: int) -> Iterator[str]:
    return (text[at : at + size] for size in sizes for at in range(len(text) - size + 1))


_remembered_features = lru_cache(maxsize=16_384)(_features_of_word)


def _hash(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode("utf-8"), digest_size=8).digest(), "little")
