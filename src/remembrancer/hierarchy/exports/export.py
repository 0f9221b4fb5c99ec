"""An export that was read: its messages, and everything in it that is none, with the reason."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from remembrancer.records import InvalidInputError, Message
from remembrancer.records.base import translated
from remembrancer.records.instant import parse_instant
from remembrancer.records.message import Role

_TICK = dt.timedelta(microseconds=1)


class ExportFormat(StrEnum):
    """Whose export it is."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    GEMINI = "gemini"


class Branches(StrEnum):
    """Which branches of a conversation are read, where messages were edited or answers made anew."""

    CURRENT = "current"
    ALL = "all"


@dataclass(frozen=True)
class Skipped:
    """A part of an export that is not in its messages.

    Attributes:
        place: Where it is, for example `3.mapping.9f2a.content.parts.1`: the fourth conversation's.
        reason: What it is: `image`, `tool call`, `reasoning`, `empty`, `other branch` and the like.
    """

    place: str
    reason: str


@dataclass(frozen=True)
class Export:
    """What an export holds.

    Attributes:
        format: Whose it is.
        messages: In the order of the export's conversations, each from its beginning.
        skipped: What is no message, in the order of the export.
        estimated_times: How many messages had no time of their own and got one from those around them.
    """

    format: ExportFormat
    messages: tuple[Message, ...]
    skipped: tuple[Skipped, ...]
    estimated_times: int = 0

    @property
    def skipped_by_reason(self) -> dict[str, int]:
        """How much was skipped, by reason, most first."""
        return dict(Counter(one.reason for one in self.skipped).most_common())


class Draft:
    """Gathers an export's messages while it is read."""

    def __init__(self, export_format: ExportFormat, *, speaker: str | None) -> None:
        self._format = export_format
        self._speaker = speaker
        self._messages: list[Message] = []
        self._skipped: list[Skipped] = []
        self._estimated = 0

    def skip(self, place: str, reason: str) -> None:
        """Note a part that is no message."""
        self._skipped.append(Skipped(place, reason))

    def add(
        self,
        place: str,
        *,
        role: Role,
        text: str,
        conversation: str | None,
        at: dt.datetime,
        is_estimated: bool = False,
        about: Mapping[str, Any],
    ) -> None:
        """Add a message; one without text is skipped as empty.

        Raises:
            InvalidInputError: It cannot be stored; names the place and the field.
        """
        if not text.strip():
            self.skip(place, "empty")
            return
        self._estimated += is_estimated
        metadata = {"export": self._format.value, **{key: value for key, value in about.items() if value is not None}}
        try:
            message = Message(
                role=role,
                content=text,
                timestamp=at,
                conversation=conversation,
                speaker=self._speaker if role == "user" else None,
                metadata=metadata,
            )
        except ValidationError as error:
            raise translated(error, within=place) from error
        self._messages.append(message)

    def finished(self) -> Export:
        """What was gathered."""
        return Export(self._format, tuple(self._messages), tuple(self._skipped), self._estimated)


class Clockwork:
    """Times of a conversation's messages: their own, else right after the message before."""

    def __init__(self, beginning: dt.datetime | None) -> None:
        self._last = beginning

    def at(self, told: dt.datetime | None, *, place: str) -> tuple[dt.datetime, bool]:
        """When a message was said, and whether that is an estimate.

        Raises:
            InvalidInputError: Nothing in the conversation so far has a time.
        """
        if told is not None:
            self._last = told
            return told, False
        if self._last is None:
            raise InvalidInputError(place, "neither the message, nor one before it, nor the conversation has a time")
        self._last = right_after(self._last, place=place)
        return self._last, True


def right_after(at: dt.datetime, *, place: str) -> dt.datetime:
    """The next instant.

    Raises:
        InvalidInputError: There is none; names the place.
    """
    try:
        return at + _TICK
    except OverflowError as error:
        raise InvalidInputError(place, f"nothing can come after {at.isoformat()}") from error


def called(value: object) -> str:
    """A value in a few words, for the reason why something is skipped."""
    return str(value)[:80] if value is None or isinstance(value, str | int | float) else type(value).__name__


def time_of(value: object, *, place: str, in_seconds: bool = False) -> dt.datetime | None:
    """Read a time: ISO text, or seconds since 1970 where `in_seconds`; `None` when there is none.

    Raises:
        InvalidInputError: It is no time; names the place.
    """
    if value is None or value == "":
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number != in_seconds:
        expected = "seconds since 1970" if in_seconds else "a time as text"
        raise InvalidInputError(place, f"expected {expected}, got {value!r}")
    try:
        return parse_instant(value * 1000 if isinstance(value, int | float) else value)
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(place, str(error)) from error


def mapping_at(value: object, *, place: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        InvalidInputError: Something else; names the place.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(place, f"expected an object, got {type(value).__name__}")
    return value


def list_at(value: object, *, place: str) -> list[Any]:
    """A JSON list.

    Raises:
        InvalidInputError: Something else; names the place.
    """
    if not isinstance(value, list):
        raise InvalidInputError(place, f"expected a list, got {type(value).__name__}")
    return value


def text_or_none(value: object, *, place: str) -> str | None:
    """A text, or `None` where there is none or an empty one.

    Raises:
        InvalidInputError: Something else; names the place.
    """
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(place, f"expected text, got {type(value).__name__}")
    return value or None
