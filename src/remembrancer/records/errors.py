"""Everything this library raises on purpose, sorted by what the caller can do about it.

One root, `RemembranceError`. The message is a sentence with the values in it; the values are attributes too, so that a
program need not read the sentence. Errors of the driver or of the HTTP client never leave the library raw: they are
the `__cause__` of one of these.
"""

from __future__ import annotations

from collections.abc import Sequence


class RemembranceError(Exception):
    """Root of everything this library raises on purpose."""


class InvalidInputError(RemembranceError, ValueError):
    """A value that cannot be used. Nothing was written.

    Attributes:
        field: The argument or record field, dotted for what is nested (`facts.3.content`).
        problem: What is wrong with the value and, where it helps, how to mend it.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class ModelAccessError(InvalidInputError):
    """The server of a model accepts the key not, or knows no such model: asking again will not help, mending will.

    Attributes:
        field: `api_key`, `model` or `base_url`.
        problem: What the server said.
    """


class NotFoundError(RemembranceError, LookupError):
    """Ids that are not stored, or not visible to the caller. Nothing was written."""

    def __init__(self, kind: str, missing: Sequence[str], *, namespace: str) -> None:
        super().__init__(f"no {kind} with id {', '.join(missing)} in namespace {namespace!r}")
        self.kind = kind
        self.missing = tuple(missing)
        self.namespace = namespace


class EmbeddingDimensionMismatchError(RemembranceError, ValueError):
    """A vector of another length than the embedding space has. Nothing was written.

    Attributes:
        expected: Dimensions of the embedding space.
        actual: Dimensions of the vector.
        context: Where it was met, for example `search_facts` or `rebuild (fact)`.
    """

    def __init__(self, expected: int, actual: int, context: str) -> None:
        super().__init__(f"{context}: expected a vector of {expected} dimensions, got {actual}")
        self.expected = expected
        self.actual = actual
        self.context = context


class EmbeddingSpaceMismatchError(EmbeddingDimensionMismatchError):
    """A namespace was opened with another embedding model, or other dimensions, than it was filled with.

    Attributes:
        expected_model: The model that the namespace belongs to.
        actual_model: The model that was handed in.
        namespace: Whose memory.
    """

    def __init__(self, *, namespace: str, expected_model: str, expected: int, actual_model: str, actual: int) -> None:
        super().__init__(expected, actual, f"namespace {namespace!r}")
        self.args = (
            f"namespace {namespace!r} holds embeddings of {expected_model!r} ({expected} dimensions), but was opened "
            f"with {actual_model!r} ({actual} dimensions); open it with the model it was filled with, or use another "
            "namespace for the new model, or move this one to it: remembrancer reembed",
        )
        self.namespace = namespace
        self.expected_model = expected_model
        self.actual_model = actual_model


class ConcurrencyError(RemembranceError):
    """Somebody else changed the record first: read it again and repeat. Nothing was written."""

    def __init__(self, kind: str, record_id: str, *, expected: int | None, actual: int | None) -> None:
        super().__init__(f"{kind} {record_id} changed meanwhile: expected version {expected}, found {actual}")
        self.kind = kind
        self.record_id = record_id
        self.expected = expected
        self.actual = actual


class FactSupersededError(RemembranceError):
    """The fact was replaced by another one, which is named."""

    def __init__(self, fact_id: str, *, superseded_by: str) -> None:
        super().__init__(f"fact {fact_id} was superseded by {superseded_by}")
        self.fact_id = fact_id
        self.superseded_by = superseded_by


class AccessDeniedError(RemembranceError):
    """The scope that asks may not do this to the record. Nothing was written."""

    def __init__(self, action: str, kind: str, record_id: str) -> None:
        super().__init__(f"not allowed to {action} {kind} {record_id}")
        self.action = action
        self.kind = kind
        self.record_id = record_id


class OwnerRequiredError(RemembranceError):
    """A record that is not for everybody needs an owner."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"{kind} that is not readable by everybody needs an owner")
        self.kind = kind


class ScopeInvariantError(RemembranceError):
    """A write would break a rule about who owns and who reads. Nothing was written."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class InvalidTaskTransitionError(RemembranceError):
    """A task cannot go from the one state to the other."""

    def __init__(self, task_id: str, *, current: str, requested: str) -> None:
        super().__init__(f"task {task_id} cannot go from {current!r} to {requested!r}")
        self.task_id = task_id
        self.current = current
        self.requested = requested


class SemanticSearchUnavailableError(RemembranceError):
    """The call needs vectors, and there is no embedder to make them."""

    def __init__(self, operation: str) -> None:
        super().__init__(f"{operation} needs an embedder: open the memory with embedder=...")
        self.operation = operation


class ProfileGeneratorMissingError(RemembranceError):
    """The call needs a profile generator, and none was handed in."""

    def __init__(self, operation: str) -> None:
        super().__init__(f"{operation} needs a profile generator")
        self.operation = operation


class PlanOutdatedError(RemembranceError):
    """The memory changed after the plan was made: plan again. Nothing was written."""

    def __init__(self, plan_id: str, *, changed: Sequence[str]) -> None:
        shown = ", ".join([*changed[:3], *(["..."] if len(changed) > 3 else [])])
        super().__init__(
            f"plan {plan_id} is outdated: {len(changed)} records changed since it was made ({shown}); plan again"
        )
        self.plan_id = plan_id
        self.changed = tuple(changed)


class MigrationError(RemembranceError):
    """The database's schema is not one that this library can use.

    Attributes:
        applied: The newest migration that the database has, 0 when none.
        known: The newest migration that this library knows.
    """

    def __init__(self, problem: str, *, applied: int | None = None, known: int | None = None) -> None:
        super().__init__(problem)
        self.applied = applied
        self.known = known


class ServerUnavailableError(RemembranceError):
    """Neo4j, or a service that the call needs, could not be reached or started; worth trying again.

    Attributes:
        address: Where it was looked for, when that is known.
    """

    def __init__(self, message: str, *, address: str | None = None) -> None:
        super().__init__(message)
        self.address = address


class ModelAnswerError(RemembranceError):
    """A language model answered, but not with anything that can be used: refused, cut short, or of another form.

    Attributes:
        problem: What is wrong with the answer.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(f"the model's answer cannot be used: {problem}")
        self.problem = problem


class BudgetExceededError(RemembranceError):
    """The calls or tokens that a model may use are used up. The call was not made.

    Attributes:
        resource: `calls` or `tokens`.
        limit: How many there were.
        used: How many are used or promised to calls that still run.
        needed: How many the refused call would have taken, at most.
    """

    def __init__(self, resource: str, *, limit: int, used: int, needed: int) -> None:
        super().__init__(
            f"the budget of {limit:,} {resource} does not cover another call: {used:,} used, up to {needed:,} needed"
        )
        self.resource = resource
        self.limit = limit
        self.used = used
        self.needed = needed
