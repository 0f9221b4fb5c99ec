"""Plans: what a lifecycle pass is about to change, as values to be looked at, and then applied in one transaction.

A pass first collects, then writes. Whoever makes a plan only reads; `apply_plan` writes all of it or nothing, and
refuses when a record is no longer as the plan saw it. What it wrote is kept as a `Pass`, from which history is told
and which can be undone.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Self, TypeVar

from pydantic import model_validator

from remembrancer.ports import MemoryStore
from remembrancer.records import (
    Action,
    AnyRecord,
    Audit,
    AuditEntry,
    ConcurrencyError,
    Entity,
    Episode,
    Fact,
    InvalidInputError,
    Message,
    PassKind,
    PlanOutdatedError,
    Receipt,
    RecordBatch,
    RecordKind,
    Relationship,
    Scrub,
    Theme,
    kind_of,
)
from remembrancer.records.audit import audit_entry
from remembrancer.records.base import Listed, Record
from remembrancer.records.batch import ExpectedStatements
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Text

R = TypeVar("R", Entity, Episode, Fact, Relationship, Theme)
P = TypeVar("P")

_logger = logging.getLogger(__name__)

_ATTEMPTS = 3  # somebody who changed a record meanwhile has changed it by then


class Change(Record):
    """What is to become of one record.

    Attributes:
        before: The record as it was read; `None`: it is not stored, the pass makes it.
        after: The record as it is to be; `None`: it is removed. Leave the stamps of the store as they are.
        reason: Why, in a few words, for people: it is shown by `history`.
        superseded_by: The record of the same kind that replaces this one, if one does; between facts and between
            entities that becomes a `SUPERSEDES` edge from the newer to the older.
    """

    before: AnyRecord | None
    after: AnyRecord | None
    reason: Text
    superseded_by: Id | None = None

    @model_validator(mode="after")
    def _is_of_one_record(self) -> Self:
        before, after = self.before, self.after
        if before is None and after is None:
            raise ValueError("a change needs the record before it, after it, or both")
        if before is not None and after is not None and (before.id, kind_of(before)) != (after.id, kind_of(after)):
            raise ValueError(f"{kind_of(before)} {before.id} cannot become {kind_of(after)} {after.id}")
        if isinstance(after, Message):
            raise ValueError("messages are written with their episode: change that")
        return self

    @property
    def record(self) -> AnyRecord:
        """The record before the change, or the one that is made."""
        record = self.after if self.before is None else self.before
        assert record is not None  # noqa: S101 - a change has one of the two
        return record

    @property
    def kind(self) -> RecordKind:
        """Kind of the record."""
        return kind_of(self.record)

    @property
    def record_id(self) -> str:
        """Id of the record."""
        return self.record.id


class Plan(Record):
    """Everything that one pass is about to write.

    Attributes:
        pass_id: Id of the pass, a fresh one.
        kind: What the pass is for.
        made_at: When the plan was made.
        changes: Each record once.
        seen: Records that the plan rests on though it leaves them alone; they must still be so when it is applied.
        statements: How many statements of a subject and predicate it rests on; there must be no others by then.
        unnamed: Entities that nothing but what the plan knows may name by then.
        is_hard: Nothing is kept of what records were before: what it removes is gone for good, and it cannot be undone.
        undoes: The pass that this one takes back.
    """

    pass_id: Id
    kind: PassKind
    made_at: Instant
    changes: Listed[Change] = ()
    seen: Listed[AnyRecord] = ()
    statements: Listed[ExpectedStatements] = ()
    unnamed: Listed[Id] = ()
    is_hard: bool = False
    undoes: Id | None = None

    @model_validator(mode="after")
    def _names_each_record_once(self) -> Self:
        counted = Counter((change.kind, change.record_id) for change in self.changes)
        for (kind, record_id), times in counted.items():
            if times > 1:
                raise ValueError(f"{kind} {record_id} is changed {times} times; join these changes to one")
        if not self.is_hard and any(change.kind == "message" for change in self.changes):
            raise ValueError("a message is removed for good or not at all: only a hard plan may do it")
        return self

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes

    def entries(self) -> Iterator[tuple[Change, AuditEntry]]:
        """Each change, and what the audit trail will hold of it."""
        for change in self.changes:
            yield (
                change,
                audit_entry(
                    change.before,
                    change.after,
                    reason=change.reason,
                    superseded_by=change.superseded_by,
                    is_hard=self.is_hard,
                ),
            )

    def summary(self) -> dict[RecordKind, dict[Action, int]]:
        """How many records of each kind the plan makes, changes, closes, reopens and removes; only what occurs."""
        counted = Counter((entry.record_kind, entry.action) for _, entry in self.entries())
        summary: dict[RecordKind, dict[Action, int]] = {}
        for (kind, action), count in sorted(counted.items()):
            summary.setdefault(kind, {})[action] = count
        return summary


async def apply_plan(
    store: MemoryStore, plan: Plan, *, idempotency_key: str | None = None, scrub: Scrub | None = None
) -> Receipt:
    """Write a plan in one transaction: all of it, or nothing.

    Every `before` and everything `seen` must be stored exactly as the plan has it, vectors compared in float32; only
    usage counts may differ, and uses counted since are kept: they are added to what the plan writes. Removing an
    entity takes no relationship along that the plan does not know. A plan without changes writes nothing.

    Args:
        store: Where the plan was made.
        plan: What to write.
        idempotency_key: As for `MemoryStore.write`.
        scrub: What to take out of the audit trail in the same transaction, since the plan erases records.

    Returns:
        What was written; `superseded` lists what was closed in favour of others.

    Raises:
        PlanOutdatedError: Records are no longer as the plan saw them; names their ids. Nothing was written.
        InvalidInputError: A record holds what cannot be stored.
        ServerUnavailableError: The database could not be reached.
    """
    if not isinstance(plan, Plan):
        raise InvalidInputError("plan", f"expected a Plan, got {type(plan).__name__}")
    if plan.is_empty:
        return Receipt()
    try:
        batch = batch_of(plan).model_copy(update={"scrub": scrub})
        return await store.write(batch, idempotency_key=idempotency_key)
    except ConcurrencyError as error:
        raise PlanOutdatedError(plan.pass_id, changed=[error.record_id]) from error


async def plan_and_apply(
    store: MemoryStore, look: Callable[[], Awaitable[P]], plan_in: Callable[[P], Plan], *, attempts: int = _ATTEMPTS
) -> P:
    """Look, apply what was planned, and look again when somebody changed a record meanwhile.

    Args:
        store: Where the plans are made.
        look: Makes a plan, and whatever is told of it; called anew for each attempt.
        plan_in: The plan in what `look` gives.
        attempts: How often to look at most, 1 or more.

    Returns:
        What was looked at last; its plan was applied.

    Raises:
        PlanOutdatedError: Others kept changing the same records. Nothing was written.
        ServerUnavailableError: The database could not be reached.
    """
    while True:
        attempts -= 1
        seen = await look()
        plan = plan_in(seen)
        try:
            await apply_plan(store, plan)
        except PlanOutdatedError as error:
            if attempts < 1:
                raise
            _logger.info("the pass of kind %s looks again: %d records changed meanwhile", plan.kind, len(error.changed))
        else:
            return seen


def batch_of(plan: Plan) -> RecordBatch:
    """The one write that a plan comes to."""
    afters = [change.after for change in plan.changes if change.after is not None]
    removals: dict[RecordKind, list[str]] = {}
    absent: dict[RecordKind, list[str]] = {}
    for change in plan.changes:
        if change.after is None:
            removals.setdefault(change.kind, []).append(change.record_id)
        if change.before is None:
            absent.setdefault(change.kind, []).append(change.record_id)
    audit = Audit(
        pass_id=plan.pass_id,
        kind=plan.kind,
        at=plan.made_at,
        is_hard=plan.is_hard,
        undoes=plan.undoes,
        entries=tuple(entry for _, entry in plan.entries()),
    )
    fields: dict[str, Any] = {
        "entities": _only(Entity, afters),
        "relationships": _only(Relationship, afters),
        "episodes": _only(Episode, afters),
        "facts": _only(Fact, afters),
        "themes": _only(Theme, afters),
        "removals": removals,
        "expected_records": [*(one.before for one in plan.changes if one.before is not None), *plan.seen],
        "expected_absent": absent,
        "expected_statements": plan.statements,
        "expected_unnamed": plan.unnamed,
        # No episode takes messages that another one has got meanwhile.
        "expected_messages": {one.record_id: _messages_in(one.before) for one in plan.changes if _is_put(one)},
        "audit": audit,
    }
    return RecordBatch(**fields)


def _is_put(change: Change) -> bool:
    return change.kind == "episode" and change.after is not None


def _messages_in(before: AnyRecord | None) -> int:
    return len({message.id for message in before.messages}) if isinstance(before, Episode) else 0


def _only(model: type[R], records: Sequence[AnyRecord]) -> list[R]:
    return [record for record in records if isinstance(record, model)]
