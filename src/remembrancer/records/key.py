"""Texts, and those among them that become keys or filters: ids, namespaces, tags, types, run ids.

Keys have at most 1,000 bytes of UTF-8. The limit protects the database: an indexed string of 32,767 bytes makes
Neo4j fail for good, recovery included, and range indexes fail from about 8,000 bytes on.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from remembrancer.records.errors import InvalidInputError

MAX_KEY_BYTES = 1000
"""The most bytes of UTF-8 that a key or a filter may have."""

NewId = Callable[[], str]
"""Makes a fresh id; handed in wherever one is needed, so that every run can be replayed."""

_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    r"|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff",
    re.IGNORECASE | re.ASCII,
)


def random_id() -> str:
    """A fresh random UUID."""
    return str(uuid.uuid4())


def check_text(value: str) -> str:
    """Pass a text that can be stored.

    Raises:
        ValueError: It has a lone surrogate, for which there is no UTF-8.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("a lone surrogate is not a character and cannot be stored") from error
    return value


def check_key(value: str) -> str:
    """Pass a text that is fit to be a key.

    Raises:
        ValueError: More than `MAX_KEY_BYTES` bytes, or not fit to be stored at all.
    """
    size = len(check_text(value).encode("utf-8"))
    if size > MAX_KEY_BYTES:
        raise ValueError(f"{size:,} bytes of UTF-8; keys and filters have at most {MAX_KEY_BYTES:,}")
    return value


def check_id(value: str) -> str:
    """Pass a text that is an RFC 9562 UUID in its hyphenated form; upper case is kept.

    Raises:
        ValueError: Anything else.
    """
    if not _UUID.fullmatch(value):
        raise ValueError("not an id, which is a UUID such as 6ba7b810-9dad-41d1-80b4-00c04fd430c8")
    return value


def require_key(value: object, *, field: str) -> str:
    """Read a non-empty key that a caller handed in.

    Raises:
        InvalidInputError: Not a text, empty, or not fit to be a key; names `field`.
    """
    if not isinstance(value, str):
        raise InvalidInputError(field, f"expected text, got {type(value).__name__}")
    if not value:
        raise InvalidInputError(field, "must not be empty")
    try:
        return check_key(value)
    except ValueError as error:
        raise InvalidInputError(field, str(error)) from error


def require_keys(values: object, *, field: str) -> tuple[str, ...]:
    """Read a list of non-empty keys that a caller handed in; a lone text is refused, it is not a list.

    Raises:
        InvalidInputError: As `require_key`, naming `field` and the place in the list.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(field, f"expected a list of texts, got {type(values).__name__}")
    return tuple(require_key(value, field=f"{field}.{place}") for place, value in enumerate(values))


def require_id(value: object, *, field: str) -> str:
    """Read an id that a caller handed in.

    Raises:
        InvalidInputError: Not a UUID; names `field`.
    """
    if not isinstance(value, str):
        raise InvalidInputError(field, f"expected a UUID as text, got {type(value).__name__}")
    try:
        return check_id(value)
    except ValueError as error:
        raise InvalidInputError(field, str(error)) from error


def require_ids(values: object, *, field: str) -> tuple[str, ...]:
    """Read a list of ids that a caller handed in.

    Raises:
        InvalidInputError: As `require_id`, naming `field` and the place in the list.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(field, f"expected a list of UUIDs, got {type(values).__name__}")
    return tuple(require_id(value, field=f"{field}.{place}") for place, value in enumerate(values))


def derived_id(*parts: str | None) -> str:
    """A UUID (version 5) made from the parts alone: the same parts give the same id, everywhere.

    An absent part differs from an empty one, and the parts' borders count.
    """
    text = "".join("-" if part is None else f"{len(part)}:{part}" for part in parts)
    return str(uuid.uuid5(_DERIVED, text))


_DERIVED = uuid.uuid5(uuid.NAMESPACE_OID, "remembrancer")

Text = Annotated[str, AfterValidator(check_text)]
"""A field that holds text of any length."""

NonEmptyText = Annotated[str, StringConstraints(min_length=1), AfterValidator(check_text)]
"""A text of at least one character."""

Key = Annotated[str, AfterValidator(check_key)]
"""A field that becomes a key or a filter."""

NonEmptyKey = Annotated[str, StringConstraints(min_length=1), AfterValidator(check_key)]
"""A key of at least one character."""

Id = Annotated[str, AfterValidator(check_id)]
"""A field that holds a UUID."""


def without_repeats(values: Iterable[str]) -> tuple[str, ...]:
    """The values in their order, each once: where it came first."""
    return tuple(dict.fromkeys(values))
