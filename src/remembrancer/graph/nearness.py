"""Which of many vectors lie near one another: all of them compared, a block with a block, by products of matrices.

The products are in single precision and only choose; what they choose is compared again in double precision. The index
of the database scores in single precision, so where two scores are so close that it could order them the other way, and
for a vector with very many near ones, only that is told: what is kept grows with the vectors and not with the pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

_ROUNDING = 1e-4  # far more than a product of unit vectors in single precision can be off
_UNCLEAR = 1e-5  # so close to each other, or to the least, scores in single precision may change places
_ROWS = 1_000  # of either side in one product, which then stays in the processor's cache
_PAIRS = 10_000  # compared again at once


@dataclass(frozen=True)
class Block:
    """Some vectors, each of length 1, and which they are: ascending numbers."""

    places: Places
    units: Floats

    @classmethod
    def of(cls, places: Sequence[int], vectors: Sequence[NDArray[Any]]) -> Block:
        """A block of vectors of one length, none of them zero."""
        rows = np.stack(vectors).astype(np.float32)
        rows /= np.abs(rows).max(axis=1, keepdims=True)  # squares of huge numbers overflow
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return cls(np.asarray(places), rows)

    def portions(self) -> Iterator[Block]:
        """The block in parts small enough for one product."""
        for start in range(0, len(self.places), _ROWS):
            yield Block(self.places[start : start + _ROWS], self.units[start : start + _ROWS])


class Nearness:
    """Gathers pairs of near vectors, of `count` in all, each block compared once with itself and once with each other.

    Args:
        count: How many vectors there are; their places are below it.
        least: The least cosine, included.
        limit: With this many near ones, itself counted, a vector is unclear.
    """

    def __init__(self, count: int, *, least: float, limit: int) -> None:
        self._least = least
        self._limit = limit
        self._counts = np.zeros(count, dtype=np.int64)
        self._pairs: list[tuple[Places, Places, NDArray[np.float64]]] = []

    def compare(self, one: Block, other: Block) -> None:
        """Compare the vectors of two blocks, or those of one block with each other if both are the same object."""
        for first in one.portions():
            for second in other.portions():
                if one is not other or first.places[0] <= second.places[0]:
                    self._compare(first, second, is_same=one is other and first.places[0] == second.places[0])

    def _compare(self, first: Block, second: Block, *, is_same: bool) -> None:
        near = first.units @ second.units.T >= self._least - _ROUNDING
        if is_same:
            near = np.triu(near, 1)
        rows, columns = np.nonzero(near)
        if not len(rows):
            return
        np.add.at(self._counts, first.places[rows], 1)
        np.add.at(self._counts, second.places[columns], 1)
        is_wanted = ~(self._is_crowded(first.places[rows]) & self._is_crowded(second.places[columns]))
        rows, columns = rows[is_wanted], columns[is_wanted]
        for start in range(0, len(rows), _PAIRS):
            part = slice(start, start + _PAIRS)
            scores = self._scores(first.units[rows[part]], second.units[columns[part]])
            passes = scores >= self._least - _UNCLEAR
            self._pairs.append((first.places[rows[part]][passes], second.places[columns[part]][passes], scores[passes]))

    def clear(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Each vector with near ones and no doubt about them or their order, and these with cosines, nearest first."""
        of, near, scores, is_unclear = self._sides()
        bounds = np.flatnonzero(np.diff(of, prepend=-1, append=-1))
        for start, end in itertools.pairwise(bounds):
            if not is_unclear[of[start]]:
                yield int(of[start]), list(zip(near[start:end].tolist(), scores[start:end].tolist(), strict=True))

    def unclear(self) -> list[int]:
        """The vectors for which the index must be asked."""
        *_, is_unclear = self._sides()
        return np.flatnonzero(is_unclear).tolist()

    def _sides(self) -> tuple[Places, Places, NDArray[np.float64], NDArray[np.bool_]]:
        """Every pair from both sides, by vector, nearest first; and of all vectors whether they are unclear."""
        empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        left, right, scores = (np.concatenate(part) for part in zip(empty, *self._pairs, strict=True))
        of, near, scores = np.append(left, right), np.append(right, left), np.append(scores, scores)
        order = np.lexsort((near, -scores, of))
        of, near, scores = of[order], near[order], scores[order]
        is_unclear = self._counts >= self._limit
        is_unclear[of[np.abs(scores - self._least) < _UNCLEAR]] = True
        is_close = (of[1:] == of[:-1]) & (scores[:-1] - scores[1:] < _UNCLEAR)
        is_unclear[of[1:][is_close]] = True
        return of, near, scores, is_unclear

    def _is_crowded(self, places: Places) -> NDArray[np.bool_]:
        crowded: NDArray[np.bool_] = self._counts[places] >= self._limit
        return crowded

    @staticmethod
    def _scores(ones: Floats, others: Floats) -> NDArray[np.float64]:
        first, second = ones.astype(np.float64), others.astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second))
        cosines: NDArray[np.float64] = np.einsum("ij,ij->i", first, second) / lengths
        return cosines
