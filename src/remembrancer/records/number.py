"""Numbers that others hand in."""

from __future__ import annotations

import math


def is_finite(value: float) -> bool:
    """Whether a number is finite as a float, which an integer with more than 308 digits is not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
