"""The edge that a relational statement is: a fact that points from one entity to another is an edge of the graph."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.records.fact import Fact
from remembrancer.records.key import check_id, derived_id
from remembrancer.records.relationship import Relationship
from remembrancer.records.statement import canonical_predicate


def stated_relationship_id(fact_id: str) -> str:
    """Id of the edge that a fact's statement makes."""
    return derived_id("stated", fact_id)


def is_relational(fact: Fact) -> bool:
    """Whether a fact makes a statement that points to an entity."""
    return fact.statement is not None and fact.statement.object_id is not None


def stated_relationship(fact: Fact) -> Relationship | None:
    """The edge that a fact's statement makes; `None`: it makes none.

    It holds when the fact holds and is closed when the fact is closed: by the same fact, or, where a reason closed the
    fact and no other fact, by the fact itself. So is that of a quarantined fact. It weighs what the fact is sure of.
    """
    statement = fact.statement
    if statement is None or statement.object_id is None:
        return None
    confidence = fact.provenance.confidence
    return Relationship(
        id=stated_relationship_id(fact.id),
        source_id=statement.subject_id,
        target_id=statement.object_id,
        relation_type=canonical_predicate(statement.predicate),
        weight=1.0 if confidence is None else confidence,
        valid_from=fact.valid_from,
        valid_until=fact.valid_until,
        provenance=fact.provenance,
        invalidated_by=None if fact.is_live and not fact.is_quarantined else _closer(fact),
        recorded_at=fact.recorded_at,
        closed_at=fact.closed_at,
        fact_id=fact.id,
    )


def named_by(fact: Fact) -> tuple[str, ...]:
    """Ids of the entities that a fact mentions or states something of; repeats stay."""
    statement = fact.statement
    ends = () if statement is None else (statement.subject_id, statement.object_id)
    return (*fact.entity_ids, *(end for end in ends if end is not None))


def with_entities(fact: Fact, standing_for: Mapping[str, str]) -> Fact:
    """The fact with other entities in the place of some, wherever it names them; repeats stay.

    Args:
        fact: The fact.
        standing_for: The id that stands for an entity, by its own id; others stay as they are.
    """
    named = tuple(standing_for.get(entity_id, entity_id) for entity_id in fact.entity_ids)
    update: dict[str, object] = {"entity_ids": named}
    statement = fact.statement
    if statement is not None:
        ends: dict[str, object] = {"subject_id": standing_for.get(statement.subject_id, statement.subject_id)}
        if statement.object_id is not None:
            ends["object_id"] = standing_for.get(statement.object_id, statement.object_id)
        update["statement"] = statement.model_copy(update=ends)
    return fact.model_copy(update=update)


def _closer(fact: Fact) -> str:
    try:
        return check_id(fact.invalidated_by or "")
    except ValueError:
        return fact.id
