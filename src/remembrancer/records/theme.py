"""Level 3 of the hierarchy: a topic that facts gather under."""

from __future__ import annotations

from remembrancer.records.base import Listed, Record
from remembrancer.records.key import Id, NonEmptyText, Text
from remembrancer.records.provenance import Provenance
from remembrancer.records.vector import Embedding


class Theme(Record):
    """A topic.

    Attributes:
        label: A few words.
        description: A sentence or more; may be empty.
        fact_ids: Its facts, mirrored by `Fact.theme_id`.
        embedding: Where the topic lies in the embedding space.
    """

    id: Id
    label: NonEmptyText
    description: Text = ""
    fact_ids: Listed[Id] = ()
    embedding: Embedding | None = None
    provenance: Provenance
