"""Checks of what callers hand to a stage: options when it is made, records when it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from remembrancer.records import InvalidInputError
from remembrancer.records.number import is_finite

T = TypeVar("T")


def require_number(value: object, *, field: str, least: float | None = None) -> float:
    """Read a finite number.

    Raises:
        InvalidInputError: Not a number, a boolean, NaN, infinite, or below `least`; names `field`.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInputError(field, f"expected a number, got {type(value).__name__}")
    if not is_finite(value):
        raise InvalidInputError(field, f"expected a finite number, got {value}")
    if least is not None and value < least:
        raise InvalidInputError(field, f"must be at least {least:g}, got {value}")
    return value


def require_integer(value: object, *, field: str, least: int = 0) -> int:
    """Read an integer.

    Raises:
        InvalidInputError: Not an integer, a boolean, or below `least`; names `field`.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError(field, f"expected an integer, got {type(value).__name__}")
    if value < least:
        raise InvalidInputError(field, f"must be at least {least}, got {value}")
    return value


def require_flag(value: object, *, field: str) -> bool:
    """Read a boolean.

    Raises:
        InvalidInputError: Anything else; names `field`.
    """
    if not isinstance(value, bool):
        raise InvalidInputError(field, f"expected True or False, got {type(value).__name__}")
    return value


def require_records(values: Iterable[T], kind: type[T], *, field: str) -> tuple[T, ...]:
    """Read a list of records of one kind.

    Raises:
        InvalidInputError: Not a list, or something else in it; names `field` and the place in the list.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(field, f"expected a list of {kind.__name__} records, got {type(values).__name__}")
    listed = tuple(values)
    for place, value in enumerate(listed):
        if not isinstance(value, kind):
            raise InvalidInputError(f"{field}.{place}", f"expected {kind.__name__}, got {type(value).__name__}")
    return listed


def require_record(value: object, kind: type[T], *, field: str) -> T:
    """Read one record.

    Raises:
        InvalidInputError: Anything else; names `field`.
    """
    if not isinstance(value, kind):
        raise InvalidInputError(field, f"expected {kind.__name__}, got {type(value).__name__}")
    return value
