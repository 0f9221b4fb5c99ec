"""Embedding spaces: vectors can be compared only within one model's."""

from __future__ import annotations

from pydantic import Field

from remembrancer.records.base import Record
from remembrancer.records.key import NonEmptyKey

MAX_DIMENSIONS = 4096
"""The longest vector that a vector index of the database takes."""


class EmbeddingSpace(Record):
    """A model's name and the length of its vectors; every namespace belongs to at most one."""

    model: NonEmptyKey
    dimensions: int = Field(ge=1, le=MAX_DIMENSIONS)
