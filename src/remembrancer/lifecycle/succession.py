"""Succession: the windows of statements that replace one another, worked out from all that was ever said.

Of a predicate that holds one value at a time (a state, a port, an employer) each new value closes the window of the
one before at its own start. What was said later about an earlier time finds its place between its neighbours, so the
windows do not depend on the order in which statements arrive. Everything here is pure.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from remembrancer.lifecycle.plan import Change
from remembrancer.records import Fact
from remembrancer.records.batch import ExpectedStatements
from remembrancer.records.statement import Statement, canonical_predicate

SUCCESSION_REASON = "statement:succession"
"""Why the window of a statement was ended, or was reopened: by what was said before and after it."""

CONFIRMATION_REASON = "statement:confirmation"
"""Why a statement is closed that another one had made before, of the same time."""


@dataclass
class _Run:
    """One value that held without a gap: the fact that said it first, and those that said it again."""

    head: Fact
    end: dt.datetime | None
    confirmed_by: list[Fact]
    next: _Run | None = None
    is_cut: bool = False

    def takes(self, fact: Fact) -> bool:
        return _value(fact) == _value(self.head) and (self.end is None or fact.valid_from <= self.end)


@dataclass(frozen=True)
class Place:
    """What becomes of one fact.

    Attributes:
        fact: The fact as it is to be.
        replaced_by: The fact that closed its window, or that said the same before; `None`: it still holds, or ended by
            itself.
        is_confirmation: Whether another fact had said the same before, of the same time.
    """

    fact: Fact
    replaced_by: str | None
    is_confirmation: bool = False


def takes_part(fact: Fact, others: Mapping[str, Fact]) -> bool:
    """Whether a stored fact has a place in the succession of those with its subject and predicate.

    Live ones have, and those that gave way within it: that said again what another says, or held at no instant. What
    was closed for another reason stays closed, and quarantined facts change nothing.

    Args:
        fact: The fact.
        others: All stored facts with its subject and predicate, by id.
    """
    if fact.is_quarantined or fact.statement is None:
        return False
    if fact.is_live:
        return True
    closer = others.get(fact.invalidated_by or "")
    return closer is not None and (_value(closer) == _value(fact) or fact.valid_until == fact.valid_from)


def subject_of(fact: Fact) -> tuple[str, str]:
    """Subject and canonical predicate of a fact with a statement, as `MemoryStore.find_statements` takes them."""
    statement = _statement(fact)
    return statement.subject_id, canonical_predicate(statement.predicate)


def counted_statements(subjects: Iterable[tuple[str, str]], stored: Iterable[Fact]) -> tuple[ExpectedStatements, ...]:
    """How many of the stored facts state something of each of these subjects and predicates."""
    counts = Counter(subject_of(fact) for fact in stored)
    return tuple(
        ExpectedStatements(subject_id=subject, predicate=predicate, facts=counts[subject, predicate])
        for subject, predicate in sorted(set(subjects))
    )


def group_of(fact: Fact, single_valued: Collection[str]) -> tuple[str, ...]:
    """What the facts of one succession share.

    Args:
        fact: A fact with a statement.
        single_valued: Canonical predicates that hold one value at a time; of others each value is a succession.
    """
    statement = _statement(fact)
    if canonical_predicate(statement.predicate) in single_valued:
        return statement.key, statement.kind
    return statement.key, statement.kind, statement.value_key


def succession(facts: Sequence[Fact], single_valued: Collection[str]) -> list[Place]:
    """The windows of facts with statements, each in the succession that it belongs to; quarantined ones have none.

    Args:
        facts: All that take part.
        single_valued: As for `group_of`.
    """
    groups: dict[tuple[str, ...], list[Fact]] = {}
    for fact in facts:
        if not fact.is_quarantined:
            groups.setdefault(group_of(fact, single_valued), []).append(fact)
    return [place for group in groups.values() for place in places(group)]


def change_of(place: Place, before: Fact | None) -> Change:
    """What becomes of one fact, as a change of a plan."""
    reason = CONFIRMATION_REASON if place.is_confirmation else SUCCESSION_REASON
    return Change(before=before, after=place.fact, reason=reason, superseded_by=place.replaced_by)


def places(facts: Sequence[Fact]) -> list[Place]:
    """The window of each fact of one succession, in order of time.

    Facts are taken by start, then by when they were made, then by id. One that says what the one before says, without
    a gap between their windows, only confirms it: it is closed by the earlier one, which holds as long as either. One
    that says something else ends the window of the one before; where both begin at one instant, the one made later
    holds and the other never did.
    """
    runs: list[_Run] = []
    for fact in sorted(facts, key=lambda one: (one.valid_from, one.provenance.created_at, one.id)):
        last = runs[-1] if runs else None
        if last is not None and last.takes(fact):
            last.confirmed_by.append(fact)
            last.end = None if last.end is None or fact.valid_until is None else max(last.end, fact.valid_until)
            continue
        run = _Run(fact, fact.valid_until, [])
        if last is not None:
            last.next = run
            if last.end is None or last.end > fact.valid_from:
                last.end, last.is_cut = fact.valid_from, True
        runs.append(run)
    return [place for run in runs for place in _places_of(run)]


def _places_of(run: _Run) -> list[Place]:
    successor = None if run.next is None else run.next.head.id
    held = run.end is None or run.end > run.head.valid_from
    head = run.head.model_copy(update={"valid_until": run.end, "invalidated_by": None if held else successor})
    again = [
        Place(fact.model_copy(update={"invalidated_by": head.id}), head.id, is_confirmation=True)
        for fact in run.confirmed_by
    ]
    return [Place(head, successor if run.is_cut or not held else None), *again]


def _value(fact: Fact) -> str:
    return _statement(fact).value_key


def _statement(fact: Fact) -> Statement:
    assert fact.statement is not None  # noqa: S101 - only facts with a statement get here
    return fact.statement
