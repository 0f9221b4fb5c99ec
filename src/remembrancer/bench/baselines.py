"""The methods that a memory has to beat: no graph, no sessions, no time, each turn or paragraph for itself.

`flat-dense` ranks by cosine; `bm25` by Okapi BM25 (Robertson and Zaragoza, *The Probabilistic Relevance Framework*,
2009) with k1 1.2 and b 0.75 over stems without stop words; `rrf` by reciprocal rank fusion of the two (Cormack, Clarke
and Büttcher, 2009) with constant 60; `hybrid` by their standardised scores, that of BM25 weighted by 0.7 for turns and
by 0.5 for paragraphs, the weights that suit them best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from remembrancer.bench.data import DataKind, Material
from remembrancer.bench.outcome import DEPTH, Item
from remembrancer.bench.text import content_words, word_list
from remembrancer.ports import Embedder

Floats = NDArray[np.float64]

BASELINES = ("flat-dense", "bm25", "rrf", "hybrid")

_K1 = 1.2
_B = 0.75
_FUSION = 60
_TEXT_WEIGHT: dict[DataKind, float] = {"conversations": 0.7, "paragraphs": 0.5}


class Bm25:
    """An index of texts by their content words."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index the texts."""
        counts = [Counter(word_list(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        mean = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
        self._damping = _K1 * (1 - _B + _B * lengths / mean)
        self._size = len(texts)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((place, times))

    def scores(self, question: str) -> Floats:
        """One score a text, 0 where no word of the question is in it."""
        scores = np.zeros(self._size)
        for word in content_words(question):
            posting = np.array(self._postings.get(word, []), dtype=np.int64).reshape(-1, 2)
            places, times = posting[:, 0], posting[:, 1].astype(np.float64)
            rarity = np.log(1 + (self._size - len(posting) + 0.5) / (len(posting) + 0.5))
            scores[places] += rarity * times * (_K1 + 1) / (times + self._damping[places])
        return scores


async def answer_flat(
    material: Material, *, kind: DataKind, embedder: Embedder, depth: int = DEPTH
) -> dict[str, dict[str, list[Item]]]:
    """The answers of every baseline to every question of one memory: by baseline, then by question.

    Args:
        material: What the memory is filled with and asked.
        kind: Of the data; it sets the weight of BM25 in `hybrid`.
        embedder: Embeds questions, and messages as a memory does (`Message.spoken`).
        depth: The most items a question.
    """
    texts = [source.indexed for source in material.sources]
    answers: dict[str, dict[str, list[Item]]] = {name: {} for name in BASELINES}
    if not texts:
        return {name: {question.id: [] for question in material.questions} for name in BASELINES}
    index = Bm25(texts)
    dense = _unit(await embedder.embed([source.message.spoken for source in material.sources]))
    asked = _unit(await embedder.embed([question.text for question in material.questions]))
    items = [Item((source.id,), source.shown) for source in material.sources]
    for question, vector in zip(material.questions, asked, strict=True):
        near, worded = dense @ vector, index.scores(question.text)
        for name, score in _MIXTURES.items():
            order = _order(score(near, worded, _TEXT_WEIGHT[kind]))[:depth]
            answers[name][question.id] = [items[place] for place in order]
    return answers


def _fused(near: Floats, worded: Floats, _: float) -> Floats:
    return 1 / (_FUSION + _ranks(near)) + np.where(worded > 0, 1 / (_FUSION + _ranks(worded)), 0.0)


def _mixed(near: Floats, worded: Floats, weight: float) -> Floats:
    return _standardised(near) + weight * _standardised(worded)


_MIXTURES: dict[str, Callable[[Floats, Floats, float], Floats]] = {
    "flat-dense": lambda near, _, __: near,
    "bm25": lambda _, worded, __: worded,
    "rrf": _fused,
    "hybrid": _mixed,
}


def _order(scores: Floats) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")


def _ranks(scores: Floats) -> Floats:
    ranks = np.empty(len(scores))
    ranks[_order(scores)] = np.arange(1, len(scores) + 1)
    return ranks


def _standardised(scores: Floats) -> Floats:
    spread = float(scores.std())
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros(len(scores))


def _unit(vectors: Sequence[Sequence[float]]) -> Floats:
    rows = np.asarray(vectors, dtype=np.float64)
    if not len(rows):
        return rows
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
