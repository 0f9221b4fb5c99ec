"""What was believed at an instant: asked of when a record was recorded and when it was closed, not of its window.

A fact or relationship knows both as `recorded_at` and `closed_at`, an entity as `created_at` and `invalidated_at`.
Nothing else of a record is kept in former versions: an end that a window was given later shows through.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, TypeVar

from remembrancer.records.entity import Entity
from remembrancer.records.fact import Fact
from remembrancer.records.relationship import Relationship

Believed = TypeVar("Believed", Fact, Relationship, Entity)


def is_open(record: Fact | Relationship | Entity, believed_at: dt.datetime | None) -> bool:
    """Whether the record was not closed: at an instant, or with `None` now."""
    if record.is_live or believed_at is None:
        return record.is_live
    closed_at = record.invalidated_at if isinstance(record, Entity) else record.closed_at
    return closed_at is not None and closed_at > believed_at


def is_believed(
    record: Fact | Relationship | Entity, believed_at: dt.datetime | None, *, include_invalidated: bool = False
) -> bool:
    """Whether the record had been recorded by an instant and was not closed then; with `None`: is not closed now.

    Args:
        record: Fact, relationship or entity.
        believed_at: The instant; `None`: now.
        include_invalidated: Whether closed ones count too.
    """
    if believed_at is not None:
        recorded_at = record.created_at if isinstance(record, Entity) else record.recorded_at
        if recorded_at is None or recorded_at > believed_at:
            return False
    return include_invalidated or is_open(record, believed_at)


def as_believed(record: Believed, believed_at: dt.datetime | None) -> Believed:
    """The record without the marks of a closing that came after the instant."""
    if record.is_live or not is_open(record, believed_at):
        return record
    marks: dict[str, Any] = {"invalidated_by": None, "closed_at": None}
    if isinstance(record, Entity):
        marks = {"invalidated_at": None, "superseded_by": None}
    return record.model_copy(update=marks)
