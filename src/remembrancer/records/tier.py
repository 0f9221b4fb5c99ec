"""Items of the memory tiers: short texts that an agent keeps beside its conversations, each in a scope of its own.

Scopes are compared by exact equality. No scope is a scope too: it sees the items without one and no others.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field

from remembrancer.records.base import OpenMap, Record, Request
from remembrancer.records.errors import InvalidInputError
from remembrancer.records.instant import Instant
from remembrancer.records.key import NonEmptyKey, NonEmptyText
from remembrancer.records.vector import Embedding

Tier = Literal["working", "semantic", "episodic", "procedural"]
"""Which kind of memory: what is at hand, what is so, what happened, how things are done."""

TIERS: tuple[Tier, ...] = get_args(Tier)

DURABLE_TIERS: tuple[Tier, ...] = ("semantic", "episodic", "procedural")
"""The tiers that are kept in the store; `working` lives in the process."""


class TierEntry(Request):
    """What is to be remembered.

    Attributes:
        text: What it says.
        tier: Where to; by default the default tier.
        id: Under which it is overwritten when it is remembered again in the same scope; by default made from the text.
        scope: Whose it is; `None`: without a scope.
        metadata: Any JSON object.
    """

    text: NonEmptyText
    tier: Tier | None = None
    id: NonEmptyKey | None = None
    scope: NonEmptyKey | None = None
    metadata: OpenMap | None = None


class TierItem(Record):
    """An item of a durable tier, as a store keeps it.

    Attributes:
        tier: Not `working`.
        scope: Whose it is; `None`: without a scope.
        id: Unique within tier and scope.
        text: What it says.
        metadata: Any JSON object.
        embedding: Of the text.
        remembered_at: When it was remembered last.
        uses: How often it was remembered.
    """

    tier: Literal["semantic", "episodic", "procedural"]
    scope: NonEmptyKey | None = None
    id: NonEmptyKey
    text: NonEmptyText
    metadata: OpenMap | None = None
    embedding: Embedding
    remembered_at: Instant
    uses: int = Field(default=1, ge=1)


class TierHit(Record):
    """An item that a recall found.

    Attributes:
        id: Unique within tier and scope.
        text: What it says.
        tier: Where it was found.
        score: 0 to 1; how it is made depends on the tier.
        metadata: As it was remembered; `None`: without.
    """

    id: str
    text: str
    tier: Tier
    score: float = Field(ge=0, le=1)
    metadata: dict[str, Any] | None = None


def require_tier(value: object, *, field: str = "tier") -> Tier:
    """Read the name of a tier.

    Raises:
        InvalidInputError: There is no such tier; names `field`.
    """
    for tier in TIERS:
        if value == tier:
            return tier
    raise InvalidInputError(field, f"expected one of {', '.join(TIERS)}, got {value!r}")
