"""Which of many vectors lie near one another: a block screened against a block, by products of matrices.

The products are in single precision, of a part of the coordinates, and only choose; what they choose is compared in
full, in double precision. The index of the database scores in single precision, so where two scores are so close that
it could order them the other way, and for a vector with very many near ones, only that is told: what is kept grows with
the vectors and not with the pairs.
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
_SHARES = (1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2)  # of the coordinates, tried as a screen
_SAMPLE = 512  # vectors, of which more would tell little more
_IN_VAIN = 1e-3  # of the pairs: comparing so many one by one takes less than a screen saves


@dataclass(frozen=True)
class Block:
    """Some vectors, each of length 1, which they are (ascending numbers), and their form cut by a `Screen`."""

    places: Places
    units: Floats
    cut: Floats

    def portions(self) -> Iterator[Block]:
        """The block in parts small enough for one product."""
        for start in range(0, len(self.places), _ROWS):
            part = slice(start, start + _ROWS)
            yield Block(self.places[part], self.units[part], self.cut[part])


class Screen:
    """Tells of most pairs of vectors that they are not near, from the coordinates along a few axes.

    What the rest of the coordinates can add to the product of two vectors is at most the product of the lengths of
    these rests (Cauchy and Schwarz), so a vector cut to its first coordinates and the length of its rest gives products
    that are never too small. The axes are those along which the vectors vary most, the principal components of a
    sample, and as many as it takes to let few of the sample's pairs through; all, where that would take more than half.
    """

    def __init__(self, sample: Floats, *, least: float) -> None:
        some = sample[:_SAMPLE]
        near = some @ some.T >= least - _ROUNDING
        *_, axes = np.linalg.svd(some, full_matrices=False)  # the longest first
        self._axes: Floats | None = None
        for share in _SHARES:
            self._axes = np.ascontiguousarray(axes[: max(1, int(share * some.shape[1]))].T)
            cut = self.cut(some)
            in_vain = (cut @ cut.T >= least - _ROUNDING) & ~near
            if np.count_nonzero(in_vain) <= _IN_VAIN * in_vain.size:
                return
        self._axes = None

    @property
    def is_partial(self) -> bool:
        """Whether it leaves coordinates out, so that a pair it lets through need not be near."""
        return self._axes is not None

    def cut(self, units: Floats) -> Floats:
        """Vectors of length 1 in the form whose products are at least those of the vectors."""
        if self._axes is None:
            return units
        first = units @ self._axes
        # A rest that rounding made too short could hide a near pair, one too long costs a comparison.
        rest = np.sqrt(np.maximum(1 - np.einsum("ij,ij->i", first, first), 0) + 1e-6)
        return np.column_stack([first, rest])


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
        self._screen: Screen | None = None

    def block(self, places: Sequence[int], vectors: Sequence[NDArray[Any]]) -> Block:
        """A block of vectors of one length, none of them zero; the first one also says how to screen."""
        rows = np.stack(vectors).astype(np.float32)
        rows /= np.abs(rows).max(axis=1, keepdims=True)  # squares of huge numbers overflow
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        if self._screen is None:
            self._screen = Screen(rows, least=self._least)
        return Block(np.asarray(places), rows, self._screen.cut(rows))

    def compare(self, one: Block, other: Block) -> None:
        """Compare the vectors of two blocks, or those of one block with each other if both are the same object."""
        for first in one.portions():
            for second in other.portions():
                if one is not other or first.places[0] <= second.places[0]:
                    self._compare(first, second, is_same=one is other and first.places[0] == second.places[0])

    def _compare(self, first: Block, second: Block, *, is_same: bool) -> None:
        may_be_near = first.cut @ second.cut.T >= self._least - _ROUNDING
        if is_same:
            may_be_near = np.triu(may_be_near, 1)
        rows, columns = np.divmod(np.flatnonzero(may_be_near), len(second.places))  # many times quicker than nonzero
        if self._screen is not None and self._screen.is_partial:
            rows, columns = self._near_ones(first.units, rows, second.units, columns)
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

    def _near_ones(self, ones: Floats, rows: Places, others: Floats, columns: Places) -> tuple[Places, Places]:
        """Those of some pairs, of a row of one matrix and one of another, that are near in all their coordinates."""
        passed = [np.zeros(0, bool)]
        for start in range(0, len(rows), _PAIRS):
            part = slice(start, start + _PAIRS)
            products = np.einsum("ij,ij->i", ones[rows[part]], others[columns[part]])
            passed.append(products >= self._least - _ROUNDING)
        near = np.concatenate(passed)
        return rows[near], columns[near]

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
