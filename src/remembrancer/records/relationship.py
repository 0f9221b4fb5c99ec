"""An edge of the knowledge graph: directed, weighted, with the window in which it holds."""

from __future__ import annotations

from pydantic import Field

from remembrancer.records.base import OpenMap, Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, NonEmptyKey
from remembrancer.records.provenance import Provenance


class Relationship(Record):
    """One entity's relation to another.

    Attributes:
        source_id: The entity it starts from; need not be stored.
        target_id: The entity it points to; need not be stored.
        relation_type: For example `work_at`.
        weight: 0 to 1.
        attributes: Any JSON object.
        valid_from: From when it holds, included.
        valid_until: Until when it holds, excluded; absent: it still holds.
        invalidated_by: Id of what closed it.
        recorded_at: When the store learned it; set by the store, kept when it is put again.
        closed_at: When it was marked as closed; set by the store.
        fact_id: The fact whose statement it is, where one made it; it then changes and goes with that fact.
    """

    id: Id
    source_id: Id
    target_id: Id
    relation_type: NonEmptyKey
    weight: float = Field(default=1.0, ge=0, le=1, allow_inf_nan=False)
    attributes: OpenMap = {}
    valid_from: Instant
    valid_until: Instant | None = None
    provenance: Provenance
    invalidated_by: Id | None = None
    recorded_at: Instant | None = None
    closed_at: Instant | None = None
    fact_id: Id | None = None

    @property
    def is_live(self) -> bool:
        """Whether nothing has closed it."""
        return not self.invalidated_by
