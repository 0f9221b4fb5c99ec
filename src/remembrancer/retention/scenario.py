"""What the simulator plays: lessons with a known true effect, how they are served, and how runs are scored."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import Field

from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.records.base import Request
from remembrancer.records.fact import MAX_INTEGER
from remembrancer.records.key import NonEmptyKey
from remembrancer.records.number import is_finite
from remembrancer.retention.decision import Decision

LARGEST_SEED = 2**53
"""Seeds are integers of at most this size, which any language reads exactly."""


class SimulatedLesson(Request):
    """A lesson whose true effect is known.

    Attributes:
        id: Any text; among lessons that arrive together, lower ones go first.
        true_effect: What it adds to the score of every run that it is in.
        arrives_at_run: The run before which it is stored, from 1 on; beyond the last run it never arrives.
    """

    id: NonEmptyKey
    true_effect: float = Field(allow_inf_nan=False)
    arrives_at_run: int = Field(default=1, ge=1, le=MAX_INTEGER)


class LessonServing(Request):
    """How lessons are served to runs, as by `retrieve_gated_lessons`.

    Attributes:
        max_facts: The most lessons a run gets.
        candidate_slots: The most of them that are on trial.
        rest_after_trials: A candidate with so many trials rests, so that there are runs without it to compare with.
        holdout: With this probability a candidate whose turn it is is withheld from a run; 0: never.
    """

    max_facts: int = Field(default=10, ge=0, le=MAX_INTEGER)
    candidate_slots: int = Field(default=2, ge=0, le=MAX_INTEGER)
    rest_after_trials: int | None = Field(default=None, ge=0, le=MAX_INTEGER)
    holdout: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False)


@dataclass(frozen=True)
class Scenario:
    """One lesson, there from the first run on, and all that its life depends on but chance."""

    effect: float
    runs: int
    noise_sd: float
    base_score: float
    retrieval: LessonServing
    policy: RetentionPolicy
    gate_every: int


@dataclass(frozen=True)
class FirstDecision:
    """The first verdict on a lesson that was not to hold it.

    Attributes:
        outcome: `held` when there was none.
        reason: Why it was evicted.
        decided_at_run: After which run; `None` while held.
    """

    outcome: Decision = "held"
    reason: str | None = None
    decided_at_run: int | None = None


def simulated_score(base_score: float, effects: Iterable[float], noise: float) -> float:
    """The score of a run: the base and the effects of what it was given, one after the other, then noise; 0 to 1."""
    total = base_score
    for effect in effects:
        total += effect
    return min(1.0, max(0.0, total + noise))


def holdout_seed(seed: int) -> int:
    """The seed of the stream that withholds, so that it does not take numbers from the one that scores."""
    return (seed ^ 0x9E3779B9) & 0xFFFFFFFF


R = TypeVar("R", bound=Request)


def checked_request(value: object, kind: type[R], *, field: str) -> R:
    """The request, or one with the defaults for `None`.

    Raises:
        InvalidInputError: Something else; names `field`.
    """
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise InvalidInputError(field, f"expected a {kind.__name__}, got {type(value).__name__}")
    return value


def checked_number(value: object, *, field: str, least: float = -math.inf) -> float:
    """A finite number that is not below `least`.

    Raises:
        InvalidInputError: Anything else; names `field`.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInputError(field, f"expected a number, got {type(value).__name__}")
    if not is_finite(value):
        raise InvalidInputError(field, f"must be a finite number, got {value}")
    if value < least:
        raise InvalidInputError(field, f"must be at least {least:g}, got {value}")
    return float(value)
