"""Records as a retrieval hands them out: without embeddings, which are large and of no use to a reader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from remembrancer.records import Entity, Episode, Fact, Theme

R = TypeVar("R", Entity, Episode, Fact, Theme)


def served(records: Iterable[R]) -> tuple[R, ...]:
    """The records without their embeddings, episodes' messages included."""
    return tuple(_bare(record) for record in records)


def _bare(record: R) -> R:
    changes: dict[str, object] = {"embedding": None}
    if isinstance(record, Episode):
        changes["messages"] = tuple(message.model_copy(update={"embedding": None}) for message in record.messages)
    return record.model_copy(update=changes)
