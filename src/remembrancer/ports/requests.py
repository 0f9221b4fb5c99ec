"""Requests that a caller may hand in as maps of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from remembrancer.records import InvalidInputError
from remembrancer.records.base import Request, translated

R = TypeVar("R", bound=Request)


def checked_request(model: type[R], value: object, *, field: str) -> R:
    """The request itself, or made from a map of its fields.

    Raises:
        InvalidInputError: Neither, or a field is wrong or unknown; names it within `field`.
    """
    if isinstance(value, model):
        return value
    if not isinstance(value, Mapping):
        problem = f"expected a {model.__name__} or a map of its fields, got {type(value).__name__}"
        raise InvalidInputError(field, problem)
    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        raise translated(error, within=field) from error
