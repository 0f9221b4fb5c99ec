"""The outcome ledger in Neo4j: `(:Run)-[:INJECTED]->(:Fact)`, and `(:GatePass)-[:DECIDED]->(:Fact)` to be read.

Passes of the gate are written by the store, in the transaction that applies their verdicts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.graph.values import with_positions
from remembrancer.ports.arguments import key, keys
from remembrancer.ports.ledger import OutcomeLedger, RecordedDecision, RecordedRun
from remembrancer.ports.ledger_arguments import checked_outcomes, decision_filter
from remembrancer.ports.runs import Baseline, FactStats, RunScores
from remembrancer.records import Clock, GateDecision, GatePass, GateVerdict, RetentionPolicy, RunOutcome
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_id, require_key, without_repeats

_RECORDED_AT_ONCE = 200
_CLEARED_AT_ONCE = 1_000
_EVIDENCE = "evidence_"


class Neo4jLedger(OutcomeLedger):
    """Runs of one namespace in a Neo4j database; made by the store, as `store.ledger`.

    Args:
        database: Where the runs live; its schema is up to date.
        namespace: Whose memory.
        clock: Tells when a run was recorded.
    """

    def __init__(self, database: Database, namespace: str, *, clock: Clock) -> None:
        self._database = database
        self._namespace = namespace
        self._clock = clock

    async def record_outcomes(self, outcomes: Sequence[RunOutcome]) -> list[RecordedRun]:
        """Record runs in their order, each in place of its first recording if there is one."""
        checked = checked_outcomes(outcomes, now=require_instant(self._clock(), field="clock"))
        recorded: list[RecordedRun] = []
        for start in range(0, len(checked), _RECORDED_AT_ONCE):
            recorded += await self._record(checked[start : start + _RECORDED_AT_ONCE])
        return recorded

    async def _record(self, outcomes: Sequence[RunOutcome]) -> list[RecordedRun]:
        last = {outcome.run_id: outcome for outcome in outcomes}  # a repeated run keeps its first place
        ids = sorted({fact_id for one in last.values() for fact_id in (*one.fact_ids, *one.holdout)})
        parameters = self._with_namespace(rows=[_run_row(one) for one in last.values()], ids=ids)

        async def work(transaction: Transaction) -> Row:
            return first(await transaction.run(queries.load("ledger.record"), parameters))

        row = await self._database.write(work)
        replaced, unstored = set(row["replaced"]), set(row["unstored"])
        recorded = []
        for outcome in outcomes:
            named = unstored.intersection((*outcome.fact_ids, *outcome.holdout))
            recorded.append(RecordedRun(outcome.run_id, outcome.run_id in replaced, tuple(sorted(named))))
            replaced.add(outcome.run_id)
        return recorded

    async def get_outcome(self, run_id: str) -> RunOutcome | None:
        """A run as it was recorded last, or `None`."""
        wanted = require_key(run_id, field="run_id")
        for row in await self._read("ledger.get", run_id=wanted):
            return RunOutcome.model_validate({**row, "run_id": wanted, "holdout": dict(sorted(row["holdout"]))})
        return None

    async def get_fact_stats(self, fact_id: str) -> FactStats | None:
        """Statistics of one fact, or `None` when it was in no run."""
        wanted = key(fact_id, field="fact_id")
        return (await self.get_fact_stats_batch([wanted])).get(wanted)

    async def get_fact_stats_batch(self, fact_ids: Sequence[str]) -> dict[str, FactStats]:
        """Statistics of those facts that were in a run."""
        wanted = without_repeats(keys(fact_ids, field="fact_ids"))
        if not wanted:
            return {}
        rows = await self._read("ledger.fact_scores", ids=list(wanted))
        return {row["id"]: FactStats.of(row["id"], row["scores"]) for row in rows}

    async def list_fact_stats(self) -> list[FactStats]:
        """Statistics of every fact that was in a run, by fact id."""
        rows = await self._read("ledger.all_fact_scores")
        return sorted((FactStats.of(row["id"], row["scores"]) for row in rows), key=lambda stats: stats.fact_id)

    async def get_baseline(self, *, exclude: str | None = None) -> Baseline:
        """All runs, or those that do not contain `exclude`."""
        if exclude is None:
            return (await self.get_run_scores([])).baseline()
        return (await self.get_baselines([key(exclude, field="exclude")]))[exclude]

    async def get_baselines(self, fact_ids: Sequence[str]) -> dict[str, Baseline]:
        """For each of these facts the runs that do not contain it, in one statement."""
        wanted = keys(fact_ids, field="fact_ids")
        return (await self.get_run_scores(wanted)).baselines(wanted)

    async def get_run_scores(self, fact_ids: Sequence[str]) -> RunScores:
        """The scores of all runs, and which of these facts each had, in one statement."""
        wanted = without_repeats(keys(fact_ids, field="fact_ids"))
        row = first(await self._read("ledger.run_scores", ids=list(wanted)))
        place_of = {sequence: place for place, sequence in enumerate(row["sequences"])}
        injected = {
            item["id"]: tuple(place_of[sequence] for sequence in item["sequences"] if sequence in place_of)
            for item in row["injected"]
        }
        drawn = {
            item["id"]: {place_of[sequence]: chance for sequence, chance in item["runs"] if sequence in place_of}
            for item in row["drawn"]
        }
        return RunScores(tuple(row["scores"]), injected, drawn)

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
        return [_recorded(row) for row in await self._read("gate.decisions", **asdict(wanted))]

    async def get_gate_pass(self, pass_id: str) -> GatePass | None:
        """A whole pass of the gate, or `None`."""
        wanted = require_id(pass_id, field="pass_id")
        for row in await self._read("gate.get", pass_id=wanted):
            return GatePass(
                id=wanted,
                policy=RetentionPolicy.model_validate_json(row["policy"]),
                decisions=[_decision(properties) for properties in row["decisions"]],
                decided_at=row["decided_at"],
            )
        return None

    async def clear(self) -> None:
        """Forget all runs; what the gate has ruled stays."""

        async def work(transaction: Transaction) -> int:
            parameters = self._with_namespace(limit=_CLEARED_AT_ONCE)
            removed: int = first(await transaction.run(queries.load("ledger.clear"), parameters))["removed"]
            return removed

        while await self._database.write(work):
            continue

    def _with_namespace(self, **parameters: Any) -> dict[str, Any]:
        return {"namespace": self._namespace, **parameters}

    async def _read(self, name: str, **parameters: Any) -> list[Row]:
        return await self._database.read(queries.load(name), self._with_namespace(**parameters))


def pass_properties(gate_pass: GatePass, *, now: dt.datetime, sequence: int) -> Row:
    """What `gate.record` writes of a pass itself."""
    return {
        "decided_at": gate_pass.decided_at or now,
        "sequence": sequence,
        "policy": gate_pass.policy.model_dump_json(),
    }


def verdict_properties(decision: GateDecision, *, decided_at: dt.datetime, sequence: int, position: int) -> Row:
    """What `gate.record` writes of one verdict."""
    return {
        "verdict": decision.verdict,
        "reason": decision.reason,
        "trials": decision.trials,
        "decided_at": decided_at,
        "sequence": sequence,
        "position": position,
        **{f"{_EVIDENCE}{name}": value for name, value in decision.evidence.items()},
    }


def _run_row(outcome: RunOutcome) -> Row:
    chances = outcome.holdout
    placed = with_positions(outcome.fact_ids)
    return {
        "id": outcome.run_id,
        "score": outcome.score,
        "recorded_at": outcome.recorded_at,
        "injected": [[fact_id, places, chances.get(fact_id)] for fact_id, places in placed],
        "withheld": [[fact_id, chances[fact_id]] for fact_id in outcome.withheld],
    }


def _decision(properties: Row) -> GateDecision:
    return GateDecision(
        fact_id=properties["fact_id"],
        verdict=properties["verdict"],
        reason=properties.get("reason"),
        trials=properties["trials"],
        evidence=_evidence(properties),
    )


def _recorded(row: Row) -> RecordedDecision:
    properties = row["decision"]
    return RecordedDecision(
        pass_id=row["pass_id"],
        decided_at=require_instant(row["decided_at"], field="decided_at"),
        fact_id=row["fact_id"],
        verdict=properties["verdict"],
        reason=properties.get("reason"),
        trials=properties["trials"],
        evidence=_evidence(properties),
    )


def _evidence(properties: Row) -> dict[str, Any]:
    return {name.removeprefix(_EVIDENCE): value for name, value in properties.items() if name.startswith(_EVIDENCE)}
