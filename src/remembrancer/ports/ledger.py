"""The outcome ledger: which facts were in which scored run, and what the gate ruled on them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from remembrancer.ports.runs import Baseline, FactStats, RunScores
from remembrancer.records import GatePass, GateVerdict, RunOutcome

__all__ = ["Baseline", "FactStats", "KeepsLedger", "OutcomeLedger", "RecordedDecision", "RecordedRun", "RunScores"]


@dataclass(frozen=True)
class RecordedRun:
    """What became of a recording.

    Attributes:
        run_id: The run.
        replaced: Whether the run had been recorded before.
        unstored: Ids named in it under which no fact is stored, in order of id: a typing error, or a fact to come.
    """

    run_id: str
    replaced: bool
    unstored: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordedDecision:
    """One verdict in the audit log of the gate.

    Attributes:
        pass_id: The pass that ruled so.
        decided_at: When.
        fact_id: On which fact; it need not be stored any more.
        verdict: `promoted`, `evicted` or `held`.
        reason: Why it was evicted.
        trials: Scored runs that the fact had been in.
        evidence: The numbers behind the verdict, by name; empty where none were reported.
    """

    pass_id: str
    decided_at: dt.datetime
    fact_id: str
    verdict: GateVerdict
    reason: str | None
    trials: int
    evidence: Mapping[str, bool | int | float | str] = field(default_factory=dict)


@runtime_checkable
class OutcomeLedger(Protocol):
    """Evidence on what helps. Recorders and gates may work at once; a recording is there whole or not at all."""

    async def record_outcome(self, outcome: RunOutcome) -> RecordedRun:
        """Record a run; the same run again replaces its first recording, and keeps its place in the order of recording.

        Raises:
            InvalidInputError: Not a run outcome. Nothing was recorded.
        """
        return (await self.record_outcomes([outcome]))[0]

    async def record_outcomes(self, outcomes: Sequence[RunOutcome]) -> list[RecordedRun]:
        """Record runs, each as `record_outcome` does, in their order; quicker than one at a time.

        What cannot be recorded is told before anything is. Many runs may take several transactions: cut off, the same
        call again completes it.

        Raises:
            InvalidInputError: One is not a run outcome; names it, for example `outcomes.3.score`.
        """
        ...

    async def get_outcome(self, run_id: str) -> RunOutcome | None:
        """A run as it was recorded last, or `None`."""
        ...

    async def get_fact_stats(self, fact_id: str) -> FactStats | None:
        """Statistics of one fact, or `None` when it was in no run."""
        ...

    async def get_fact_stats_batch(self, fact_ids: Sequence[str]) -> dict[str, FactStats]:
        """Statistics of those facts that were in a run."""
        ...

    async def list_fact_stats(self) -> list[FactStats]:
        """Statistics of every fact that was in a run, by fact id."""
        ...

    async def get_baseline(self, *, exclude: str | None = None) -> Baseline:
        """All runs, or those that do not contain `exclude`."""
        ...

    async def get_baselines(self, fact_ids: Sequence[str]) -> dict[str, Baseline]:
        """For each of these facts the runs that do not contain it, in one look at the ledger."""
        ...

    async def get_run_scores(self, fact_ids: Sequence[str]) -> RunScores:
        """The scores of all runs, and which of these facts each had: all that the gate needs, in one look."""
        ...

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
        """What passes of the gate have ruled: the latest pass first, within a pass in the order of its candidates.

        Nothing alters or shortens this log, short of clearing the whole namespace.

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
        ...

    async def get_gate_pass(self, pass_id: str) -> GatePass | None:
        """A whole pass of the gate with the policy that it went by, or `None`."""
        ...

    async def clear(self) -> None:
        """Forget all runs. What the gate has ruled stays on record."""
        ...


@runtime_checkable
class KeepsLedger(Protocol):
    """A store with an outcome ledger of its own."""

    @property
    def ledger(self) -> OutcomeLedger:
        """The ledger of the store's namespace."""
        ...
