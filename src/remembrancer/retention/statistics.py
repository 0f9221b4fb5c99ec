"""The statistics behind the retention gate, and the random source of its simulator.

Pure functions of the standard library. Probabilities are good to 1e-9; `normal_quantile` is exactly the rational
approximation that it names, since the number of trials it leads to is compared, and `mulberry32` is exact to the bit,
so that a simulation can be repeated anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from remembrancer.records import InvalidInputError
from remembrancer.records.number import is_finite

RandomSource = Callable[[], float]
"""Gives the next number of a stream, 0 included to 1 excluded."""

LARGE_DF = 1e4
"""From here on Student's t is taken by its expansion around the normal distribution."""

_MOST_STEPS = 200
_RELATIVE_STOP = 3e-12
_TINY = 1e-300


@dataclass(frozen=True)
class Lift:
    """By how much the mean of group a lies above that of group b, by Welch's test.

    Attributes:
        lift: Difference of the means.
        se: Its standard error.
        df: Degrees of freedom, fractional; infinity when both variances are 0.
        p_exceeds: Probability that the true difference is above the margin, 0 to 1.
    """

    lift: float
    se: float
    df: float
    p_exceeds: float


def log_gamma(x: float) -> float:
    """Natural logarithm of the gamma function.

    Raises:
        InvalidInputError: `x` is not above 0.
    """
    if x <= 0:
        raise InvalidInputError("x", f"must be above 0, got {x}")
    return math.lgamma(x)


def regularized_incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b), 0 for `x` up to 0 and 1 from `x` = 1 on.

    By its continued fraction, evaluated with Lentz's method as modified by Thompson and Barnett (1986), on the side of
    the mean where it converges fast.

    Raises:
        InvalidInputError: `a` or `b` is not above 0.
    """
    for name, value in (("a", a), ("b", b)):
        if value <= 0:
            raise InvalidInputError(name, f"must be above 0, got {value}")
    return _incomplete_beta(a, b, x, 1 - x)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    # `rest` is 1 - x, by itself: near 1 the subtraction would lose what matters.
    if x <= 0:
        return 0.0
    if rest <= 0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    front = math.exp(log_front)
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, rest) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    c = 1.0
    d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _MOST_STEPS + 1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _not_zero(1 + even * d)
        c = _not_zero(1 + even / c)
        fraction *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _not_zero(1 + odd * d)
        c = _not_zero(1 + odd / c)
        step = d * c
        fraction *= step
        if abs(step - 1) < _RELATIVE_STOP:
            break
    return fraction


def _not_zero(value: float) -> float:
    return _TINY if abs(value) < _TINY else value


def normal_cdf(z: float) -> float:
    """Probability that a standard normal is at most `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def student_t_cdf(t: float, df: float) -> float:
    """Probability that Student's t is at most `t`; NaN for NaN.

    Args:
        t: Any number; at infinity the answer does not depend on `df`.
        df: Degrees of freedom, above 0, fractional or infinite (then it is the normal distribution).

    Raises:
        InvalidInputError: `df` is not above 0.
    """
    if math.isinf(t):
        return 1.0 if t > 0 else 0.0
    if df <= 0:
        raise InvalidInputError("df", f"must be above 0, got {df}")
    if math.isnan(t) or math.isnan(df):
        return math.nan
    if t == 0:
        return 0.5
    if df >= LARGE_DF:
        return _nearly_normal_cdf(t, df)
    square = t * t
    tail = _incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square)) / 2
    return 1 - tail if t > 0 else tail


def _nearly_normal_cdf(t: float, df: float) -> float:
    # Fisher's expansion (Metron 5, 1925) to 1/df^2; what is left out is below 1e-11 here. The incomplete beta function
    # would lose digits in the difference of its gamma functions. Far out the exponential is 0 and the powers are not.
    if abs(t) > 38:
        return 1.0 if t > 0 else 0.0
    square = t * t
    density = math.exp(-square / 2) / math.sqrt(2 * math.pi)
    first = t * (square + 1) / 4
    second = t * (((3 * square - 7) * square - 5) * square - 3) / 96
    return normal_cdf(t) - density * (first + second / df) / df


def welch_lift(
    mean_a: float, var_a: float, n_a: int, mean_b: float, var_b: float, n_b: int, margin: float = 0.0
) -> Lift:
    """Compare two means whose groups may differ in size and variance (Welch, Biometrika 34, 1947).

    Args:
        mean_a: Mean of the group that is looked at.
        var_a: Its sample variance, at least 0.
        n_a: Its size, at least 2.
        mean_b: Mean of the group that it is compared with.
        var_b: Likewise.
        n_b: Likewise.
        margin: What the difference must exceed.

    Raises:
        InvalidInputError: A group of fewer than 2, or a negative variance.
    """
    for name, size in (("n_a", n_a), ("n_b", n_b)):
        if size < 2:
            raise InvalidInputError(name, f"must be at least 2, got {size}")
    for name, variance in (("var_a", var_a), ("var_b", var_b)):
        if not variance >= 0:
            raise InvalidInputError(name, f"must be at least 0, got {variance}")
    lift = mean_a - mean_b
    a, b = var_a / n_a, var_b / n_b
    se = math.sqrt(a + b)
    if se == 0:
        return Lift(lift, 0.0, math.inf, 1.0 if lift > margin else 0.0)
    # Divided by the sum first: the squares of tiny variances would vanish.
    share_a, share_b = a / (a + b), b / (a + b)
    df = 1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1))
    return Lift(lift, se, df, 1 - student_t_cdf((margin - lift) / se, df))


def benjamini_hochberg(p_values: Sequence[float], q: float) -> list[bool]:
    """Which of several tests count when the rate of false discoveries may be `q`, in the order given.

    Benjamini and Hochberg (J. R. Stat. Soc. B 57, 1995): with p ascending, equal ones in their order, all up to the
    last rank r of k with p <= (r / k) * q.
    """
    ranked = sorted(range(len(p_values)), key=lambda place: (p_values[place], place))
    last = 0
    for rank, place in enumerate(ranked, start=1):
        if p_values[place] <= (rank / len(ranked)) * q:
            last = rank
    found = set(ranked[:last])
    return [place in found for place in range(len(p_values))]


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


_BREAK = 0.02425
_CENTRE_ABOVE = (
    -3.969683028665376e01,
    2.209460984245205e02,
    -2.759285104469687e02,
    1.383577518672690e02,
    -3.066479806614716e01,
    2.506628277459239e00,
)
_CENTRE_BELOW = (
    -5.447609879822406e01,
    1.615858368580409e02,
    -1.556989798598866e02,
    6.680131188771972e01,
    -1.328068155288572e01,
    1.0,
)
_TAIL_ABOVE = (
    -7.784894002430293e-03,
    -3.223964580411365e-01,
    -2.400758277161838e00,
    -2.549732539343734e00,
    4.374664141464968e00,
    2.938163982698783e00,
)
_TAIL_BELOW = (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00, 3.754408661907416e00, 1.0)


def normal_quantile(p: float) -> float:
    """Where a standard normal is below with probability `p`, by P. J. Acklam's rational approximation (2003).

    Its relative error is near 1e-9, and is left unrefined on purpose.

    Raises:
        InvalidInputError: `p` is not between 0 and 1, both excluded.
    """
    if not 0 < p < 1:
        raise InvalidInputError("p", f"must be between 0 and 1, got {p}")
    if p < _BREAK:
        q = math.sqrt(-2 * math.log(p))
        return _polynomial(_TAIL_ABOVE, q) / _polynomial(_TAIL_BELOW, q)
    if p > 1 - _BREAK:
        q = math.sqrt(-2 * math.log(1 - p))
        return -_polynomial(_TAIL_ABOVE, q) / _polynomial(_TAIL_BELOW, q)
    q = p - 0.5
    square = q * q
    return _polynomial(_CENTRE_ABOVE, square) * q / _polynomial(_CENTRE_BELOW, square)


def required_trials(effect: float, sd: float, *, confidence: float = 0.9, power: float = 0.8) -> int:
    """How many runs with a lesson, and as many without, show a true effect.

    The normal approximation for two groups of equal size. Take `effect` above the margin of the policy: a lift of 0.2
    under a margin of 0.05 has to show 0.15.

    Args:
        effect: Difference of mean scores to be shown, above 0.
        sd: Standard deviation of scores that have the same cause, above 0.
        confidence: Of the decision, between 0 and 1.
        power: Probability that the effect is found, between 0 and 1.

    Raises:
        InvalidInputError: A value outside its bounds.
    """
    for name, value in (("effect", effect), ("sd", sd)):
        if not 0 < value < math.inf:
            raise InvalidInputError(name, f"must be a finite number above 0, got {value}")
    for name, value in (("confidence", confidence), ("power", power)):
        if not 0 < value < 1:
            raise InvalidInputError(name, f"must be between 0 and 1, got {value}")
    ratio = (normal_quantile(confidence) + normal_quantile(power)) * sd / effect
    trials = 2 * (ratio * ratio)
    if not math.isfinite(trials):
        raise InvalidInputError("effect", f"{effect} is too small beside a standard deviation of {sd}")
    return math.ceil(trials)


_WORD = 0xFFFFFFFF
_STRIDE = 0x6D2B79F5


def mulberry32(seed: float) -> RandomSource:
    """A stream of uniform numbers in [0, 1), multiples of 2**-32, the same for a seed everywhere (T. Ettinger, 2017).

    Args:
        seed: Taken modulo 2**32, a fraction cut off.

    Raises:
        InvalidInputError: NaN or infinity.
    """
    if not is_finite(seed):
        raise InvalidInputError("seed", f"expected a finite number, got {seed}")
    state = int(seed) & _WORD

    def draw() -> float:
        nonlocal state
        state = (state + _STRIDE) & _WORD
        t = ((state ^ (state >> 15)) * (state | 1)) & _WORD
        t ^= (t + ((t ^ (t >> 7)) * (t | 61))) & _WORD
        return (t ^ (t >> 14)) / 2**32

    return draw


def gaussian(draw: RandomSource) -> float:
    """A standard normal from two uniform draws (Box and Muller, 1958); zeros are passed over for the first of them."""
    u = draw()
    while u == 0:
        u = draw()
    v = draw()
    return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
