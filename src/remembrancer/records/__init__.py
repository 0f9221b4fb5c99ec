"""Records: what is stored, asked and answered, with every limit checked; and the errors.

Nothing here waits, writes or knows a database.
"""

from remembrancer.records.audit import Action, Audit, AuditEntry, Pass, PassKind, Scrub
from remembrancer.records.batch import (
    IdsByKind,
    Receipt,
    RecordBatch,
    Refusal,
    ThemeAddition,
)
from remembrancer.records.entity import Entity, name_key, normalize_entity_name
from remembrancer.records.episode import Episode
from remembrancer.records.erasure import Erasure, Source
from remembrancer.records.errors import (
    AccessDeniedError,
    BudgetExceededError,
    ConcurrencyError,
    EmbeddingDimensionMismatchError,
    EmbeddingSpaceMismatchError,
    FactSupersededError,
    InvalidInputError,
    InvalidTaskTransitionError,
    MigrationError,
    ModelAccessError,
    ModelAnswerError,
    NotFoundError,
    OwnerRequiredError,
    PlanOutdatedError,
    ProfileGeneratorMissingError,
    RemembranceError,
    ScopeInvariantError,
    SemanticSearchUnavailableError,
    ServerUnavailableError,
)
from remembrancer.records.fact import CANDIDATE_TAG, LESSON_TAG, QUARANTINE_TAG, VERIFIED_TAG, Fact
from remembrancer.records.gate import GateDecision, GatePass, GateVerdict
from remembrancer.records.history import Evidence, History, Replacement, Step
from remembrancer.records.instant import Clock, system_clock
from remembrancer.records.key import MAX_KEY_BYTES, NewId, random_id
from remembrancer.records.kind import AnyRecord, RecordKind, kind_of
from remembrancer.records.message import Message
from remembrancer.records.outcome import RetentionPolicy, RunOutcome
from remembrancer.records.provenance import Provenance
from remembrancer.records.query import MemoryQuery, MemoryResult, Subgraph
from remembrancer.records.relationship import Relationship
from remembrancer.records.space import EmbeddingSpace
from remembrancer.records.statement import Statement, canonical_predicate
from remembrancer.records.theme import Theme
from remembrancer.records.vector import SIMILARITY_TOLERANCE, cosine
from remembrancer.records.window import filter_valid, is_changed_since, is_valid_at

__all__ = [
    "CANDIDATE_TAG",
    "LESSON_TAG",
    "MAX_KEY_BYTES",
    "QUARANTINE_TAG",
    "SIMILARITY_TOLERANCE",
    "VERIFIED_TAG",
    "AccessDeniedError",
    "Action",
    "AnyRecord",
    "Audit",
    "AuditEntry",
    "BudgetExceededError",
    "Clock",
    "ConcurrencyError",
    "EmbeddingDimensionMismatchError",
    "EmbeddingSpace",
    "EmbeddingSpaceMismatchError",
    "Entity",
    "Episode",
    "Erasure",
    "Evidence",
    "Fact",
    "FactSupersededError",
    "GateDecision",
    "GatePass",
    "GateVerdict",
    "History",
    "IdsByKind",
    "InvalidInputError",
    "InvalidTaskTransitionError",
    "MemoryQuery",
    "MemoryResult",
    "Message",
    "MigrationError",
    "ModelAccessError",
    "ModelAnswerError",
    "NewId",
    "NotFoundError",
    "OwnerRequiredError",
    "Pass",
    "PassKind",
    "PlanOutdatedError",
    "ProfileGeneratorMissingError",
    "Provenance",
    "Receipt",
    "RecordBatch",
    "RecordKind",
    "Refusal",
    "Relationship",
    "RemembranceError",
    "Replacement",
    "RetentionPolicy",
    "RunOutcome",
    "ScopeInvariantError",
    "Scrub",
    "SemanticSearchUnavailableError",
    "ServerUnavailableError",
    "Source",
    "Statement",
    "Step",
    "Subgraph",
    "Theme",
    "ThemeAddition",
    "canonical_predicate",
    "cosine",
    "filter_valid",
    "is_changed_since",
    "is_valid_at",
    "kind_of",
    "name_key",
    "normalize_entity_name",
    "random_id",
    "system_clock",
]
