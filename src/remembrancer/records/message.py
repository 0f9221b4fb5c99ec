"""Level 0 of the hierarchy: one turn of a conversation, as it was said."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from remembrancer.records.base import OpenMap, Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Key, Text, derived_id
from remembrancer.records.provenance import Provenance
from remembrancer.records.vector import Embedding

Role = Literal["user", "assistant", "system", "tool"]


def _id_of(fields: dict[str, Any]) -> str:
    # A field that failed its own check is missing here, and the record is refused for that field anyway.
    timestamp = fields.get("timestamp")
    return derived_id(
        fields.get("conversation"),
        fields.get("role"),
        fields.get("speaker"),
        timestamp.isoformat() if timestamp is not None else None,
        fields.get("content"),
    )


class Message(Record):
    """One turn of a conversation.

    Attributes:
        role: `user`, `assistant`, `system` or `tool`.
        content: What was said; may be empty.
        timestamp: When it was said.
        conversation: Which conversation it belongs to; messages without one share a conversation of their own.
        speaker: Who said it; absent: the role speaks.
        metadata: Any JSON object.
        embedding: Vector of "speaker: content", in the namespace's embedding space.
        provenance: Where the message came from.
        id: Left out, it is made from conversation, role, speaker, timestamp and content, so that the same message
            read twice is one.
    """

    role: Role
    content: Text
    timestamp: Instant
    conversation: Key | None = None
    speaker: Key | None = None
    metadata: OpenMap = {}
    embedding: Embedding | None = None
    provenance: Provenance | None = None
    id: Id = Field(default_factory=_id_of)

    @property
    def derived_id(self) -> str:
        """The id that the message has when none is given."""
        return _id_of(dict(self))

    @property
    def said_by(self) -> str:
        """Who speaks: the speaker, else the role."""
        return self.speaker or self.role

    @property
    def spoken(self) -> str:
        """The message as it is embedded: who speaks, a colon, what was said."""
        return f"{self.said_by}: {self.content}"
