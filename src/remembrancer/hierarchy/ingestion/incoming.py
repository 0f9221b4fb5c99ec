"""Messages on their way in: checked one by one, handed on in portions cut from the input alone."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence

from pydantic import ValidationError

from remembrancer.records import InvalidInputError, Message
from remembrancer.records.base import translated

Incoming = Iterable[Message | Mapping[str, object]] | AsyncIterable[Message | Mapping[str, object]]
"""Messages, or maps of their fields, as a list, a stream or an asynchronous stream."""


def as_message(value: object, *, field: str) -> Message:
    """The message of a record or of a map of its fields.

    Raises:
        InvalidInputError: Neither, or a field is wrong; names it.
    """
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInputError(field, f"expected a Message or a map of its fields, got {type(value).__name__}")
    for name in value:
        if name not in Message.model_fields:
            known = ", ".join(Message.model_fields)
            raise InvalidInputError(
                f"{field}.{name}", f"no such field of a message ({known}); put extras into metadata"
            )
    try:
        return Message.model_validate(dict(value))
    except ValidationError as error:
        raise translated(error, within=field) from error


async def portions(messages: Incoming, *, size: int, keep_cut_short: bool) -> AsyncIterator[list[Message]]:
    """The messages in lists of `size`, the last one shorter.

    A list is checked whole before its first portion is handed on, so that one bad message in it stops everything. Of
    a stream, which may fail or bring a bad message at any time, each message is checked when it is its turn.

    Args:
        messages: What the caller handed in.
        size: The length of a portion, 1 or more.
        keep_cut_short: Whether, when a stream fails, the messages that came since the last whole portion are handed
            on before the error is.

    Raises:
        InvalidInputError: A message is wrong; names its place.
    """
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes):
        checked = [as_message(value, field=f"messages.{place}") for place, value in enumerate(messages)]
        for start in range(0, len(checked), size):
            yield checked[start : start + size]
        return
    portion: list[Message] = []
    failure: Exception | None = None
    checked_stream = _checked(messages)
    while failure is None:
        try:
            portion.append(await anext(checked_stream))
        except StopAsyncIteration:
            break
        except Exception as error:  # the caller's stream may raise anything; it is raised again below
            failure = error
        if failure is None and len(portion) == size:
            yield portion
            portion = []
    if portion and (failure is None or keep_cut_short):
        yield portion
    if failure is not None:
        raise failure


async def _checked(messages: object) -> AsyncIterator[Message]:
    place = 0
    async for value in _stream(messages):
        yield as_message(value, field=f"messages.{place}")
        place += 1


async def _stream(messages: object) -> AsyncIterator[object]:
    if isinstance(messages, AsyncIterable):
        async for value in messages:
            yield value
    elif isinstance(messages, Iterable) and not isinstance(messages, str | bytes | Mapping):
        for value in messages:
            yield value
    else:
        raise InvalidInputError("messages", f"expected messages, got {type(messages).__name__}")


__all__ = ["Incoming", "as_message", "portions"]
