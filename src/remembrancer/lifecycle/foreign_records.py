"""What a record of another memory becomes here, and reading its fields."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from remembrancer.records import Entity, Episode, Fact, InvalidInputError, Relationship, Theme
from remembrancer.records.instant import parse_instant
from remembrancer.records.key import check_text, derived_id

NO_START = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
"""From when on what has no time of its own holds, and is known."""

_MAX_TAG = 1_000


@dataclass
class Taken:
    """The records that a foreign one becomes.

    Attributes:
        vectors: Embeddings that came with them, by id.
        left: Names of fields that found no place, and why.
    """

    entities: list[Entity] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    themes: list[Theme] = field(default_factory=list)
    vectors: dict[str, list[float]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def foreign_id(kind: str, given: str) -> str:
    """A UUID stays what it is; any other id gives one that is made from it."""
    try:
        return str(uuid.UUID(given))
    except ValueError:
        return derived_id(kind, given)


def text(record: Mapping[str, Any], *names: str, needed: bool = False) -> str | None:
    """The first of these fields that has a text.

    Raises:
        InvalidInputError: One is no text; or none is there, and it is needed.
    """
    for name in names:
        value = record.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(name, f"expected text, got {type(value).__name__}")
        if value:
            return _storable(name, value)
    if needed:
        raise InvalidInputError(names[0], "missing")
    return None


def instant(record: Mapping[str, Any], *names: str) -> dt.datetime | None:
    """The first of these fields that has a time.

    Raises:
        InvalidInputError: One is no time.
    """
    for name in names:
        value = record.get(name)
        if value is None or value == "":
            continue
        try:
            # Neo4j and some dumps write nanoseconds; instants here are kept to the microsecond.
            return parse_instant(_without_nanoseconds(value) if isinstance(value, str) else value)
        except (ValueError, OverflowError) as error:
            raise InvalidInputError(name, str(error)) from error
    return None


def _without_nanoseconds(value: str) -> str:
    whole, point, rest = value.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    return f"{whole}{point}{rest[: min(digits, 6)]}{rest[digits:]}" if point else value


def mapping(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object, empty where it is absent.

    Raises:
        InvalidInputError: Something else.
    """
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(name, f"expected an object, got {type(value).__name__}")
    return value


def texts(record: Mapping[str, Any], name: str) -> list[str]:
    """A list of texts, empty where it is absent.

    Raises:
        InvalidInputError: Something else.
    """
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise InvalidInputError(name, "expected a list of texts")
    return [_storable(name, one) for one in value]


def _storable(name: str, value: str) -> str:
    try:
        return check_text(value)
    except ValueError as error:
        raise InvalidInputError(name, str(error)) from error


def vector(record: Mapping[str, Any], name: str) -> list[float] | None:
    """A vector, `None` where it is absent.

    Raises:
        InvalidInputError: Something else.
    """
    value = record.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in value
    ):
        raise InvalidInputError(name, "expected a list of numbers")
    try:
        return [float(one) for one in value]
    except OverflowError as error:
        raise InvalidInputError(name, "a number out of range") from error


def tag(taken: Taken, name: str, value: object) -> list[str]:
    """A field as a tag, `name:value`; none for what is absent; what is longer than a tag may be is noted as left."""
    if value is None or value in ("", [], {}):
        return []
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    made = f"{name}:{told}"
    if len(made.encode("utf-8", "surrogatepass")) > _MAX_TAG:
        taken.left.append(f"{name} (too long for a tag)")
        return []
    return [made]


def leave(taken: Taken, record: Mapping[str, Any], known: frozenset[str]) -> None:
    """Note the fields that nothing here has read."""
    taken.left += [name for name, value in record.items() if name not in known and value is not None]
