"""Assertions: relationships that are put only where no stored one says the same already.

A live stored relationship of the same ends and type stands for the assertion when their windows overlap; it then
begins with the earlier of the two. What began at no common instant stays a window of its own: a relation that held
twice has two.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from remembrancer.records.instant import parse_instant
from remembrancer.records.relationship import Relationship


@dataclass(frozen=True)
class StoredWindow:
    """Id and window of a stored relationship; no end: open."""

    id: str
    valid_from: dt.datetime
    valid_until: dt.datetime | None

    @classmethod
    def read(cls, record_id: str, valid_from: str, valid_until: str | None) -> StoredWindow:
        """The window from instants as text."""
        return cls(record_id, parse_instant(valid_from), None if valid_until is None else parse_instant(valid_until))


@dataclass(frozen=True)
class Assertions:
    """What becomes of assertions.

    Attributes:
        to_put: Those that nothing stored stands for.
        merged: The relationship that stands for an assertion, by the assertion's id.
        widened: New starts of stored relationships, by their ids.
    """

    to_put: tuple[Relationship, ...]
    merged: dict[str, str]
    widened: dict[str, dt.datetime]


def windows_overlap(
    a_from: dt.datetime, a_until: dt.datetime | None, b_from: dt.datetime, b_until: dt.datetime | None
) -> bool:
    """Whether two half-open windows share an instant; identical ones always do, empty or not."""
    if (a_from, a_until) == (b_from, b_until):
        return True
    return (b_until is None or a_from < b_until) and (a_until is None or b_from < a_until)


def resolve_assertions(assertions: Sequence[Relationship], stored: Mapping[str, Sequence[StoredWindow]]) -> Assertions:
    """Decide for each assertion, in the order of start and id, whether it meets a stored one or an earlier assertion.

    Args:
        assertions: Relationships that want to be put.
        stored: Live stored relationships of the same ends and type, by the assertion's id, in order of start and id.
    """
    ends: dict[tuple[str, str, str], list[StoredWindow]] = {}
    to_put: list[Relationship] = []
    merged: dict[str, str] = {}
    widened: dict[str, dt.datetime] = {}
    for assertion in sorted(assertions, key=lambda relationship: (relationship.valid_from, relationship.id)):
        key = (assertion.source_id, assertion.target_id, assertion.relation_type)
        known = ends.setdefault(key, list(stored.get(assertion.id, ())))
        met = next((w for w in known if _meets(assertion, w)), None)
        if met is None:
            to_put.append(assertion)
            known.append(StoredWindow(assertion.id, assertion.valid_from, assertion.valid_until))
            continue
        merged[assertion.id] = met.id
        if assertion.valid_from < met.valid_from:
            widened[met.id] = assertion.valid_from
            known[known.index(met)] = StoredWindow(met.id, assertion.valid_from, met.valid_until)
    return Assertions(tuple(to_put), merged, widened)


def _meets(assertion: Relationship, window: StoredWindow) -> bool:
    return windows_overlap(assertion.valid_from, assertion.valid_until, window.valid_from, window.valid_until)
