"""Evidence that may be looked at after every run: e-processes for the difference of two means of scores in [0, 1].

Let x be the scores of the runs with a fact and y those of the runs without it. For every constant a, with D the
greater of a and `LEAST_UNIT`, and every stake s in (0, 1), the product of 1 + s u with u = (x - a) / D over the runs so
far is a nonnegative supermartingale from 1 as long as the mean of x, given all that came before, is at most a: a bet
against "the mean is at most a" can only lose (Waudby-Smith and Ramdas, *Estimating means of bounded random variables by
betting*, J. R. Stat. Soc. B 86, 2024). As u >= -1, log(1 + s u) is at least the quadratic that meets it at -1 and
touches it at some v >= 0: the difference is a third derivative, which is positive, times (u + 1) (u - v)^2 / 6. With
v = 0 that is the inequality of Fan, Grama and Liu (*Exponential inequalities for martingales with applications*,
Electron. J. Probab. 20, 2015). The sum of such quadratics needs nothing but number, mean and variance of the scores, in
whatever order they came. A mixture over (s, v) is bounded alike (Robbins, Ann. Math. Stat. 41, 1970; Howard, Ramdas,
McAuliffe and Sekhon, *Time-uniform, nonparametric, nonasymptotic confidence sequences*, Ann. Stat. 49, 2021).

Mirrored, 1 - y bets against "the mean of y is at least b". Each run is in one of the two groups, which was settled
before its score was known: so the product of both is a supermartingale too, and the least product over all (a, b) with
a - b <= margin is evidence against "the lift is at most the margin". Under that, it is ever above 1 / alpha with
probability at most alpha (Ville, 1939).

What is assumed: scores lie in [0, 1], and, given the past, a run without the fact has a mean of at least b and one with
it of at most b + margin, for some constant b. Nothing is assumed of the distribution or its variance.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Scores: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]

CELLS = 100
"""Into so many equal cells the unknown mean b is cut; within a cell its end that favours the null is taken, so that the
bound holds exactly. A margin is in effect up to 1 / CELLS larger."""

LEAST_UNIT = 0.25
"""Scores are measured in units of the mean that is bet against, but not of less than this."""

_STAKES: Floats = np.array([0.05, 0.12, 0.3, 0.55, 0.9])
_TOUCHED: Floats = np.array([0.0, 0.0, 0.0, 0.05, 0.25])
"""Small stakes find small lifts in many runs, large ones large lifts in few."""

_AT_TOUCH: Floats = 1 + _STAKES * _TOUCHED
_SQUARE: Floats = (np.log1p(-_STAKES) - np.log(_AT_TOUCH) + _STAKES * (1 + _TOUCHED) / _AT_TOUCH) / (1 + _TOUCHED) ** 2
_LINEAR: Floats = _STAKES / _AT_TOUCH - 2 * _SQUARE * _TOUCHED
_CONSTANT: Floats = np.log(_AT_TOUCH) - _STAKES * _TOUCHED / _AT_TOUCH + _SQUARE * _TOUCHED**2
_LOG_SHARE = float(np.log(len(_STAKES)))


def log_evidence_of_lift(
    n_a: npt.ArrayLike,
    mean_a: npt.ArrayLike,
    var_a: npt.ArrayLike,
    n_b: npt.ArrayLike,
    mean_b: npt.ArrayLike,
    var_b: npt.ArrayLike,
    *,
    margin: float,
) -> Floats:
    """Logarithm of the evidence that the mean of a is more than `margin` above that of b.

    For numbers or for arrays of one shape; the answer has that shape. exp(-evidence), at most 1, is a p-value that
    stays valid however often one looks.

    Args:
        n_a: Number of scores in a, at least 1.
        mean_a: Their mean, 0 to 1.
        var_a: Their sample variance, at least 0.
        n_b: Likewise.
        mean_b: Likewise.
        var_b: Likewise.
        margin: At least -1.
    """
    return _least_product((n_a, mean_a, var_a), (n_b, mean_b, var_b), margin, range(CELLS))


def most_log_evidence_of_lift(
    n_a: npt.ArrayLike,
    mean_a: npt.ArrayLike,
    var_a: npt.ArrayLike,
    n_b: npt.ArrayLike,
    mean_b: npt.ArrayLike,
    var_b: npt.ArrayLike,
    *,
    margin: float,
) -> Floats:
    """A number that the evidence of lift is not above, at a twelfth of the price."""
    return _least_product((n_a, mean_a, var_a), (n_b, mean_b, var_b), margin, range(4, CELLS, 12))


def log_evidence_of_loss(
    n_a: npt.ArrayLike,
    mean_a: npt.ArrayLike,
    var_a: npt.ArrayLike,
    n_b: npt.ArrayLike,
    mean_b: npt.ArrayLike,
    var_b: npt.ArrayLike,
    *,
    margin: float,
) -> Floats:
    """Logarithm of the evidence that the mean of a is more than `margin` below that of b."""
    return log_evidence_of_lift(n_b, mean_b, var_b, n_a, mean_a, var_a, margin=margin)


def _least_product(a: Scores, b: Scores, margin: float, cells: range) -> Floats:
    floors = np.array(cells) / CELLS
    above = _log_bet(*a, ceiling=(np.array(cells) + 1) / CELLS + margin)
    # A floor of y is a ceiling of 1 - y, which has the same variance.
    below = _log_bet(b[0], 1 - np.asarray(b[1], dtype=float), b[2], ceiling=1 - floors)
    least: Floats = (above + below).min(axis=-1)
    return least


def _log_bet(n: Any, mean: Any, variance: Any, *, ceiling: Floats) -> Floats:
    """Logarithm of the bet against "the mean is at most the ceiling", for every ceiling along a new last axis."""
    runs = np.asarray(n, dtype=float)[..., None]
    unit = np.maximum(ceiling, LEAST_UNIT)
    above = (np.asarray(mean, dtype=float)[..., None] - ceiling) / unit
    squares = runs * above * above + (runs - 1) * np.asarray(variance, dtype=float)[..., None] / (unit * unit)
    bets = runs[..., None] * _CONSTANT + (runs * above)[..., None] * _LINEAR + squares[..., None] * _SQUARE
    highest = bets.max(axis=-1)
    mixed = highest + np.log(np.exp(bets - highest[..., None]).sum(axis=-1)) - _LOG_SHARE
    # No mean is above 1: against such a ceiling nothing is staked, and 1 stays 1.
    return np.where(ceiling < 1, mixed, 0.0)
