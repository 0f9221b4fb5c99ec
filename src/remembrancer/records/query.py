"""What `retrieve_memory` is asked, and what it answers."""

from __future__ import annotations

from pydantic import Field

from remembrancer.records.base import Listed, Record, Request
from remembrancer.records.entity import Entity
from remembrancer.records.episode import Episode
from remembrancer.records.fact import Fact
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Key, Text
from remembrancer.records.relationship import Relationship
from remembrancer.records.theme import Theme
from remembrancer.records.vector import Embedding


class MemoryQuery(Request):
    """A question to the memory; the first of these that is given decides the path: entity ids, embedding, tags.

    Attributes:
        text: Free text; embedded only when an embedder is handed to the retrieval.
        embedding: Query vector.
        entity_ids: Where a walk over the knowledge graph starts.
        entity_types: Only entities of these types are returned; empty: all.
        relation_types: Only edges of these types are walked and returned; empty: all.
        max_hops: How far the walk goes, 0 to 5.
        valid_at: Only what holds at this instant; absent: windows are not looked at.
        believed_at: What had been recorded by this instant and was not closed then; absent: now. On the path of an
            embedding every fact that passes is compared, so the work grows with their number.
        changed_since: Only what began or ends after this instant.
        limit: The most records of each kind, 1 to 100.
        min_similarity: The least cosine, 0 to 1, included.
        include_invalidated: Closed records too.
        tags: Only facts with at least one of these.
    """

    text: Text | None = None
    embedding: Embedding | None = None
    entity_ids: Listed[Id] | None = None
    entity_types: Listed[Key] | None = None
    relation_types: Listed[Key] | None = None
    max_hops: int = Field(default=2, ge=0, le=5)
    valid_at: Instant | None = None
    believed_at: Instant | None = None
    changed_since: Instant | None = None
    limit: int = Field(default=20, ge=1, le=100)
    min_similarity: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    include_invalidated: bool = False
    tags: Listed[Key] = ()


class MemoryResult(Record):
    """What was found; records carry no embeddings.

    Attributes:
        scores: Cosine by fact id, for facts that the similarity search itself found. `None`: this path does not rank.
    """

    themes: Listed[Theme] = ()
    facts: Listed[Fact] = ()
    episodes: Listed[Episode] = ()
    entities: Listed[Entity] = ()
    relationships: Listed[Relationship] = ()
    scores: dict[str, float] | None = None


class Subgraph(Record):
    """A walk's result: entities in visiting order, the edges walked in the order they were."""

    entities: Listed[Entity] = ()
    relationships: Listed[Relationship] = ()
