"""Passes of the retention gate: what it ruled on each candidate, when, by which policy and on what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from remembrancer.records.base import Listed, Record
from remembrancer.records.fact import MAX_INTEGER, QUARANTINE_TAG
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, NonEmptyKey, without_repeats
from remembrancer.records.outcome import RetentionPolicy

GateVerdict = Literal["promoted", "evicted", "held"]

NOT_ON_TRIAL = "no longer on trial: decided, closed, quarantined, untagged or removed since the gate looked"
"""Why a receipt refuses a verdict."""

_EvidenceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,99}$")]


class GateDecision(Record):
    """What a pass ruled on one candidate.

    Attributes:
        reason: Why it is evicted, for example `eval-gate:harmful`; becomes the fact's `invalidated_by`. Absent with the
            other verdicts.
        trials: Scored runs that the fact had been in.
        evidence: The numbers behind the verdict, by name; infinite ones may be among them. Empty: none were reported.
    """

    fact_id: Id
    verdict: GateVerdict
    reason: NonEmptyKey | None = None
    trials: int = Field(ge=0, le=MAX_INTEGER)
    evidence: dict[_EvidenceName, bool | int | float | str] = {}

    @model_validator(mode="after")
    def _a_reason_for_evictions_alone(self) -> GateDecision:
        if (self.verdict == "evicted") != (self.reason is not None):
            raise ValueError("an eviction has a reason, and no other verdict has one")
        return self


class GatePass(Record):
    """One pass of the gate over all candidates.

    Attributes:
        decided_at: Filled with now when written.
        decisions: In the order of the candidates, each fact once.
    """

    id: Id
    policy: RetentionPolicy
    decisions: Listed[GateDecision]
    decided_at: Instant | None = None

    @field_validator("decisions")
    @classmethod
    def _each_fact_once(cls, value: Sequence[GateDecision]) -> Sequence[GateDecision]:
        if len({decision.fact_id for decision in value}) != len(value):
            raise ValueError("a pass rules once on each fact")
        return value

    def is_on_trial(self, tags: Sequence[str]) -> bool:
        """Whether a live fact with these tags is a candidate under the policy of this pass."""
        return self.policy.candidate_tag in tags and QUARANTINE_TAG not in tags

    def promoted(self, tags: Sequence[str]) -> tuple[str, ...]:
        """The tags of a candidate once it is promoted."""
        kept = [tag for tag in tags if tag != self.policy.candidate_tag]
        return without_repeats([*kept, self.policy.verified_tag])
