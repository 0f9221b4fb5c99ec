"""The kinds of records, and what stands for any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from remembrancer.records.entity import Entity
from remembrancer.records.episode import Episode
from remembrancer.records.fact import Fact
from remembrancer.records.message import Message
from remembrancer.records.relationship import Relationship
from remembrancer.records.theme import Theme

RecordKind = Literal["message", "episode", "fact", "theme", "entity", "relationship"]

AnyRecord = Message | Episode | Fact | Theme | Entity | Relationship

KIND_OF: Mapping[type[AnyRecord], RecordKind] = {
    Message: "message",
    Episode: "episode",
    Fact: "fact",
    Theme: "theme",
    Entity: "entity",
    Relationship: "relationship",
}


def kind_of(record: AnyRecord) -> RecordKind:
    """Of which kind a record is."""
    for model, kind in KIND_OF.items():
        if isinstance(record, model):
            return kind
    raise TypeError(f"expected a record, got {type(record).__name__}")
