"""What every record and every request has in common.

Records are frozen, keep unknown fields out and coerce nothing: a number given as text is an error, not a number.
Requests (queries, options, policies) refuse unknown fields, since a misspelt option would silently do nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from remembrancer.records.errors import InvalidInputError
from remembrancer.records.json_text import check_depth
from remembrancer.records.key import check_text


class Record(BaseModel):
    """Base of what is stored: frozen, strict, drops unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Request(BaseModel):
    """Base of what is asked: frozen, strict, refuses unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


def check_ordered(value: object) -> object:
    """Pass anything but a set, whose order is an accident.

    Raises:
        ValueError: It is a set.
    """
    if isinstance(value, set | frozenset):
        raise ValueError("a set has no order; give a list")
    return value


T = TypeVar("T")
if TYPE_CHECKING:
    Listed = Sequence
else:
    Listed = Annotated[tuple[T, ...], Field(strict=False), BeforeValidator(check_ordered)]
"""A field that keeps a list in its order, as a tuple; a list may be given, and type checkers know that."""


def _check_open_map(value: dict[str, Any]) -> dict[str, Any]:
    if not value:
        return {}
    try:
        copied = json.loads(json.dumps(value, ensure_ascii=True, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not storable as JSON: {error}") from error
    # Not before: this walk would never leave a map that contains itself.
    _check_keys(value)
    check_depth(copied)
    assert isinstance(copied, dict)  # noqa: S101 - a JSON object comes back as one
    return copied


def _check_keys(value: object) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise ValueError(f"keys must be text, got {key!r}")
                check_text(key)
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)


OpenMap = Annotated[dict[str, Any], AfterValidator(_check_open_map)]
"""A field with any JSON object, copied on the way in: nesting, up to 100 levels, big integers and null are kept; NaN
and infinity are refused."""

R = TypeVar("R", bound=BaseModel)


def build(model: type[R], /, **values: object) -> R:
    """Make a request or record from a caller's arguments.

    Raises:
        InvalidInputError: A value is wrong; names the first field and its problem.
    """
    try:
        return model(**values)
    except ValidationError as error:
        raise translated(error) from error


def translated(error: ValidationError, *, within: str = "") -> InvalidInputError:
    """The library's own error for pydantic's: the first field that is wrong, and why."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    field = ".".join(part for part in (within, place) if part)
    problem = first["msg"].removeprefix("Value error, ")
    return InvalidInputError(field or error.title, problem[:1].lower() + problem[1:])
