"""A conflict between two facts, and what a policy says of it. Everything here is pure."""

from __future__ import annotations

import datetime as dt
from typing import Literal, NamedTuple, get_args

from remembrancer.lifecycle.words import contains_negation
from remembrancer.records import InvalidInputError
from remembrancer.records.base import Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, NonEmptyText

ConflictKind = Literal["negation", "supersession", "semantic_contradiction"]
"""One says what the other denies; one replaces the other in time; both are about one thing and say it differently."""

ConflictPolicy = Literal["manual-review", "supersede-on-newer", "negation-invalidates-positive"]
"""What is done without asking: nothing; the newer one is kept; the newer one is kept where that is beyond doubt."""

Resolution = Literal["keep_a", "keep_b", "keep_both"]
"""What is done with one conflict."""

Preference = Literal["newer", "negation"]
"""What the policy `negation-invalidates-positive` keeps of a negation: the newer fact, or always the negated one."""


class ConflictingFact(Record):
    """What a conflict says of one of its two facts."""

    id: Id
    content: NonEmptyText
    valid_from: Instant


class Conflict(Record):
    """Two facts that cannot both be the last word.

    Attributes:
        kind: The earliest kind that applies, in the order of `ConflictKind`.
        confidence: 0 to 1; 0.8 for a negation, 0.9 for a supersession, 0.3 to 0.7 for a contradiction, which is the
            surer the fewer words the shorter text has.
        a: The one that is listed first; of a contradiction the one that was searched from.
        b: The other.
    """

    kind: ConflictKind
    confidence: float
    a: ConflictingFact
    b: ConflictingFact


class Verdict(NamedTuple):
    """What becomes of a conflict, and why in words."""

    resolution: Resolution | None
    action: str


SKIPPED = Verdict(None, "skipped: manual review required")


def require_policy(value: object, *, field: str) -> ConflictPolicy:
    """Read the name of a policy.

    Raises:
        InvalidInputError: There is none of that name; names `field`.
    """
    for known in get_args(ConflictPolicy):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise InvalidInputError(field, f"expected one of {', '.join(get_args(ConflictPolicy))}, got {value!r}")


def require_preference(value: object, *, field: str) -> Preference:
    """Read which side of a negation is kept.

    Raises:
        InvalidInputError: Neither `newer` nor `negation`; names `field`.
    """
    for known in get_args(Preference):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise InvalidInputError(field, f"expected one of {', '.join(get_args(Preference))}, got {value!r}")


def verdict(conflict: Conflict, policy: ConflictPolicy, *, prefer: Preference = "newer") -> Verdict:
    """What a policy does with a conflict.

    Args:
        conflict: The conflict.
        policy: `manual-review` skips it. `supersede-on-newer` keeps the later `valid_from`, of equal ones the smaller
            id. `negation-invalidates-positive` does so for supersessions, skips contradictions, and of a negation
            keeps the later one, or of equal ones the negated one.
        prefer: `negation`: of a negation that last policy keeps the negated one always.
    """
    if policy == "manual-review":
        return SKIPPED
    if policy == "negation-invalidates-positive":
        if conflict.kind == "semantic_contradiction":
            return Verdict(None, "requires manual review")
        if conflict.kind == "negation" and prefer == "negation":
            return Verdict(_negated(conflict), "negation kept, positive fact invalidated")
        if conflict.kind == "negation" and conflict.a.valid_from == conflict.b.valid_from:
            return Verdict(_negated(conflict), "same timestamp: negation kept, positive fact invalidated")
    return _newer(conflict)


def age_gap(a: dt.datetime, b: dt.datetime) -> float:
    """Days between two instants, 0 or more."""
    return abs(a - b) / dt.timedelta(days=1)


def _newer(conflict: Conflict) -> Verdict:
    a, b = conflict.a, conflict.b
    if a.valid_from == b.valid_from:
        return Verdict("keep_a" if a.id < b.id else "keep_b", "same timestamp, kept lexicographically smaller ID")
    return Verdict("keep_a" if a.valid_from > b.valid_from else "keep_b", "newer fact kept, older fact invalidated")


def _negated(conflict: Conflict) -> Resolution:
    return "keep_a" if contains_negation(conflict.a.content) else "keep_b"
