"""One write to the records in memory, applied step by step, and the receipt of what became of it.

Everything that can fail is checked before the first step, and no step waits, so a write happens whole or not at all.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import TypeVar

from remembrancer.inmemory.expecting import check_expected, stored_messages
from remembrancer.inmemory.graph import KINDS, RecordGraph, Reference
from remembrancer.records import (
    ConcurrencyError,
    Entity,
    Episode,
    Fact,
    GatePass,
    IdsByKind,
    Message,
    NotFoundError,
    Receipt,
    RecordBatch,
    RecordKind,
    Refusal,
    Relationship,
    Theme,
    name_key,
)
from remembrancer.records.assertion import StoredWindow, resolve_assertions
from remembrancer.records.audit import with_uses_since
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.gate import NOT_ON_TRIAL
from remembrancer.records.stated import is_relational, stated_relationship, stated_relationship_id, with_entities
from remembrancer.records.statement import statement_key

Closable = TypeVar("Closable", Fact, Relationship)


class Transaction:
    """Applies one checked batch to a graph, once.

    Args:
        graph: The records.
        batch: What `checked_batch` made of the caller's.
        namespace: Named in errors.
        now: Fills `recorded_at` and `closed_at`.
    """

    def __init__(self, graph: RecordGraph, batch: RecordBatch, *, namespace: str, now: dt.datetime) -> None:
        self._graph = graph
        self._batch = batch
        self._namespace = namespace
        self._now = now
        self._created: dict[Reference, None] = {}
        self._changed: dict[Reference, None] = {}
        self._removed: dict[Reference, None] = {}
        self._made: dict[Reference, None] = {}
        self._was_placeholder: dict[Reference, bool] = {}
        self._claimed: dict[str, str] = {}
        self._merged: dict[str, str] = {}
        self._read = {record.id: record for record in batch.expected_records if isinstance(record, Fact)}
        self._refused: list[Refusal] = []

    def apply(self) -> Receipt:
        """Write, and say what was done.

        Raises:
            ConcurrencyError: An episode holds another number of messages than expected. Nothing was written.
            NotFoundError: Facts are to be added to a theme that is not stored. Nothing was written.
            PlanOutdatedError: Records are not stored as the batch expects. Nothing was written.
        """
        self._check()
        check_expected(self._graph, self._batch)
        for kind in KINDS:
            for record_id in self._batch.removals.get(kind, ()):
                self._remove((kind, record_id))
        for claim in self._batch.claims:
            self._claim(claim)
        for entity in self._batch.entities:
            self._put("entity", entity, ())
        for episode in self._batch.episodes:
            self._put_episode(episode)
        for fact in self._batch.facts:
            self._put_fact(fact)
        for theme in self._batch.themes:
            self._put_theme(theme)
        for addition in self._batch.theme_additions:
            self._add_to_theme(addition.theme_id, addition.fact_ids)
        for derived, sources in self._batch.derivations.items():
            self._derive(derived, sources)
        for relationship in self._batch.relationships:
            self._put_relationship(self._between_claimed(relationship))
        self._assert([self._between_claimed(assertion) for assertion in self._batch.assertions])
        for gate_pass in self._batch.gate_passes:
            self._decide(gate_pass)
        self._record_pass()
        return self._receipt()

    def _check(self) -> None:
        for episode_id, expected in self._batch.expected_messages.items():
            actual = len({message.id for message in stored_messages(self._graph, episode_id)})
            if actual != expected:
                raise ConcurrencyError("episode", episode_id, expected=expected, actual=actual)
        for episode in self._batch.episodes:
            if episode.id in self._batch.expected_messages:
                self._check_free(episode)
        for theme_id, expected in self._batch.expected_facts.items():
            theme = self._graph.themes.get(theme_id)
            actual = 0 if theme is None else len(set(theme.fact_ids))
            if actual != expected:
                raise ConcurrencyError("theme", theme_id, expected=expected, actual=actual)
        for gate_pass in self._batch.gate_passes:
            if gate_pass.id in self._graph.gate_passes:
                raise ConcurrencyError("gate pass", gate_pass.id, expected=0, actual=1)
        for one in self._batch.expected_statements:
            actual = len(self._graph.stating(statement_key(one.subject_id, one.predicate)))
            if actual != one.facts:
                raise ConcurrencyError("statement", one.subject_id, expected=one.facts, actual=actual)
        removed = set(self._batch.removals.get("theme", ()))
        known = {theme.id for theme in self._batch.themes} | (self._graph.themes.keys() - removed)
        wanted = dict.fromkeys(addition.theme_id for addition in self._batch.theme_additions)
        missing = [theme_id for theme_id in wanted if theme_id not in known]
        if missing:
            raise NotFoundError("theme", missing, namespace=self._namespace)

    def _check_free(self, episode: Episode) -> None:
        for message in episode.messages:
            if any(holder != episode.id for holder in self._graph.named_by(("message", message.id), "episode")):
                raise ConcurrencyError("message", message.id, expected=0, actual=1)

    def _put(
        self,
        kind: RecordKind,
        record: Message | Episode | Fact | Theme | Entity | Relationship,
        names: Iterable[Reference],
    ) -> None:
        reference, named = (kind, record.id), tuple(names)
        self._remember(reference, *named, *self._graph.names(reference))
        if reference not in self._created:
            outcome = self._changed if self._graph.is_stored(reference) else self._created
            outcome[reference] = None
        unknown = (one for one in named if not (self._graph.is_stored(one) or self._graph.is_placeholder(one)))
        self._made.update(dict.fromkeys(unknown))
        self._graph.put(kind, record, named)

    def _remove(self, reference: Reference) -> None:
        if not self._graph.is_stored(reference):
            return
        if reference[0] == "entity":
            for relationship_id in self._graph.named_by(reference, "relationship"):
                self._remove(("relationship", relationship_id))
        self._remember(reference, *self._graph.names(reference))
        self._graph.remove(reference)
        self._removed[reference] = None
        if reference[0] == "fact":
            self._remove(("relationship", stated_relationship_id(reference[1])))

    def _remember(self, *references: Reference) -> None:
        for reference in references:
            self._was_placeholder.setdefault(reference, self._graph.is_placeholder(reference))

    def _claim(self, claim: Entity) -> None:
        holders = [entity for entity in self._graph.called(name_key(claim.name, claim.entity_type)) if entity.is_live]
        if holders:
            self._claimed[claim.id] = min(holders, key=lambda entity: (entity.created_at, entity.id)).id
            return
        self._claimed[claim.id] = claim.id
        self._put("entity", claim, ())

    def _between_claimed(self, relationship: Relationship) -> Relationship:
        ends = {
            "source_id": self._claimed.get(relationship.source_id, relationship.source_id),
            "target_id": self._claimed.get(relationship.target_id, relationship.target_id),
        }
        return relationship.model_copy(update=ends)

    def _put_episode(self, episode: Episode) -> None:
        message_ids = tuple(message.id for message in episode.messages)
        for message in episode.messages:
            self._take(message.id, from_others_than=episode.id)
            self._put("message", message, ())
            self._graph.message_recorded_at.setdefault(message.id, self._now)
        self._write_episode(episode.model_copy(update={"messages": ()}), message_ids)

    def _take(self, message_id: str, *, from_others_than: str) -> None:
        reference: Reference = ("message", message_id)
        for holder_id in self._graph.named_by(reference, "episode"):
            if holder_id != from_others_than:
                self._remember(reference)
                kept = tuple(held for held in self._graph.episode_messages[holder_id] if held != message_id)
                holder = self._graph.episodes[holder_id]
                self._graph.episode_messages[holder_id] = kept
                self._graph.put("episode", holder, _named_by_episode(holder, kept))

    def _write_episode(self, episode: Episode, message_ids: tuple[str, ...]) -> None:
        self._put("episode", episode, _named_by_episode(episode, message_ids))
        self._graph.episode_messages[episode.id] = message_ids

    def _put_fact(self, fact: Fact) -> None:
        stored, read = self._graph.facts.get(fact.id), self._read.get(fact.id)
        if stored is not None and read is not None:
            fact = with_uses_since(fact, read, stored)
        stamped = self._stamped(with_entities(fact, self._claimed), stored)
        self._put("fact", stamped, _named_by_fact(stamped))
        edge = stated_relationship(stamped)
        if edge is not None:
            self._put_relationship(edge)
        elif stored is not None and is_relational(stored):
            self._remove(("relationship", stated_relationship_id(fact.id)))

    def _put_theme(self, theme: Theme) -> None:
        self._put("theme", theme, [("fact", fact_id) for fact_id in theme.fact_ids])

    def _add_to_theme(self, theme_id: str, fact_ids: Sequence[str]) -> None:
        theme = self._graph.themes[theme_id]
        joining = [fact_id for fact_id in dict.fromkeys(fact_ids) if fact_id not in theme.fact_ids]
        if joining:
            self._put_theme(theme.model_copy(update={"fact_ids": (*theme.fact_ids, *joining)}))

    def _derive(self, derived: str, sources: Sequence[str]) -> None:
        named: list[Reference] = [("fact", fact_id) for fact_id in (derived, *sources)] if sources else []
        unknown = (one for one in named if not (self._graph.is_stored(one) or self._graph.is_placeholder(one)))
        self._made.update(dict.fromkeys(unknown))
        self._graph.derive(derived, sources)

    def _put_relationship(self, relationship: Relationship) -> None:
        stamped = self._stamped(relationship, self._graph.relationships.get(relationship.id))
        self._put("relationship", stamped, [("entity", stamped.source_id), ("entity", stamped.target_id)])

    def _assert(self, assertions: Sequence[Relationship]) -> None:
        outcome = resolve_assertions(assertions, {edge.id: self._windows_like(edge) for edge in assertions})
        for assertion in outcome.to_put:
            self._put_relationship(assertion)
        self._merged = outcome.merged
        for edge_id, valid_from in outcome.widened.items():
            self._put_relationship(self._graph.relationships[edge_id].model_copy(update={"valid_from": valid_from}))

    def _decide(self, gate_pass: GatePass) -> None:
        recorded = []
        for decision in gate_pass.decisions:
            fact = self._graph.facts.get(decision.fact_id)
            if fact is None or not fact.is_live or not gate_pass.is_on_trial(fact.tags):
                self._refused.append(Refusal(kind="fact", id=decision.fact_id, reason=NOT_ON_TRIAL))
                continue
            recorded.append(decision.model_copy(deep=True))
            if decision.verdict == "promoted":
                self._put_fact(fact.model_copy(update={"tags": gate_pass.promoted(fact.tags)}))
            elif decision.verdict == "evicted":
                self._put_fact(fact.model_copy(update={"invalidated_by": decision.reason}))
        at = gate_pass.decided_at or self._now
        self._graph.add_gate_pass(gate_pass.model_copy(update={"decisions": tuple(recorded), "decided_at": at}))

    def _windows_like(self, assertion: Relationship) -> list[StoredWindow]:
        at_source = self._graph.named_by(("entity", assertion.source_id), "relationship")
        windows = [
            StoredWindow(edge.id, edge.valid_from, edge.valid_until)
            for edge in (self._graph.relationships[edge_id] for edge_id in at_source)
            if edge.is_live
            and (edge.source_id, edge.target_id, edge.relation_type)
            == (assertion.source_id, assertion.target_id, assertion.relation_type)
        ]
        return sorted(windows, key=lambda window: (window.valid_from, window.id))

    def _record_pass(self) -> None:
        audit, scrub = self._batch.audit, self._batch.scrub
        if scrub is not None:
            self._graph.trail.scrub(scrub)
            self._graph.forget_derivations(scrub.erased)
        if audit is None:
            return
        replacing = [one for one in audit.entries if one.superseded_by and one.record_kind in ("fact", "entity")]
        for entry in replacing:
            for named in ((entry.record_kind, entry.superseded_by or ""), (entry.record_kind, entry.record_id)):
                if not (self._graph.is_stored(named) or self._graph.is_placeholder(named)):
                    self._made[named] = None
        self._graph.trail.record(audit)

    def _stamped(self, record: Closable, stored: Closable | None) -> Closable:
        recorded_at = (stored.recorded_at if stored else None) or record.recorded_at or self._now
        closed_at = None
        if not record.is_live:
            closed_at = (stored.closed_at if stored else None) or record.closed_at or self._now
        return record.model_copy(update={"recorded_at": recorded_at, "closed_at": closed_at})

    def _receipt(self) -> Receipt:
        placeholders = [named for named in self._made if self._graph.is_placeholder(named)]
        forgotten = [
            reference
            for reference, was_placeholder in self._was_placeholder.items()
            if was_placeholder
            and reference not in self._removed
            and not self._graph.is_stored(reference)
            and not self._graph.is_placeholder(reference)
        ]
        again = self._created.keys() & self._removed.keys()
        superseded = self._batch.audit.superseded if self._batch.audit is not None else ()
        return Receipt(
            created=_by_kind(self._created.keys() - again),
            changed=_by_kind({**self._changed, **dict.fromkeys(again)}),
            superseded=_by_kind(superseded),
            removed=_by_kind(self._removed.keys() - again),
            refused=self._refused,
            placeholders=_by_kind(placeholders),
            placeholders_removed=_by_kind(forgotten),
            claimed=self._claimed,
            merged=self._merged,
        )


def _named_by_episode(episode: Episode, message_ids: Sequence[str]) -> list[Reference]:
    facts: list[Reference] = [("fact", fact_id) for fact_id in episode.fact_ids]
    return [*facts, *(("message", message_id) for message_id in message_ids)]


def _named_by_fact(fact: Fact) -> list[Reference]:
    named: list[Reference] = [("entity", entity_id) for entity_id in fact.entity_ids]
    if fact.statement is not None:
        ends = (fact.statement.subject_id, fact.statement.object_id)
        named += [("entity", entity_id) for entity_id in ends if entity_id is not None]
    named += [("episode", episode_id) for episode_id in fact.source_episode_ids]
    named += [("message", message_id) for message_id in fact.source_message_ids]
    return named


def _by_kind(references: Iterable[Reference]) -> IdsByKind:
    return ids_by_kind((kind, [record_id]) for kind, record_id in sorted(references))
