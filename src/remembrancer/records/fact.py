"""Level 2 of the hierarchy: one atomic statement about the world, with the window in which it holds."""

from __future__ import annotations

from pydantic import Field

from remembrancer.records.base import Listed, Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Key, NonEmptyText
from remembrancer.records.provenance import Provenance
from remembrancer.records.statement import Statement
from remembrancer.records.vector import Embedding

QUARANTINE_TAG = "quarantined"
"""Facts with this tag stay out of ordinary reads, consolidation, conflict detection and the retention gate."""

CANDIDATE_TAG = "candidate"
VERIFIED_TAG = "verified"
LESSON_TAG = "lesson"

MAX_INTEGER = 2**63 - 1
"""The largest integer that the database holds as a property."""


class Fact(Record):
    """One atomic statement.

    Attributes:
        content: What it says, in words.
        statement: The same as subject, predicate and object or value, where that is known.
        source_episode_ids: Episodes it was read from.
        source_message_ids: Messages it was read from; empty when the extractor could not tell.
        entity_ids: Entities it mentions; they need not be stored.
        theme_id: The theme that clustering put it into.
        valid_from: From when it holds, included.
        valid_until: Until when it holds, excluded; absent: it still holds.
        invalidated_by: What closed it: the id of another fact, or a reason such as `consolidation:decay`. Empty counts
            as absent.
        recorded_at: When the store learned it; set by the store, kept when the fact is put again.
        closed_at: When it was marked as closed; set by the store.
        access_count: How often reads have served it.
        last_accessed_at: When a read served it last.
        tags: Labels, in order.
    """

    id: Id
    content: NonEmptyText
    statement: Statement | None = None
    source_episode_ids: Listed[Id] = ()
    source_message_ids: Listed[Id] = ()
    entity_ids: Listed[Id] = ()
    theme_id: Id | None = None
    embedding: Embedding | None = None
    provenance: Provenance
    valid_from: Instant
    valid_until: Instant | None = None
    invalidated_by: Key | None = None
    recorded_at: Instant | None = None
    closed_at: Instant | None = None
    access_count: int | None = Field(default=0, ge=0, le=MAX_INTEGER)
    last_accessed_at: Instant | None = None
    tags: Listed[Key] = ()

    @property
    def is_live(self) -> bool:
        """Whether nothing has closed it. A live fact may still lie in the past or the future."""
        return not self.invalidated_by

    @property
    def is_quarantined(self) -> bool:
        """Whether it is kept from ordinary reads."""
        return QUARANTINE_TAG in self.tags
