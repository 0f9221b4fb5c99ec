"""The outcome ledger in memory: a view of the runs and gate passes that lie with the records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from remembrancer.inmemory.graph import RecordGraph
from remembrancer.ports.arguments import key, keys
from remembrancer.ports.ledger import OutcomeLedger, RecordedDecision, RecordedRun
from remembrancer.ports.ledger_arguments import DecisionFilter, checked_outcomes, decision_filter
from remembrancer.ports.runs import Baseline, FactStats, RunScores
from remembrancer.records import Clock, GateDecision, GatePass, GateVerdict, RunOutcome
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_id, require_key


class InMemoryLedger(OutcomeLedger):
    """Runs of one namespace; made by the store, as `store.ledger`.

    Args:
        graph: The records that the runs are about.
        clock: Tells when a run was recorded.
    """

    def __init__(self, graph: RecordGraph, *, clock: Clock) -> None:
        self._graph = graph
        self._clock = clock

    async def record_outcomes(self, outcomes: Sequence[RunOutcome]) -> list[RecordedRun]:
        """Record runs in their order, each in place of its first recording if there is one."""
        checked = checked_outcomes(outcomes, now=require_instant(self._clock(), field="clock"))
        return [self._record(outcome) for outcome in checked]

    def _record(self, outcome: RunOutcome) -> RecordedRun:
        replaced = outcome.run_id in self._graph.runs
        self._graph.put_run(outcome)
        named = {*outcome.fact_ids, *outcome.holdout}
        unstored = sorted(fact_id for fact_id in named if fact_id not in self._graph.facts)
        return RecordedRun(outcome.run_id, replaced, tuple(unstored))

    async def get_outcome(self, run_id: str) -> RunOutcome | None:
        """A run as it was recorded last, or `None`."""
        found = self._graph.runs.get(require_key(run_id, field="run_id"))
        return found.model_copy(update={"holdout": dict(found.holdout)}) if found is not None else None

    async def get_fact_stats(self, fact_id: str) -> FactStats | None:
        """Statistics of one fact, or `None` when it was in no run."""
        return self._scores([key(fact_id, field="fact_id")]).stats(fact_id)

    async def get_fact_stats_batch(self, fact_ids: Sequence[str]) -> dict[str, FactStats]:
        """Statistics of those facts that were in a run."""
        scores = self._scores(keys(fact_ids, field="fact_ids"))
        return {fact_id: stats for fact_id in scores.injected if (stats := scores.stats(fact_id)) is not None}

    async def list_fact_stats(self) -> list[FactStats]:
        """Statistics of every fact that was in a run, by fact id."""
        every = {fact_id for run in self._graph.runs.values() for fact_id in run.fact_ids}
        found = await self.get_fact_stats_batch(sorted(every))
        return [found[fact_id] for fact_id in sorted(found)]

    async def get_baseline(self, *, exclude: str | None = None) -> Baseline:
        """All runs, or those that do not contain `exclude`."""
        if exclude is None:
            return self._scores([]).baseline()
        return (await self.get_baselines([key(exclude, field="exclude")]))[exclude]

    async def get_baselines(self, fact_ids: Sequence[str]) -> dict[str, Baseline]:
        """For each of these facts the runs that do not contain it."""
        wanted = keys(fact_ids, field="fact_ids")
        return self._scores(wanted).baselines(wanted)

    async def get_run_scores(self, fact_ids: Sequence[str]) -> RunScores:
        """The scores of all runs, and which of these facts each had."""
        return self._scores(keys(fact_ids, field="fact_ids"))

    async def decisions(
        self,
        *,
        fact_id: str | None = None,
        verdict: GateVerdict | None = None,
        reason: str | None = None,
        since: dt.datetime | None = None,
        until: dt.datetime | None = None,
        limit: int = 100,
    ) -> list[RecordedDecision]:
        """What passes of the gate have ruled, the latest pass first."""
        wanted = decision_filter(fact_id=fact_id, verdict=verdict, reason=reason, since=since, until=until, limit=limit)
        return [_recorded(one, decision) for one, decision in islice(self._decisions(wanted), wanted.limit)]

    def _decisions(self, wanted: DecisionFilter) -> Iterator[tuple[GatePass, GateDecision]]:
        numbered = enumerate(self._graph.gate_passes.values())
        latest_first = sorted(((_moment_of(one), place, one) for place, one in numbered), reverse=True)
        for at, _, one in latest_first:
            if (wanted.since is not None and at < wanted.since) or (wanted.until is not None and at >= wanted.until):
                continue
            for decision in one.decisions:
                if (
                    wanted.fact_id in (None, decision.fact_id)
                    and wanted.verdict in (None, decision.verdict)
                    and wanted.reason in (None, decision.reason)
                ):
                    yield one, decision

    async def get_gate_pass(self, pass_id: str) -> GatePass | None:
        """A whole pass of the gate, or `None`."""
        found = self._graph.gate_passes.get(require_id(pass_id, field="pass_id"))
        return found.model_copy(deep=True) if found is not None else None

    async def clear(self) -> None:
        """Forget all runs; what the gate has ruled stays."""
        self._graph.forget_runs()

    def _scores(self, fact_ids: Iterable[str]) -> RunScores:
        wanted = set(fact_ids)
        scores: list[float] = []
        injected: dict[str, list[int]] = {}
        drawn: dict[str, dict[int, float]] = {}
        for place, run in enumerate(self._graph.runs.values()):
            scores.append(run.score)
            for fact_id in wanted.intersection(run.fact_ids):
                injected.setdefault(fact_id, []).append(place)
            for fact_id in wanted.intersection(run.holdout):
                drawn.setdefault(fact_id, {})[place] = run.holdout[fact_id]
        return RunScores(tuple(scores), {fact_id: tuple(places) for fact_id, places in injected.items()}, drawn)


def _moment_of(one: GatePass) -> dt.datetime:
    assert one.decided_at is not None  # noqa: S101 - filled when it was written
    return one.decided_at


def _recorded(one: GatePass, decision: GateDecision) -> RecordedDecision:
    return RecordedDecision(
        pass_id=one.id,
        decided_at=_moment_of(one),
        fact_id=decision.fact_id,
        verdict=decision.verdict,
        reason=decision.reason,
        trials=decision.trials,
        evidence=dict(decision.evidence),
    )
