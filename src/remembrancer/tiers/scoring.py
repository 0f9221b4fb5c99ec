"""How hits of the tiers are scored: always 0 to 1, so that one list can hold them all.

The episodic blend of similarity and exponential recency follows Park et al., "Generative agents" (UIST 2023).
"""

from __future__ import annotations


def clamped(score: float) -> float:
    """The score within 0 and 1: a cosine may be negative, and rounding may carry it past 1."""
    return min(1.0, max(0.0, score))


def working_score(place: int, count: int) -> float:
    """Of the `place`-th newest, from 0, of `count` hits."""
    return 1 - place / count


def episodic_score(similarity: float, *, age_days: float, recency_weight: float, half_life_days: float) -> float:
    """Similarity blended with recency, which halves with every half-life.

    Args:
        similarity: The cosine.
        age_days: Since it was remembered last; what lies ahead counts as now.
        recency_weight: 0 to 1.
        half_life_days: Above 0.
    """
    recency = 0.5 ** (max(0.0, age_days) / half_life_days)
    return clamped((1 - recency_weight) * similarity + recency_weight * recency)


def procedural_score(similarity: float, *, uses: int, reinforcement_weight: float) -> float:
    """Similarity blended with how often it was remembered: `uses / (uses + 1)`.

    Args:
        similarity: The cosine.
        uses: How often it was remembered.
        reinforcement_weight: 0 to 1.
    """
    return clamped((1 - reinforcement_weight) * similarity + reinforcement_weight * uses / (uses + 1))
