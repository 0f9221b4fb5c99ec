"""The outcome ledger: which facts were in which scored run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from remembrancer.records import RunOutcome


@dataclass(frozen=True)
class FactStats:
    """Scores of the runs that a fact was in; a fact repeated within a run counts once.

    Attributes:
        variance: Sample variance; `None` for fewer than two trials.
    """

    fact_id: str
    trials: int
    mean_score: float
    variance: float | None = None


@dataclass(frozen=True)
class Baseline:
    """Scores of all runs, or of those without one fact; `mean_score` is 0 when there are none."""

    runs: int
    mean_score: float
    variance: float | None = None


@runtime_checkable
class OutcomeLedger(Protocol):
    """Evidence on what helps."""

    async def record_outcome(self, outcome: RunOutcome) -> None:
        """Record a run; the same run again replaces its first recording in place."""
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

    async def clear(self) -> None:
        """Forget all runs."""
        ...
