"""Merging entities of one name: who stays, what it takes over, and what becomes of facts and edges. All of it is pure.

The earliest entity of a group stays, by `created_at`, then id. Facts and edges that name an absorbed one name it from
then on; the edge of a fact's statement follows its fact, and statements find their windows anew among those of the one
entity. Any other edge that so becomes a copy of a live one, with the same ends and type and an overlapping window, is
dropped, and so is one that would begin and end at the same entity; in soft mode "dropped" means marked, in hard mode
removed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence

from remembrancer.lifecycle.plan import Change
from remembrancer.lifecycle.succession import (
    change_of,
    counted_statements,
    group_of,
    subject_of,
    succession,
    takes_part,
)
from remembrancer.records import AnyRecord, Entity, Fact, Relationship
from remembrancer.records.assertion import windows_overlap
from remembrancer.records.batch import ExpectedStatements
from remembrancer.records.key import without_repeats
from remembrancer.records.stated import with_entities

Ends = tuple[str, str, str]
"""Source, target and type of an edge."""


class EntityMerge:
    """The merge of some groups; each `take_...` adds changes.

    Args:
        groups: Live entities, two or more a group, that are one.
        is_soft: Close absorbed entities and mark dropped edges; else remove them.
        now: The instant at which entities are closed.

    Attributes:
        groups: The groups, in each the entity that stays first, then the others in the order in which their values
            count; in the order of those that stay.
        absorbed: The entity that stands for one that is absorbed, by the absorbed one's id.
        facts_rewritten: How many facts name another entity.
        statements_placed: How many facts say what another one says, or hold until another time, now that what was said
            of several entities is said of one.
        statements: How many statements there were of the subjects and predicates that the merge touches.
        relationships_rewritten: How many edges have another end.
        relationships_dropped: How many edges were dropped.
        seen: Edges that others were dropped for or that follow a fact, and statements beside those that change: the
            merge leaves them alone.
    """

    def __init__(self, groups: Iterable[Sequence[Entity]], *, is_soft: bool, now: dt.datetime) -> None:
        self.groups = sorted((sorted(group, key=_by_age) for group in groups), key=lambda group: _by_age(group[0]))
        self.absorbed = {one.id: group[0].id for group in self.groups for one in group[1:]}
        self._is_soft = is_soft
        self._now = now
        self._facts: dict[str, Change] = {}
        self._edges: list[Change] = []
        self.relationships_rewritten = 0
        self.relationships_dropped = 0
        self.facts_rewritten = 0
        self.statements_placed = 0
        self.statements: tuple[ExpectedStatements, ...] = ()
        self.seen: list[AnyRecord] = []

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes: entities that stay, facts, edges, entities that were absorbed."""
        kept = [self._enriched(group) for group in self.groups]
        lost = [self._closed(one, group[0]) for group in self.groups for one in group[1:]]
        return (*kept, *self._facts.values(), *self._edges, *lost)

    def take_facts(self, facts: Iterable[Fact]) -> None:
        """Let facts that name an absorbed entity name the one that stands for it, each once."""
        for fact in facts:
            self._facts[fact.id] = Change(before=fact, after=self._renamed(fact), reason="entities merged")
        self.facts_rewritten = len(self._facts)

    def touched_statements(self) -> list[tuple[str, str]]:
        """Subjects and predicates of which the merge changes what is said, before it and after it, in order."""
        return sorted(
            {
                subject_of(one)
                for change in self._facts.values()
                for one in (change.before, change.after)
                if isinstance(one, Fact) and one.statement is not None
            }
        )

    def take_statements(
        self, subjects: Sequence[tuple[str, str]], stored: Sequence[Fact], single_valued: Collection[str]
    ) -> None:
        """Give what is now said of one entity the windows that it would have had, had it been said of that one.

        Args:
            subjects: What `touched_statements` gave.
            stored: All facts that state something of them.
            single_valued: Canonical predicates that hold one value at a time.
        """
        self.statements = counted_statements(subjects, stored)
        before = {fact.id: fact for fact in stored}
        renamed = {fact.id: self._renamed(fact) for fact in stored}
        # Some may have come since the facts that name absorbed entities were read.
        self.take_facts(fact for fact in stored if fact.id not in self._facts and renamed[fact.id] != fact)
        groups = {group_of(renamed[fact_id], single_valued) for fact_id in self._facts if fact_id in renamed}
        taking = [
            fact for fact in renamed.values() if takes_part(fact, renamed) and group_of(fact, single_valued) in groups
        ]
        for place in succession(taking, single_valued):
            fact_id = place.fact.id
            if place.fact != renamed[fact_id]:
                self.statements_placed += 1
                self._facts[fact_id] = change_of(place, before[fact_id])
            elif fact_id not in self._facts:
                self.seen.append(before[fact_id])

    def ends_of(self, edge: Relationship) -> Ends:
        """Ends and type that an edge has after the merge."""
        return self._standing(edge.source_id), self._standing(edge.target_id), edge.relation_type

    def take_relationships(self, touched: Sequence[Relationship], untouched: Sequence[Relationship]) -> None:
        """Move edges to the entities that stay, and drop what is there already.

        Args:
            touched: Edges at an absorbed entity, closed ones too.
            untouched: Live edges between others that may say the same as a moved one.
        """
        kept: dict[Ends, list[Relationship]] = {}
        staying = {edge.id: edge for edge in untouched}
        followers = {edge.id: edge for edge in touched if edge.fact_id is not None}
        for edge in sorted([*staying.values(), *followers.values()], key=_in_time):
            if edge.is_live:
                kept.setdefault(self.ends_of(edge), []).append(edge)
        self.relationships_rewritten += len(followers)
        seen = dict(followers)
        for edge in sorted(touched, key=_in_time):
            if edge.id in followers:
                continue
            ends = self.ends_of(edge)
            moved = edge.model_copy(update={"source_id": ends[0], "target_id": ends[1]})
            if ends[0] == ends[1]:
                self._drop(edge, moved, edge.id, reason="would begin and end at one entity")
                continue
            same = _same_in(kept.get(ends, ()), edge) if edge.is_live else None
            if same is not None:
                self._drop(edge, moved, same.id, reason="says what another edge says")
                if same.id in staying:
                    seen[same.id] = same
                continue
            self.relationships_rewritten += 1
            self._edges.append(Change(before=edge, after=moved, reason="entities merged"))
            if edge.is_live:
                kept.setdefault(ends, []).append(moved)
        self.seen += seen.values()

    def _renamed(self, fact: Fact) -> Fact:
        renamed = with_entities(fact, self.absorbed)
        return renamed.model_copy(update={"entity_ids": without_repeats(renamed.entity_ids)})

    def _standing(self, entity_id: str) -> str:
        return self.absorbed.get(entity_id, entity_id)

    def _drop(self, edge: Relationship, moved: Relationship, stays: str, *, reason: str) -> None:
        self.relationships_dropped += 1
        if not self._is_soft:
            self._edges.append(Change(before=edge, after=None, reason=reason))
            return
        marked = moved if not edge.is_live else moved.model_copy(update={"invalidated_by": stays})
        replaced_by = stays if edge.is_live and stays != edge.id else None
        self._edges.append(Change(before=edge, after=marked, reason=reason, superseded_by=replaced_by))

    def _enriched(self, group: Sequence[Entity]) -> Change:
        stays, *others = group
        attributes = dict(stays.attributes)
        for other in others:
            attributes = {**other.attributes, **attributes}
        vectors = (entity.embedding for entity in group)
        embedding = next((vector for vector in vectors if vector is not None), None)
        after = stays.model_copy(update={"attributes": attributes, "embedding": embedding, "updated_at": self._now})
        return Change(before=stays, after=after, reason=f"absorbed {len(others)} of the same name")

    def _closed(self, entity: Entity, stays: Entity) -> Change:
        reason = "same name and type"
        if not self._is_soft:
            return Change(before=entity, after=None, reason=reason)
        update = {"invalidated_at": self._now, "updated_at": self._now, "superseded_by": stays.id}
        return Change(before=entity, after=entity.model_copy(update=update), reason=reason, superseded_by=stays.id)


def _by_age(entity: Entity) -> tuple[dt.datetime, str]:
    return entity.created_at, entity.id


def _same_in(kept: Sequence[Relationship], edge: Relationship) -> Relationship | None:
    for one in kept:
        if windows_overlap(one.valid_from, one.valid_until, edge.valid_from, edge.valid_until):
            return one
    return None


def _in_time(edge: Relationship) -> tuple[dt.datetime, str]:
    return edge.valid_from, edge.id


def untouched_ends(merge: EntityMerge, touched: Iterable[Relationship]) -> list[Ends]:
    """Ends and types at which live moved edges may meet one that stays where it is, each once."""
    ends = (merge.ends_of(edge) for edge in touched if edge.is_live)
    return list(dict.fromkeys(one for one in ends if one[0] != one[1]))
