"""What keeps a memory true: passes that merge, close and prune, each as a plan to look at and then apply whole.

Everything here is written against ports. A pass makes a `Plan` by reading alone; `apply_plan` writes it in one
transaction and leaves an audit trail, from which `history` is told and which `undo` follows backwards.
"""

from remembrancer.lifecycle.consolidation import MemoryConsolidator, should_consolidate
from remembrancer.lifecycle.consolidation_report import ConsolidationPlan, ConsolidationReport, Mutation
from remembrancer.lifecycle.decay import decay_score
from remembrancer.lifecycle.plan import AnyRecord, Change, Plan, apply_plan

__all__ = [
    "AnyRecord",
    "Change",
    "ConsolidationPlan",
    "ConsolidationReport",
    "MemoryConsolidator",
    "Mutation",
    "Plan",
    "apply_plan",
    "decay_score",
    "should_consolidate",
]
