"""Lessons on trial: serving them, recording how runs with them went, and letting the gate rule."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence

from remembrancer.memory.serving import ServingMemory
from remembrancer.ports import OutcomeLedger, RecordedDecision, RecordedRun
from remembrancer.ports.serving import Serving, TracksRuns
from remembrancer.records import CANDIDATE_TAG, GateVerdict, InvalidInputError, RetentionPolicy, RunOutcome
from remembrancer.records.base import build
from remembrancer.records.key import require_key
from remembrancer.retention import Lessons, RetentionReport, evaluate_retention, retrieve_gated_lessons
from remembrancer.retention.statistics import RandomSource


class GatedLessons(ServingMemory):
    """The methods of `Memory` that keep only what helps."""

    async def lessons(
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
        """Choose the lessons for a run: verified ones, and a few on trial; see `retrieve_gated_lessons`.

        Args:
            tags: Facts with at least one of these; empty: all facts.
            max_facts: The most facts to serve, 0 or more.
            candidate_slots: The most of them that may be on trial, 0 or more.
            rest_after_trials: Candidates with so many trials are left out, 0 or more.
            candidate_tag: Marks facts on trial.
            holdout: With this probability, 0 to below 1, each candidate that would be served is withheld instead; hand
                the answer's `holdout` to `record_outcome`.
            rng: Draws for the holdout.
            run_id: The run that they are for; what is served and what was drawn are recorded, for `record_outcome`.

        Raises:
            InvalidInputError: An argument is wrong; names it.
        """
        register = self._register_for(run_id)
        lessons = await retrieve_gated_lessons(
            self.store,
            tags=tags,
            candidate_tag=candidate_tag,
            max_facts=max_facts,
            candidate_slots=candidate_slots,
            ledger=self.ledger,
            rest_after_trials=rest_after_trials,
            holdout=holdout,
            rng=rng,
        )
        await self._serve(register, run_id, lessons.fact_ids, holdout=lessons.holdout)
        for fact in lessons:
            self._echoes.remember(fact.content, fact_id=fact.id)
        return lessons

    async def record_outcome(
        self,
        run_id: str,
        score: float,
        *,
        fact_ids: Sequence[str] | None = None,
        holdout: Mapping[str, float] | None = None,
    ) -> RecordedRun:
        """Record how a run went, and which facts it had been given; the same run again replaces its first recording.

        Args:
            run_id: Any text of 1 to 1,000 bytes, one a run.
            score: 0 to 1.
            fact_ids: What the run was given; `None`: all that was served to it by `recall`, `lessons` and
                `memory_retriever` with its `run_id`, and what chance withheld.
            holdout: The `holdout` of the lessons that it was given; added to what was drawn by the register.

        Raises:
            InvalidInputError: An argument is wrong, or nothing is known of what was served to the run; names it.
                Nothing was recorded.
        """
        if holdout is not None and not isinstance(holdout, Mapping):
            raise InvalidInputError("holdout", f"expected a map of facts and chances, got {type(holdout).__name__}")
        if fact_ids is None:
            served = await self._known_serving(require_key(run_id, field="run_id"))
            fact_ids, holdout = served.fact_ids, {**served.holdout, **(holdout or {})}
        fields = {"run_id": run_id, "score": score, "fact_ids": fact_ids, "holdout": dict(holdout or {})}
        return await self._required_ledger().record_outcome(build(RunOutcome, **fields))

    async def gate(self, policy: RetentionPolicy | None = None, *, dry_run: bool = False) -> RetentionReport:
        """Rule on all facts on trial, apply the verdicts and record them; see `evaluate_retention`.

        Args:
            policy: How to decide; by default as `RetentionPolicy` says.
            dry_run: Only tell what would be decided.
        """
        return await evaluate_retention(self.store, self._required_ledger(), policy, dry_run=dry_run)

    async def gate_decisions(
        self,
        *,
        fact_id: str | None = None,
        verdict: GateVerdict | None = None,
        reason: str | None = None,
        since: dt.datetime | None = None,
        until: dt.datetime | None = None,
        limit: int = 100,
    ) -> list[RecordedDecision]:
        """What the gate has ruled so far, the latest pass first; see `OutcomeLedger.decisions`.

        Args:
            fact_id: Verdicts on this fact, stored or not.
            verdict: `promoted`, `evicted` or `held`.
            reason: Evictions for this reason.
            since: From this instant on, included.
            until: Up to this instant, excluded.
            limit: The most to return, 0 or more.

        Raises:
            InvalidInputError: An argument is wrong; names it.
        """
        return await self._required_ledger().decisions(
            fact_id=fact_id, verdict=verdict, reason=reason, since=since, until=until, limit=limit
        )

    async def _known_serving(self, run_id: str) -> RunOutcome | Serving:
        register = self.store if isinstance(self.store, TracksRuns) else None
        served = None if register is None else await register.get_serving(run_id)
        known = served or await self._required_ledger().get_outcome(run_id)
        if known is None:
            problem = f"nothing is known of what was served to run {run_id!r}: say it, an empty list for nothing"
            raise InvalidInputError("fact_ids", problem)
        return known

    def _required_ledger(self) -> OutcomeLedger:
        if self.ledger is None:
            raise InvalidInputError("ledger", "the store keeps none: hand one to Memory")
        return self.ledger
