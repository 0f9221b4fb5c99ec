"""Instants: aware UTC, to the microsecond.

A naive `datetime` object is refused, since guessing its zone is how memories get wrong dates. Text without an offset
is read as UTC, a date alone as midnight UTC, an integer as milliseconds since 1970.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator

from remembrancer.records.errors import InvalidInputError

Clock = Callable[[], dt.datetime]
"""Gives the current instant; handed in wherever a time is needed, so that every run can be replayed."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_BELOW_MICROSECONDS = re.compile(r"[.,]\d{6}\d*[1-9]")


def system_clock() -> dt.datetime:
    """The machine's clock, in UTC."""
    return dt.datetime.now(dt.UTC)


def parse_instant(value: object) -> dt.datetime:
    """Read an instant.

    Args:
        value: An aware `datetime`, ISO 8601 text, or milliseconds since 1970-01-01T00:00Z.

    Raises:
        ValueError: The value is none of these, is naive, is finer than a microsecond or outside years 1 to 9999.
    """
    if isinstance(value, dt.datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            raise ValueError("a naive datetime has no instant; give it a time zone, for example tzinfo=datetime.UTC")
        if getattr(value, "nanosecond", 0):  # subclasses of other libraries have it
            raise ValueError("instants are kept to the microsecond; the datetime is finer than that")
        return _to_utc(value)
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return _EPOCH + dt.timedelta(milliseconds=value)
        except (OverflowError, ValueError) as error:
            raise ValueError("milliseconds since 1970 outside years 1 to 9999") from error
    raise ValueError("expected an aware datetime, ISO 8601 text or milliseconds since 1970")


def _parse_text(text: str) -> dt.datetime:
    if ("." in text or "," in text) and _BELOW_MICROSECONDS.search(text):  # most have no fraction, and there are many
        raise ValueError("instants are kept to the microsecond; the text is finer than that")
    try:
        parsed = dt.datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError("not an ISO 8601 date or time") from error
    return _to_utc(parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=dt.UTC))


def _to_utc(value: dt.datetime) -> dt.datetime:
    if value.tzinfo is dt.UTC and type(value) is dt.datetime and not value.fold:  # what is read back from a store
        return value
    try:
        moved = value.astimezone(dt.UTC)
    except (OverflowError, ValueError) as error:
        raise ValueError("outside years 1 to 9999 in UTC") from error
    return dt.datetime(
        moved.year, moved.month, moved.day, moved.hour, moved.minute, moved.second, moved.microsecond, dt.UTC
    )


def require_instant(value: object, *, field: str) -> dt.datetime:
    """Read an instant that a caller handed in.

    Raises:
        InvalidInputError: As `parse_instant`, naming `field`.
    """
    try:
        return parse_instant(value)
    except ValueError as error:
        raise InvalidInputError(field, str(error)) from error


Instant = Annotated[dt.datetime, BeforeValidator(parse_instant)]
"""A field that holds an instant; reads what `parse_instant` reads."""
