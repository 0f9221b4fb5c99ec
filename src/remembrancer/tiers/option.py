"""How each tier is set up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import Field, ValidationError

from remembrancer.records import InvalidInputError
from remembrancer.records.base import Request, translated


class WorkingTier(Request):
    """The working tier.

    Attributes:
        max_items: How many items it holds, of all scopes together; beyond that those put in first go.
    """

    max_items: int = Field(default=1_000, ge=1)


class EpisodicTier(Request):
    """The episodic tier.

    Attributes:
        recency_weight: How much recency counts beside similarity, 0 to 1.
        half_life_days: After how many days recency has halved, above 0.
        is_daily: Whether an item without an id is one of its day (UTC), so that the same text on two days is two
            episodes; else the text alone makes it, and the later one replaces the earlier.
    """

    recency_weight: float = Field(default=0.3, ge=0, le=1, allow_inf_nan=False)
    half_life_days: float = Field(default=7.0, gt=0, allow_inf_nan=False)
    is_daily: bool = True


class ProceduralTier(Request):
    """The procedural tier.

    Attributes:
        reinforcement_weight: How much it counts beside similarity how often an item was remembered, 0 to 1.
    """

    reinforcement_weight: float = Field(default=0.3, ge=0, le=1, allow_inf_nan=False)


T = TypeVar("T", bound=Request)


def tier_option(value: object, kind: type[T], *, field: str) -> T | None:
    """Read how a tier is set up; `None`: it is off.

    Args:
        value: Whether it is on, or how, as an instance or a map of its fields.
        kind: What it is set up with.
        field: Names it in errors.

    Raises:
        InvalidInputError: Anything else, or a field out of its bounds; names it, for example `working.max_items`.
    """
    if value is False:
        return None
    if isinstance(value, kind):
        return value
    if value is not True and not isinstance(value, Mapping):
        raise InvalidInputError(field, f"expected true, false or {kind.__name__}, got {type(value).__name__}")
    try:
        return kind(**({} if value is True else dict(value)))
    except ValidationError as error:
        raise translated(error, within=field) from error
