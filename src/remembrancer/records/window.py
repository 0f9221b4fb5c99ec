"""Windows of validity: half-open, `[valid_from, valid_until)`, aware UTC to the microsecond.

A window with no end still holds. One that ends at or before its start holds at no instant. Two windows that only touch
do not overlap, so a fact may be closed and its successor opened at the same instant without both holding.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Protocol, TypeVar


class Windowed(Protocol):
    """Anything with a window and a mark of what closed it: a fact, a relationship."""

    @property
    def valid_from(self) -> dt.datetime:
        """Start, included."""

    @property
    def valid_until(self) -> dt.datetime | None:
        """End, excluded; `None`: open."""

    @property
    def invalidated_by(self) -> str | None:
        """What closed it; empty counts as absent."""


W = TypeVar("W", bound=Windowed)


def is_valid_at(record: Windowed, instant: dt.datetime) -> bool:
    """Whether the record's window holds the instant."""
    return record.valid_from <= instant and (record.valid_until is None or record.valid_until > instant)


def is_changed_since(record: Windowed, instant: dt.datetime) -> bool:
    """Whether the record began, or ends, after the instant."""
    return record.valid_from > instant or (record.valid_until is not None and record.valid_until > instant)


def filter_valid(
    records: Iterable[W],
    *,
    valid_at: dt.datetime | None = None,
    changed_since: dt.datetime | None = None,
    include_invalidated: bool = False,
) -> list[W]:
    """Keep what passes, in its order.

    Args:
        records: Facts or relationships.
        valid_at: Keep what holds at this instant; `None`: windows are not looked at.
        changed_since: Keep what began or ends after this instant.
        include_invalidated: Keep closed records too.
    """
    return [
        record
        for record in records
        if (include_invalidated or not record.invalidated_by)
        and (valid_at is None or is_valid_at(record, valid_at))
        and (changed_since is None or is_changed_since(record, changed_since))
    ]
