"""Many vectors at once, compared by exactly the cosine that `remembrancer.records.cosine` gives.

A matrix product finds what may be near: quick, but its additions come in another order. What lies within a margin of
the answer is then computed again in the order of the definition, so that thresholds and ties fall as defined.

Each vector has a slot, numbered in the order of arrival; a slot is never given to another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# Two ways of adding up n products differ by less than n * 2**-52, far below this at any length a vector may have.
_MARGIN = 1e-9
_ROWS_AT_ONCE = 256
_ABSENT = -1


class Pick(NamedTuple):
    """A slot that was picked, and its cosine."""

    slot: int
    cosine: float


class Rule(Protocol):
    """Which of some cosines is picked; of equals always the first."""

    def plausible(self, screened: Floats) -> Integers:
        """Where the pick may be, going by nearly exact cosines."""
        ...

    def pick(self, cosines: Floats) -> int | None:
        """Where the pick is, going by exact ones."""
        ...


class Greatest:
    """The greatest cosine, if above -1."""

    def plausible(self, screened: Floats) -> Integers:
        """As `Rule.plausible`."""
        return np.flatnonzero(screened >= max(screened.max(initial=-math.inf), -1.0) - _MARGIN)

    def pick(self, cosines: Floats) -> int | None:
        """As `Rule.pick`."""
        if not cosines.size:
            return None
        place = int(cosines.argmax())
        return place if cosines[place] > -1 else None


@dataclass(frozen=True)
class FirstAtLeast:
    """The first cosine that reaches a threshold."""

    threshold: float

    def plausible(self, screened: Floats) -> Integers:
        """As `Rule.plausible`."""
        return np.flatnonzero((screened >= self.threshold - _MARGIN) & (screened > -math.inf))

    def pick(self, cosines: Floats) -> int | None:
        """As `Rule.pick`."""
        places = np.flatnonzero((cosines >= self.threshold) & (cosines > -math.inf))
        return int(places[0]) if places.size else None


class Directions:
    """Vectors by slot. What is absent is never picked; without direction, or of another length, the cosine is 0."""

    def __init__(self, vectors: Iterable[Sequence[float] | None] = ()) -> None:
        """Begin with some vectors, in slots from 0 on."""
        self._size = 0
        # Scaled by the largest component, filled up with zeros to one width; and the lengths that they have then.
        self._scaled = np.zeros((8, 0))
        self._norms = np.ones(8)
        self._dimensions = np.full(8, _ABSENT)
        for vector in vectors:
            self.append(vector)

    def append(self, vector: Sequence[float] | None) -> None:
        """Give a vector the next slot; `None` takes a slot too."""
        if self._size == len(self._norms):
            self._scaled = np.concatenate([self._scaled, np.zeros_like(self._scaled)])
            self._norms = np.concatenate([self._norms, np.ones_like(self._norms)])
            self._dimensions = np.concatenate([self._dimensions, np.full_like(self._dimensions, _ABSENT)])
        self._size += 1
        self.replace(self._size - 1, vector)

    def replace(self, slot: int, vector: Sequence[float] | None) -> None:
        """Put another vector into a slot; `None` empties it."""
        self._dimensions[slot] = _ABSENT
        if vector is None:
            return
        scaled, norm = _directed(vector)
        missing = len(scaled) - self._scaled.shape[1]
        if missing > 0:
            self._scaled = np.pad(self._scaled, ((0, 0), (0, missing)))
        self._scaled[slot] = 0
        self._scaled[slot, : len(scaled)] = scaled
        self._norms[slot] = norm
        self._dimensions[slot] = len(scaled)

    def pick(self, vector: Sequence[float], rule: Rule) -> Pick | None:
        """The slot that a rule picks by its cosine with a vector."""
        scaled, norm = _directed(vector)
        dimensions = len(scaled)
        scaled = np.pad(scaled, (0, max(0, self._scaled.shape[1] - dimensions)))[: self._scaled.shape[1]]
        screened = self._screened(scaled[None], np.array([norm]), np.array([dimensions]))[0]
        return self._pick(scaled, norm, dimensions, screened, rule, after=-1)

    def pick_after(self, slot: int, rule: Rule) -> Pick | None:
        """The slot beyond this one that a rule picks by its cosine with the vector in this one."""
        return next(self._picks(slot, slot + 1, rule))

    def pick_after_each(self, rule: Rule) -> list[Pick | None]:
        """`pick_after` of every slot."""
        picks: list[Pick | None] = []
        for begin in range(0, self._size, _ROWS_AT_ONCE):
            picks.extend(self._picks(begin, min(begin + _ROWS_AT_ONCE, self._size), rule))
        return picks

    def cosines(self, slot: int) -> Floats:
        """The exact cosines of the vector in a slot with those in all slots; minus infinity with absent ones."""
        every = np.arange(self._size)
        exact = self._exact(self._scaled[slot], self._norms[slot], self._dimensions[slot], every)
        return np.where(self._dimensions[: self._size] == _ABSENT, -math.inf, exact)

    def _picks(self, begin: int, end: int, rule: Rule) -> Iterator[Pick | None]:
        scaled, norms, dimensions = self._scaled[begin:end], self._norms[begin:end], self._dimensions[begin:end]
        screened = self._screened(scaled, norms, dimensions)
        for row, slot in enumerate(range(begin, end)):
            if dimensions[row] == _ABSENT:
                yield None
            else:
                yield self._pick(scaled[row], norms[row], dimensions[row], screened[row], rule, after=slot)

    def _pick(
        self, scaled: Floats, norm: float, dimensions: int, screened: Floats, rule: Rule, *, after: int
    ) -> Pick | None:
        slots = rule.plausible(screened[after + 1 :]) + after + 1
        cosines = self._exact(scaled, norm, dimensions, slots)
        place = rule.pick(cosines)
        return None if place is None else Pick(int(slots[place]), float(cosines[place]))

    def _screened(self, scaled: Floats, norms: Floats, dimensions: Integers) -> Floats:
        size = self._size
        nearly = scaled @ self._scaled[:size].T / (norms[:, None] * self._norms[:size])
        nearly[dimensions[:, None] != self._dimensions[:size]] = 0
        nearly[:, self._dimensions[:size] == _ABSENT] = -math.inf
        return nearly

    def _exact(self, scaled: Floats, norm: float, dimensions: int, slots: Integers) -> Floats:
        cosines = np.zeros(len(slots))
        alike = np.flatnonzero(self._dimensions[slots] == dimensions)
        if dimensions and alike.size:
            dots = np.add.accumulate(self._scaled[slots[alike]] * scaled, axis=1)[:, -1]
            cosines[alike] = dots / (norm * self._norms[slots[alike]])
        return cosines


def _directed(vector: Sequence[float]) -> tuple[Floats, float]:
    """The vector scaled by its largest component, and the length that it has then; both empty without direction."""
    values = np.asarray(vector, dtype=np.float64)
    scale = np.abs(values).max(initial=0)
    if scale == 0:
        return np.zeros(0), 1.0
    scaled = values / scale
    return scaled, math.sqrt(np.add.accumulate(scaled * scaled)[-1])
