"""Passes of the retention gate: what it ruled on each candidate, when, by which policy and on what evidence."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from remembrancer.records.base import Listed, Record
from remembrancer.records.fact import MAX_INTEGER
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, NonEmptyKey
from remembrancer.records.outcome import RetentionPolicy

GateVerdict = Literal["promoted", "evicted", "held"]

_EvidenceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,99}$")]


class GateDecision(Record):
    """What a pass ruled on one candidate.

    Attributes:
        reason: Why it was evicted, for example `eval-gate:harmful`; becomes the fact's `invalidated_by`.
        trials: Scored runs that the fact had been in.
        evidence: The numbers behind the verdict, by name; infinite ones may be among them. Empty: none were reported.
    """

    fact_id: Id
    verdict: GateVerdict
    reason: NonEmptyKey | None = None
    trials: int = Field(ge=0, le=MAX_INTEGER)
    evidence: dict[_EvidenceName, bool | int | float | str] = {}


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
