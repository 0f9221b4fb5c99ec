"""What keeps a memory true: passes that merge, close and prune, each as a plan to look at and then apply whole.

Everything here is written against ports. A pass makes a `Plan` by reading alone; `apply_plan` writes it in one
transaction and leaves an audit trail, from which `history` is told and which `undo` follows backwards.
"""

from remembrancer.lifecycle.admission import (
    EMBEDDING_THRESHOLD,
    LEXICAL_THRESHOLD,
    Admission,
    check_fact_admission,
)
from remembrancer.lifecycle.conflict import Conflict, ConflictingFact
from remembrancer.lifecycle.conflicts import ConflictDetail, ConflictDetector, ConflictPlan, ConflictReport
from remembrancer.lifecycle.consolidation import MemoryConsolidator, should_consolidate
from remembrancer.lifecycle.consolidation_report import ConsolidationPlan, ConsolidationReport, Mutation
from remembrancer.lifecycle.decay import decay_score
from remembrancer.lifecycle.erasure import ErasurePlan, plan_erasure
from remembrancer.lifecycle.forgetting import forget, forget_everything
from remembrancer.lifecycle.images import ImageLostError
from remembrancer.lifecycle.plan import Change, Plan, apply_plan
from remembrancer.lifecycle.resolution import EntityResolver, ResolutionPlan, ResolutionReport
from remembrancer.lifecycle.restoring import plan_restore
from remembrancer.lifecycle.stating import Assertion, StatementReport, assert_statements
from remembrancer.lifecycle.transfer_export import TransferProgress, export_to
from remembrancer.lifecycle.transfer_import import import_from
from remembrancer.lifecycle.transfer_lines import TransferReport
from remembrancer.lifecycle.undo import plan_undo
from remembrancer.records import AnyRecord

__all__ = [
    "EMBEDDING_THRESHOLD",
    "LEXICAL_THRESHOLD",
    "Admission",
    "AnyRecord",
    "Assertion",
    "Change",
    "Conflict",
    "ConflictDetail",
    "ConflictDetector",
    "ConflictPlan",
    "ConflictReport",
    "ConflictingFact",
    "ConsolidationPlan",
    "ConsolidationReport",
    "EntityResolver",
    "ErasurePlan",
    "ImageLostError",
    "MemoryConsolidator",
    "Mutation",
    "Plan",
    "ResolutionPlan",
    "ResolutionReport",
    "StatementReport",
    "TransferProgress",
    "TransferReport",
    "apply_plan",
    "assert_statements",
    "check_fact_admission",
    "decay_score",
    "export_to",
    "forget",
    "forget_everything",
    "import_from",
    "plan_erasure",
    "plan_restore",
    "plan_undo",
    "should_consolidate",
]
