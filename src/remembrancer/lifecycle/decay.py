"""Decay: how much a fact still counts, from how often and how recently it was used.

score = max(uses, 1) * 2 ** (-age / half-life), the forgetting curve as exponential decay with a half-life, where age
runs from the last use, or from `valid_from` when that is later or there was no use. A fact that begins in the future
has a negative age and scores above its uses.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable

from remembrancer.records import Fact, InvalidInputError
from remembrancer.records.number import is_finite

DECAY_REASON = "consolidation:decay"
"""What closes a fact that was pruned since it had decayed most."""

_DAY = dt.timedelta(days=1)


def require_half_life(value: object) -> float:
    """Read the half-life, in days.

    Raises:
        InvalidInputError: Not a finite number above 0; names `decay_half_life_days`.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInputError("decay_half_life_days", f"expected a number, got {type(value).__name__}")
    if not (is_finite(value) and value > 0):
        raise InvalidInputError("decay_half_life_days", f"must be finite and above 0, got {value}")
    return float(value)


def decay_score(fact: Fact, *, now: dt.datetime, half_life_days: float) -> float:
    """How much a fact counts at an instant; 0 to infinity, both included at extreme ages.

    Args:
        fact: The fact, after merging.
        now: The instant.
        half_life_days: After how many days without use the score halves; above 0.
    """
    since = fact.valid_from
    if fact.last_accessed_at is not None and fact.last_accessed_at > since:
        since = fact.last_accessed_at
    age = (now - since) / _DAY
    try:
        freshness = math.pow(2.0, -age / half_life_days)
    except OverflowError:
        freshness = math.inf
    return max(fact.access_count or 1, 1) * freshness


def weakest(facts: Iterable[Fact], count: int, *, now: dt.datetime, half_life_days: float) -> list[str]:
    """Ids of the facts that count least, least first; of equals the one that comes first.

    Args:
        facts: In listing order.
        count: How many ids to give.
        now: As for `decay_score`.
        half_life_days: As for `decay_score`.
    """
    if count <= 0:
        return []
    ranked = sorted(facts, key=lambda fact: decay_score(fact, now=now, half_life_days=half_life_days))
    return [fact.id for fact in ranked[:count]]
