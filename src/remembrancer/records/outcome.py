"""Outcome evidence: what a scored run was given, and how it went; and the policy by which the gate rules on it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from remembrancer.records.base import Listed, Record, Request
from remembrancer.records.fact import CANDIDATE_TAG, MAX_INTEGER, VERIFIED_TAG
from remembrancer.records.instant import Instant
from remembrancer.records.key import Key, NonEmptyKey

Probability = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
"""A field that holds the probability of what may or may not happen."""


class RunOutcome(Record):
    """One scored run.

    Attributes:
        run_id: Recording the same run again replaces the first recording.
        score: 0 to 1.
        fact_ids: Facts that were injected; free texts, they need not be stored.
        holdout: Candidates that chance could have withheld from this run, and how probable that was for each: above 0
            and below 1. Those that `fact_ids` lists were served all the same; the others were withheld.
        recorded_at: Filled with now when recorded.
    """

    run_id: NonEmptyKey
    score: float = Field(ge=0, le=1, allow_inf_nan=False)
    fact_ids: Listed[Key] = ()
    holdout: dict[Key, Probability] = {}
    recorded_at: Instant | None = None

    @property
    def withheld(self) -> tuple[str, ...]:
        """Candidates that chance withheld from this run."""
        injected = set(self.fact_ids)
        return tuple(fact_id for fact_id in self.holdout if fact_id not in injected)


class RetentionPolicy(Request):
    """How the retention gate decides.

    Attributes:
        min_trials: Fewer trials than this: held.
        promote_margin: Lift over the baseline that must be exceeded to promote.
        evict_margin: Loss against the baseline that must be exceeded to evict.
        candidate_tag: Marks facts on trial.
        verified_tag: Marks facts that were promoted.
        max_trials: With this many trials and no verdict: evicted without lift. Not below `min_trials`.
        max_baseline_runs: The same for runs without the fact.
        decision_rule: `inference` (Welch's test), `margin` (point estimates) or `anytime` (e-processes: the error rate
            holds however often the gate looks, for any scores; needs no `sequential_control` and no `noise_floor_sd`).
        promote_confidence: 0.5 to 0.999.
        evict_confidence: 0.5 to 0.999.
        noise_floor_sd: Least standard deviation assumed of scores.
        multiple_comparison: `bh` (Benjamini-Hochberg) or `none`.
        sequential_control: What `inference` pays for looking again and again: `doubling` (once each time that the
            runs without the fact double), `looks` (at every look) or `none`.
        baseline: What a fact's runs are compared with. `all`: every run without it. `holdout`: of the runs in which
            chance could have withheld it, those in which it did; both sides weighted by the inverse of how probable
            they were, so that what differs between them is the fact alone.
    """

    min_trials: int = Field(default=3, ge=1, le=MAX_INTEGER)
    promote_margin: float = Field(default=0.05, ge=0, allow_inf_nan=False)
    evict_margin: float = Field(default=0.05, ge=0, allow_inf_nan=False)
    candidate_tag: NonEmptyKey = CANDIDATE_TAG
    verified_tag: NonEmptyKey = VERIFIED_TAG
    max_trials: int | None = Field(default=None, ge=1, le=MAX_INTEGER)
    max_baseline_runs: int | None = Field(default=None, ge=2, le=MAX_INTEGER)
    decision_rule: Literal["inference", "margin", "anytime"] = "inference"
    promote_confidence: float = Field(default=0.9, ge=0.5, le=0.999)
    evict_confidence: float = Field(default=0.9, ge=0.5, le=0.999)
    noise_floor_sd: float = Field(default=0.1, ge=0, allow_inf_nan=False)
    multiple_comparison: Literal["bh", "none"] = "bh"
    sequential_control: Literal["doubling", "looks", "none"] = "doubling"
    baseline: Literal["all", "holdout"] = "all"

    @field_validator("max_trials")
    @classmethod
    def _not_below_min_trials(cls, value: int | None, info: ValidationInfo) -> int | None:
        # A `min_trials` that failed its own check is missing here.
        least = info.data.get("min_trials")
        if value is not None and least is not None and value < least:
            raise ValueError(f"must not be below min_trials, which is {least}")
        return value
