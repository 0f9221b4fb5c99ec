"""Lessons on trial, blocking: the twin of `remembrancer.memory.lessons`."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence

from remembrancer.ports import RecordedDecision, RecordedRun
from remembrancer.records import CANDIDATE_TAG, GateVerdict, RetentionPolicy
from remembrancer.retention import Lessons, RetentionReport
from remembrancer.retention.statistics import RandomSource
from remembrancer.sync.base import SyncMemoryBase


class SyncGatedLessons(SyncMemoryBase):
    """The methods of `SyncMemory` that keep only what helps."""

    def lessons(
        self,
        tags: Sequence[str],
        *,
        max_facts: int = 10,
        candidate_slots: int = 2,
        rest_after_trials: int | None = None,
        candidate_tag: str = CANDIDATE_TAG,
        holdout: float = 0.0,
        rng: RandomSource = random.random,
        run_id: str | None = None,
    ) -> Lessons:
        """Choose the lessons for a run, as `Memory.lessons`."""
        return self.run(
            self._memory.lessons,
            tags,
            max_facts=max_facts,
            candidate_slots=candidate_slots,
            rest_after_trials=rest_after_trials,
            candidate_tag=candidate_tag,
            holdout=holdout,
            rng=rng,
            run_id=run_id,
        )

    def record_outcome(
        self,
        run_id: str,
        score: float,
        *,
        fact_ids: Sequence[str] | None = None,
        holdout: Mapping[str, float] | None = None,
    ) -> RecordedRun:
        """Record how a run went, as `Memory.record_outcome`."""
        return self.run(self._memory.record_outcome, run_id, score, fact_ids=fact_ids, holdout=holdout)

    def gate(self, policy: RetentionPolicy | None = None, *, dry_run: bool = False) -> RetentionReport:
        """Rule on all facts on trial, as `Memory.gate`."""
        return self.run(self._memory.gate, policy, dry_run=dry_run)

    def gate_decisions(
        self,
        *,
        fact_id: str | None = None,
        verdict: GateVerdict | None = None,
        reason: str | None = None,
        since: dt.datetime | None = None,
        until: dt.datetime | None = None,
        limit: int = 100,
    ) -> list[RecordedDecision]:
        """What the gate has ruled so far, as `Memory.gate_decisions`."""
        return self.run(
            self._memory.gate_decisions,
            fact_id=fact_id,
            verdict=verdict,
            reason=reason,
            since=since,
            until=until,
            limit=limit,
        )
