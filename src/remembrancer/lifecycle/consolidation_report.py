"""What a consolidation did, or would do."""

from __future__ import annotations

from typing import Literal

from remembrancer.lifecycle.plan import Plan
from remembrancer.records.base import Listed, Record

MutationType = Literal["put_fact", "delete_fact", "delete_episode", "put_theme", "delete_theme"]


class Mutation(Record):
    """One write of a consolidation: what is done, to which record."""

    type: MutationType
    id: str


class ConsolidationReport(Record):
    """What a consolidation did, or would do.

    Attributes:
        facts_deduped: Facts that became part of another.
        facts_decayed: Facts that were pruned since they counted least.
        episodes_pruned: Episodes removed.
        themes_cleaned_up: Themes that lost facts and kept others.
        themes_removed: Themes that lost all their facts.
        total_reclaimed: Pruned facts, episodes and themes together.
        mutation_log: Every write of the four phases in its order, without the lists of episodes that follow merged
            facts; `None` unless asked for with `debug`.
        pass_id: Names the pass in the history; `None`: nothing was written, since there was nothing to do or it was
            only tried.
    """

    facts_deduped: int = 0
    facts_decayed: int = 0
    episodes_pruned: int = 0
    themes_cleaned_up: int = 0
    themes_removed: int = 0
    total_reclaimed: int = 0
    mutation_log: Listed[Mutation] | None = None
    pass_id: str | None = None


class ConsolidationPlan(Record):
    """A consolidation that was planned but not applied: the changes, and their report."""

    plan: Plan
    report: ConsolidationReport
