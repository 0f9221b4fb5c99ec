"""Filters on the values of items, and patterns of their paths. Pure functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from remembrancer.records import InvalidInputError
from remembrancer.records.json_text import MAX_DEPTH

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS = ("$eq", "$ne", *_COMPARISONS)
"""What a filter may ask beside equality."""

ANY = "*"


def check_filter(wanted: object) -> Mapping[str, Any]:
    """Read a filter that a caller handed in.

    Raises:
        InvalidInputError: Not a map with text as keys, or an unknown operator; names `filter` and the place.
    """
    if wanted is None:
        return {}
    if not isinstance(wanted, Mapping):
        raise InvalidInputError("filter", f"expected a map, got {type(wanted).__name__}")
    _check(wanted, field="filter", depth=1)
    return wanted


def _check(wanted: Mapping[Any, Any], *, field: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInputError("filter", f"nested deeper than {MAX_DEPTH} levels")
    for key, value in wanted.items():
        if not isinstance(key, str):
            raise InvalidInputError(field, f"keys must be text, got {key!r}")
        if isinstance(value, Mapping):
            if _asks(value) and not set(value) <= set(OPERATORS):
                unknown = sorted(map(str, set(value) - set(OPERATORS)))
                raise InvalidInputError(
                    f"{field}.{key}", f"unknown: {', '.join(unknown)}; known: {', '.join(OPERATORS)}"
                )
            _check(value, field=f"{field}.{key}", depth=depth + 1)


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value passes every condition of a filter.

    A condition is a value to be equal to, a map of operators, or a map of conditions on what is inside. Comparisons
    hold between numbers (a text that is one counts), and between two other texts; else they do not hold.
    """
    return all(_holds(value.get(key), condition) for key, condition in wanted.items())


def _holds(value: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        if _asks(condition):
            return all(_compares(value, asked, against) for asked, against in condition.items())
        return isinstance(value, Mapping) and passes(value, condition)
    if isinstance(condition, list | tuple):
        return isinstance(value, list | tuple) and len(value) == len(condition) and all(map(_holds, value, condition))
    return _is_equal(value, condition)


def _asks(condition: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in condition)


def _is_equal(value: object, other: object) -> bool:
    # In JSON true is not 1.
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def _compares(value: object, asked: str, against: object) -> bool:
    if asked == "$eq":
        return _is_equal(value, against)
    if asked == "$ne":
        return not _is_equal(value, against)
    numbers = _number(value), _number(against)
    if numbers[0] is not None and numbers[1] is not None:
        return _COMPARISONS[asked](*numbers)
    if isinstance(value, str) and isinstance(against, str):
        return _COMPARISONS[asked](value, against)
    return False


def _number(value: object) -> float | int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def matches(path: Sequence[str], pattern: Sequence[str], *, at_end: bool) -> bool:
    """Whether a path begins, or ends, with a pattern in which `*` stands for any one label."""
    if len(path) < len(pattern):
        return False
    part = path[len(path) - len(pattern) :] if at_end else path[: len(pattern)]
    return all(wanted in (ANY, label) for label, wanted in zip(part, pattern, strict=True))
