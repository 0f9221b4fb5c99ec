"""What keeps a memory true: passes that merge, close and prune, each as a plan to look at and then apply whole.

Everything here is written against ports. A pass makes a `Plan` by reading alone; `apply_plan` writes it in one
transaction and leaves an audit trail, from which `history` is told and which `undo` follows backwards.
"""

from remembrancer.lifecycle.consolidation import MemoryConsolidator, should_consolidate
from remembrancer.lifecycle.consolidation_report import ConsolidationPlan, ConsolidationReport, Mutation
from remembrancer.lifecycle.decay import decay_score
from remembrancer.lifecycle.images import ImageLostError
from remembrancer.lifecycle.plan import Change, Plan, apply_plan
from remembrancer.lifecycle.restoring import plan_restore
from remembrancer.lifecycle.stating import Assertion, StatementReport, assert_statements
from remembrancer.lifecycle.undo import plan_undo
from remembrancer.records import AnyRecord

__all__ = [
    "AnyRecord",
    "Assertion",
    "Change",
    "ConsolidationPlan",
    "ConsolidationReport",
    "ImageLostError",
    "MemoryConsolidator",
    "Mutation",
    "Plan",
    "StatementReport",
    "apply_plan",
    "assert_statements",
    "decay_score",
    "plan_restore",
    "plan_undo",
    "should_consolidate",
]
