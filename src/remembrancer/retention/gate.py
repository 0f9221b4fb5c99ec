"""The retention gate: promotes the lessons on trial that help, evicts those that harm, and leaves a trace of it.

The gate looks, rules and writes. Verdicts are ruled on what the ledger held when it looked; they are applied, with
their entries in the audit log, in one transaction, and only to facts that are still on trial then. So of two gates at
once one decides a fact, and what somebody else changed of it meanwhile stays.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from remembrancer.ports import MemoryStore, OutcomeLedger
from remembrancer.records import (
    GateDecision,
    GatePass,
    InvalidInputError,
    NewId,
    RecordBatch,
    RetentionPolicy,
    random_id,
)
from remembrancer.records.base import build
from remembrancer.retention.decision import CandidateScores, Verdict, decide
from remembrancer.retention.lessons import on_trial

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RetentionReport:
    """What one pass of the gate did; each list in the order of the candidates, newest first.

    Attributes:
        promoted: Facts that carry the verified tag from now on.
        evicted: Facts that are closed from now on, each for its reason.
        held: Facts that stay on trial.
        left_alone: Ids of facts that were no longer on trial when the verdicts were written: another gate decided them,
            or somebody closed, retagged or removed them.
        pass_id: The pass in the audit log; `None`: nothing was written, since nobody was on trial or it was a dry run.
    """

    promoted: tuple[Verdict, ...] = ()
    evicted: tuple[Verdict, ...] = ()
    held: tuple[Verdict, ...] = ()
    left_alone: tuple[str, ...] = ()
    pass_id: str | None = None


async def evaluate_retention(
    store: MemoryStore,
    ledger: OutcomeLedger,
    policy: RetentionPolicy | None = None,
    *,
    dry_run: bool = False,
    new_id: NewId = random_id,
) -> RetentionReport:
    """Rule on all facts on trial, and apply and record the verdicts.

    Args:
        store: Where the facts are; the audit log lies beside them.
        ledger: The scored runs.
        policy: How to decide; by default as `RetentionPolicy` says.
        dry_run: Only tell what would be decided.
        new_id: Makes the id of the pass.

    Raises:
        InvalidInputError: Not a policy.
        ServerUnavailableError: The database could not be reached; run the gate again, it decides no fact twice.
    """
    chosen = RetentionPolicy() if policy is None else policy
    if not isinstance(chosen, RetentionPolicy):
        raise InvalidInputError("policy", f"expected a RetentionPolicy, got {type(chosen).__name__}")
    ids = [fact.id async for fact in on_trial(store, chosen.candidate_tag)]
    if not ids:
        return RetentionReport()
    verdicts = decide(await _scores(ledger, ids, chosen), chosen)
    if dry_run:
        return _report(verdicts, set(), pass_id=None)
    decisions = [_decision(verdict) for verdict in verdicts]
    gate_pass = build(GatePass, id=new_id(), policy=chosen, decisions=decisions)
    receipt = await store.write(build(RecordBatch, gate_passes=[gate_pass]))
    report = _report(verdicts, {refusal.id for refusal in receipt.refused}, pass_id=gate_pass.id)
    logger.info(
        "gate pass %s: %d promoted, %d evicted, %d held, %d left alone",
        gate_pass.id,
        *map(len, (report.promoted, report.evicted, report.held, report.left_alone)),
    )
    return report


async def _scores(ledger: OutcomeLedger, ids: Sequence[str], policy: RetentionPolicy) -> list[CandidateScores]:
    runs = await ledger.get_run_scores(ids)
    if policy.baseline == "holdout":
        return [CandidateScores(fact_id, *runs.held_out(fact_id)) for fact_id in ids]
    baselines = runs.baselines(ids)
    return [CandidateScores(fact_id, runs.stats(fact_id), baselines[fact_id]) for fact_id in ids]


def _decision(verdict: Verdict) -> GateDecision:
    evidence = asdict(verdict.evidence) if verdict.evidence is not None else {}
    return build(
        GateDecision,
        fact_id=verdict.fact_id,
        verdict=verdict.decision,
        reason=verdict.reason,
        trials=verdict.trials,
        evidence={name: value for name, value in evidence.items() if value is not None},
    )


def _report(verdicts: Sequence[Verdict], left_alone: set[str], *, pass_id: str | None) -> RetentionReport:
    applied = [verdict for verdict in verdicts if verdict.fact_id not in left_alone]
    return RetentionReport(
        promoted=tuple(verdict for verdict in applied if verdict.decision == "promoted"),
        evicted=tuple(verdict for verdict in applied if verdict.decision == "evicted"),
        held=tuple(verdict for verdict in applied if verdict.decision == "held"),
        left_alone=tuple(verdict.fact_id for verdict in verdicts if verdict.fact_id in left_alone),
        pass_id=pass_id,
    )
