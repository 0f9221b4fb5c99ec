"""What every store and index checks before it acts, so that all of them refuse the same calls in the same words.

Each function hands back the value in the form to work with, or raises `InvalidInputError` naming the argument.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from remembrancer.ports.store import Direction
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    EmbeddingSpace,
    Episode,
    Fact,
    InvalidInputError,
    RecordBatch,
)
from remembrancer.records.base import OpenMap, Record, translated
from remembrancer.records.fact import MAX_INTEGER
from remembrancer.records.instant import require_instant
from remembrancer.records.key import check_key, check_text, require_id, require_key
from remembrancer.records.statement import Statement, statement_key
from remembrancer.records.vector import stored_vector

R = TypeVar("R", bound=Record)

_OPEN_MAP: TypeAdapter[dict[str, Any]] = TypeAdapter(OpenMap)
_MAPS = ("attributes", "metadata")
_LISTS = ("entities", "relationships", "episodes", "facts", "themes", "claims", "assertions", "gate_passes")


def whole_number(value: object, *, field: str, least: int = 0, most: int = MAX_INTEGER) -> int:
    """An integer within bounds; a boolean is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInputError(field, f"expected an integer, got {type(value).__name__}")
    if not least <= value <= most:
        raise InvalidInputError(field, f"must be {least:,} to {most:,}, got {value:,}")
    return value


def page(limit: object, offset: object) -> tuple[int, int]:
    """How many records to return and how many to skip."""
    return whole_number(limit, field="limit"), whole_number(offset, field="offset")


def flag(value: object, *, field: str) -> bool:
    """True or false, and nothing that merely counts as such."""
    if not isinstance(value, bool):
        raise InvalidInputError(field, f"expected true or false, got {type(value).__name__}")
    return value


def text(value: object, *, field: str) -> str:
    """A text of any length that can be stored."""
    if not isinstance(value, str):
        raise InvalidInputError(field, f"expected text, got {type(value).__name__}")
    try:
        return check_text(value)
    except ValueError as error:
        raise InvalidInputError(field, str(error)) from error


def key(value: object, *, field: str) -> str:
    """A text that may be a filter; unlike `require_key` it may be empty, as a tag or a conversation may."""
    checked = text(value, field=field)
    try:
        return check_key(checked)
    except ValueError as error:
        raise InvalidInputError(field, str(error)) from error


def keys(values: object, *, field: str) -> tuple[str, ...]:
    """A list of texts that may be filters; a lone text is refused, it is not a list."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(field, f"expected a list of texts, got {type(values).__name__}")
    return tuple(key(value, field=f"{field}.{place}") for place, value in enumerate(values))


def moment(value: object, *, field: str) -> dt.datetime | None:
    """An instant, or `None`."""
    return None if value is None else require_instant(value, field=field)


def direction(value: object) -> Direction:
    """Which edges at an entity are meant."""
    for known in get_args(Direction):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise InvalidInputError("direction", f"expected one of {', '.join(get_args(Direction))}, got {value!r}")


def similarity(value: object, *, field: str = "min_similarity") -> float:
    """A least cosine, -1 to 1."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInputError(field, f"expected a number, got {type(value).__name__}")
    if not -1 <= value <= 1:  # refuses NaN as well
        raise InvalidInputError(field, f"must be -1 to 1, got {value}")
    return float(value)


def query_vector(embedding: object, *, dimensions: int | None, search: str) -> tuple[float, ...]:
    """A vector to search with, rounded to float32 like what is stored.

    Args:
        embedding: Any sequence of numbers, a numpy array among them.
        dimensions: Length of the embedding space; `None` accepts any length but zero.
        search: Name of the search, for the error.

    Raises:
        EmbeddingDimensionMismatchError: Another length than `dimensions`; the context is `search`.
        InvalidInputError: Not numbers, empty, all zero, NaN or infinite.
    """
    tolist = getattr(embedding, "tolist", None)
    numbers = tolist() if callable(tolist) else embedding
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Sequence):
        raise InvalidInputError("embedding", f"expected a list of numbers, got {type(numbers).__name__}")
    if dimensions is not None and len(numbers) != dimensions:
        raise EmbeddingDimensionMismatchError(dimensions, len(numbers), search)
    for place, number in enumerate(numbers):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise InvalidInputError(f"embedding.{place}", f"expected a number, got {type(number).__name__}")
    try:
        return stored_vector(numbers, dimensions=dimensions, field="embedding")
    except OverflowError as error:
        raise InvalidInputError("embedding", "an integer is too large for float32") from error


def checked_batch(batch: object, space: EmbeddingSpace | None) -> RecordBatch:
    """A batch as it is to be written: each id once a list, vectors in float32, open maps copied.

    Of two records with one id the last counts and keeps its place.

    Args:
        batch: What the caller handed in.
        space: The store's embedding space; `None` refuses every embedding.

    Raises:
        InvalidInputError: Not a batch, or a record that cannot be stored; names it, for example `facts.3.embedding`.
        EmbeddingDimensionMismatchError: A vector of another length than the embedding space; names it likewise.
    """
    if not isinstance(batch, RecordBatch):
        raise InvalidInputError("batch", f"expected a RecordBatch, got {type(batch).__name__}")
    checked: dict[str, object] = {}
    for name in _LISTS:
        records: Sequence[Record] = getattr(batch, name)
        if records:
            checked[name] = _last_of_each(
                [_checked(record, space, field=f"{name}.{place}") for place, record in enumerate(records)]
            )
    removals = {kind: tuple(dict.fromkeys(ids)) for kind, ids in batch.removals.items()}
    return batch.model_copy(update={**checked, "removals": removals})


def _last_of_each(records: Sequence[R]) -> tuple[R, ...]:
    kept: dict[str, R] = {}
    for record in records:
        record_id: str = record.id  # type: ignore[attr-defined]
        kept.pop(record_id, None)
        kept[record_id] = record
    return tuple(kept.values())


def _checked(record: R, space: EmbeddingSpace | None, *, field: str) -> R:
    changes: dict[str, object] = {}
    embedding = getattr(record, "embedding", None)
    if embedding is not None:
        changes["embedding"] = _stored(embedding, space, field=f"{field}.embedding")
    for name in _MAPS:
        if name in type(record).model_fields:
            # Records are frozen, but a map inside one can have been changed after it was checked.
            changes[name] = _copied_map(getattr(record, name), field=f"{field}.{name}")
    if isinstance(record, Fact) and record.statement is not None:
        changes["statement"] = copied_statement(record.statement, field=f"{field}.statement")
    if isinstance(record, Episode):
        changes["messages"] = tuple(
            _checked(message, space, field=f"{field}.messages.{place}") for place, message in enumerate(record.messages)
        )
    return record.model_copy(update=changes) if changes else record


def _stored(embedding: Sequence[float], space: EmbeddingSpace | None, *, field: str) -> tuple[float, ...]:
    if space is None:
        raise InvalidInputError(field, "the store has no embedding space; open it with one or leave the embedding out")
    return stored_vector(embedding, dimensions=space.dimensions, field=field)


def statement_keys(subjects: object, *, field: str = "subjects") -> list[str]:
    """Keys of statements, each once in order, for pairs of a subject's id and a predicate."""
    if isinstance(subjects, str | bytes) or not isinstance(subjects, Iterable):
        raise InvalidInputError(field, f"expected a list of subjects and predicates, got {type(subjects).__name__}")
    found: dict[str, None] = {}
    for place, pair in enumerate(subjects):
        if not isinstance(pair, Sequence) or isinstance(pair, str | bytes) or len(pair) != 2:
            raise InvalidInputError(f"{field}.{place}", "expected an entity's id and a predicate")
        subject_id = require_id(pair[0], field=f"{field}.{place}.0")
        found[statement_key(subject_id, require_key(pair[1], field=f"{field}.{place}.1"))] = None
    return list(found)


def copied_statement(statement: Statement, *, field: str = "statement") -> Statement:
    """A statement that shares nothing with the one given, should its value be a list or a map."""
    if not isinstance(statement.value, list | dict):
        return statement
    try:
        return Statement.model_validate(statement.model_dump())
    except ValidationError as error:
        raise translated(error, within=field) from error


def _copied_map(value: object, *, field: str) -> dict[str, Any]:
    try:
        return _OPEN_MAP.validate_python(value)
    except ValidationError as error:
        raise translated(error, within=field) from error
