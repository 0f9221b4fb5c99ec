"""Many values at once: the random source of the simulator, and tails of Student's t.

Equal to the scalar functions of `statistics` to 1e-9 and better; where a verdict hangs on less, those are asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from remembrancer.retention.statistics import LARGE_DF, gaussian, mulberry32, student_t_cdf

Floats: TypeAlias = npt.NDArray[np.float64]

_MOST_STEPS = 200
_RELATIVE_STOP = 3e-12
_TINY = 1e-300
_STRIDE = 0x6D2B79F5


def uniforms(seeds: Sequence[int], count: int) -> Floats:
    """The first numbers of `mulberry32` for each seed, one row a seed; exact.

    Its state after k draws is the seed plus k strides, so all draws are independent of each other to compute.
    """
    start = np.array([seed & 0xFFFFFFFF for seed in seeds], dtype=np.uint32)
    steps = np.arange(1, count + 1, dtype=np.uint32) * np.uint32(_STRIDE)
    state = start[:, None] + steps[None, :]
    mixed = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
    mixed ^= mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61))
    numbers: Floats = (mixed ^ (mixed >> np.uint32(14))) / 2.0**32
    return numbers


def gaussians(seeds: Sequence[int], count: int) -> Floats:
    """The first standard normals for each seed, one row a seed."""
    pairs = uniforms(seeds, 2 * count).reshape(len(seeds), count, 2)
    first, second = pairs[:, :, 0], pairs[:, :, 1]
    zero = first == 0
    normals: Floats = np.sqrt(-2 * np.log(np.where(zero, 1.0, first))) * np.cos(2 * math.pi * second)
    for row in np.flatnonzero(zero.any(axis=1)).tolist():
        # A draw that is passed over shifts all that follow.
        draw = mulberry32(seeds[row])
        normals[row] = [gaussian(draw) for _ in range(count)]
    return normals


def least_normal(p: float) -> float:
    """How large a standard normal at least is whose upper tail is at most `p`; Student's t has to be larger still."""
    return -NormalDist().inv_cdf(p) if p < 0.5 else 0.0


def student_upper_tail(t: Floats, df: Floats) -> Floats:
    """Probability that Student's t exceeds `t`, which is above 0."""
    tails = np.empty_like(t)
    plain = (df < LARGE_DF) & np.isfinite(t)
    for place in np.flatnonzero(~plain):
        tails[place] = student_t_cdf(-float(t[place]), float(df[place]))
    square = t[plain] * t[plain]
    degrees = df[plain]
    tails[plain] = _incomplete_beta_half(degrees / 2, degrees / (degrees + square), square / (degrees + square)) / 2
    return tails


def _incomplete_beta_half(a: Floats, x: Floats, rest: Floats) -> Floats:
    """I_x(a, 1/2), where `rest` is 1 - x."""
    b = 0.5
    # Degrees of freedom repeat, and the logarithm of the gamma function is not in numpy.
    distinct, places = np.unique(a, return_inverse=True)
    gammas = np.array([math.lgamma(one + b) - math.lgamma(one) - math.lgamma(b) for one in distinct])[places]
    front = np.exp(gammas + a * np.log(x) + b * np.log(rest))
    is_left = x < (a + 1) / (a + b + 2)
    first = np.where(is_left, a, b)
    second = np.where(is_left, b, a)
    part = front * _beta_fraction(first, second, np.where(is_left, x, rest)) / first
    return np.where(is_left, part, 1 - part)


def _beta_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    c = np.ones_like(x)
    d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _MOST_STEPS + 1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _not_zero(1 + even * d)
        c = _not_zero(1 + even / c)
        fraction = fraction * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _not_zero(1 + odd * d)
        c = _not_zero(1 + odd / c)
        step = d * c
        fraction = fraction * step
        if not (np.abs(step - 1) >= _RELATIVE_STOP).any():
            break
    return fraction


def _not_zero(values: Floats) -> Floats:
    return np.where(np.abs(values) < _TINY, _TINY, values)
