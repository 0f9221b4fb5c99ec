"""Level 1 of the hierarchy: messages that belong together in time and topic."""

from __future__ import annotations

from remembrancer.records.base import Listed, Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Text
from remembrancer.records.message import Message
from remembrancer.records.provenance import Provenance
from remembrancer.records.vector import Embedding


class Episode(Record):
    """A stretch of conversation.

    Attributes:
        topic: What it is about; may be empty.
        messages: Its messages, in the order they were said.
        started_at: Instant of the first message.
        ended_at: Instant of the last message.
        fact_ids: Facts read from it, mirrored by `Fact.source_episode_ids`.
        unread_message_ids: Those of its messages from which nothing could be read yet, or only by a simpler extractor
            than the one that was asked: to be read again.
    """

    id: Id
    topic: Text
    messages: Listed[Message]
    started_at: Instant
    ended_at: Instant
    embedding: Embedding | None = None
    fact_ids: Listed[Id] = ()
    unread_message_ids: Listed[Id] = ()
    provenance: Provenance
