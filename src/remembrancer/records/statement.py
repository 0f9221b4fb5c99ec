"""Statements: the triple inside a fact that makes it more than a sentence: of whom, what, and which value."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, model_validator

from remembrancer.records.base import Record
from remembrancer.records.json_text import check_depth
from remembrancer.records.key import Id, NonEmptyKey, Text, check_key, check_text

StatementKind = Literal["atomic", "document"]

_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_GAP = re.compile(r"[\s_-]+")


def _copied_value(value: Any) -> Any:
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False)
        check_text(json.dumps(value, ensure_ascii=False))
        copied = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not storable as JSON: {error}") from error
    if copied != value and not isinstance(value, tuple):
        raise ValueError("not storable as JSON: keys must be text, lists must be lists")
    check_depth(copied)
    return copied


def _check_predicate(value: str) -> str:
    canonical = canonical_predicate(value)
    if not canonical:
        raise ValueError("needs a character besides blanks, dashes and underscores")
    check_key(canonical)  # it may be longer: `_` comes before each capital
    return value


class Statement(Record):
    """What a fact says of its subject.

    Attributes:
        subject_id: The entity that it is about; need not be stored.
        predicate: For example `works_at` or `port`; compared in the form of `canonical_predicate`.
        object_id: The entity that it points to; such a statement is an edge of the graph as well.
        value: A literal instead of an entity: any JSON value, nested up to 100 levels; `None`: there is none.
        details: More in words; the body of a document.
        kind: `atomic`, or `document` for a longer text about the subject.
    """

    subject_id: Id
    predicate: Annotated[NonEmptyKey, AfterValidator(_check_predicate)]
    object_id: Id | None = None
    value: Annotated[Any, AfterValidator(_copied_value)] = None
    details: Text | None = None
    kind: StatementKind = "atomic"

    @model_validator(mode="after")
    def _has_one_object(self) -> Self:
        if self.object_id is not None and self.value is not None:
            raise ValueError("a statement has an object or a value, not both")
        return self

    @property
    def key(self) -> str:
        """Digest of subject and predicate, under which statements that may replace one another meet."""
        return statement_key(self.subject_id, self.predicate)

    @property
    def value_key(self) -> str:
        """A text that two statements of one subject and predicate share exactly when they say the same.

        Texts are compared without case and surplus white space; of numbers 1 and 1.0 are equal, 1, `"1"` and `true`
        are not; in containers the order of a list counts, that of keys does not.
        """
        value = " ".join(self.value.split()).lower() if isinstance(self.value, str) else _plain(self.value)
        return json.dumps([self.kind, self.object_id, value], ensure_ascii=True, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def canonical_predicate(predicate: str) -> str:
    """The form in which predicates are compared: `worksAt`, `Works at` and `works-at` are all `works_at`."""
    return _GAP.sub("_", _HUMP.sub(r"\1_\2", predicate).lower()).strip("_")


def statement_key(subject_id: str, predicate: str) -> str:
    """Digest of a subject and a predicate: SHA-256, in hex."""
    text = json.dumps([subject_id, canonical_predicate(predicate)], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def composed_content(statement: Statement, name_of: Callable[[str], str]) -> str:
    """The statement as a sentence: subject, predicate in words, object or value.

    Args:
        statement: What is said.
        name_of: Gives the name of an entity by its id.
    """
    words = [name_of(statement.subject_id), *canonical_predicate(statement.predicate).split("_")]
    if statement.object_id is not None:
        words.append(name_of(statement.object_id))
    elif isinstance(statement.value, str):
        words.append(statement.value)
    elif statement.value is not None:
        words.append(json.dumps(statement.value, ensure_ascii=False))
    elif statement.details:
        words.append(statement.details)
    return " ".join(words)
