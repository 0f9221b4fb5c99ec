"""Extraction data: texts, and what is to be read from them or must not be.

A *sentence* is labelled in full: any other edge is wrong. A *passage* is labelled in part, names in it may be longer or
shorter than the labels, and an edge may point either way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from remembrancer.bench.document import read_document
from remembrancer.records import InvalidInputError
from remembrancer.records.base import Listed, Record
from remembrancer.records.key import NonEmptyKey, NonEmptyText


class LabelledEntity(Record):
    """An entity to be found: the names that it may go by, and its type where that is labelled."""

    forms: Listed[NonEmptyText] = Field(min_length=1)
    type: str | None = None


class LabelledEdge(Record):
    """An edge: names of its two ends, and the verbs that may say it.

    Attributes:
        directed: Whether it matters that `a` is the source; on forbidden edges it does not.
    """

    a: Listed[NonEmptyText] = Field(min_length=1)
    b: Listed[NonEmptyText] = Field(min_length=1)
    verbs: Listed[NonEmptyText] = Field(min_length=1)
    directed: bool = False


class Case(Record):
    """One text with its labels.

    Attributes:
        forbid_all_relationships: No affirmative edge may be read from it.
        forbidden: Edges that may not be read from it.
    """

    id: NonEmptyKey
    kind: Literal["sentence", "passage"]
    category: NonEmptyKey
    text: NonEmptyText
    entities: Listed[LabelledEntity] = ()
    relationships: Listed[LabelledEdge] = ()
    forbid_all_relationships: bool = False
    forbidden: Listed[LabelledEdge] = ()

    @property
    def is_trap(self) -> bool:
        """Whether something must not be read from it."""
        return self.forbid_all_relationships or bool(self.forbidden)


class ExtractionSet(Record):
    """A file of extraction data."""

    kind: Literal["extraction"]
    name: NonEmptyKey
    cases: Listed[Case] = Field(min_length=1)


def read_extraction_set(path: Path) -> ExtractionSet:
    """Read a file of extraction data.

    Raises:
        InvalidInputError: It cannot be read, or is not what it should be; names the field.
    """
    read = read_document(path, ExtractionSet)
    seen: set[str] = set()
    for case in read.cases:
        if case.id in seen:
            raise InvalidInputError("data", f"the case {case.id!r} is there twice")
        seen.add(case.id)
    return read
