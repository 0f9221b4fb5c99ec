"""Records by kind and id, and who names whom: what nodes and edges are in the database.

A record owns the names in it. An id that is named but not stored is a placeholder; it needs no entry of its own.
Nothing here waits or checks: callers hand in what has been checked.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from remembrancer.inmemory.trail import Trail
from remembrancer.ports.serving import Serving
from remembrancer.records import (
    Entity,
    Episode,
    Fact,
    GatePass,
    Message,
    RecordKind,
    Relationship,
    RunOutcome,
    Theme,
    name_key,
)

Reference = tuple[RecordKind, str]
"""Kind and id of a record, stored or only named."""

Holder = tuple[str, str]
"""Who may name records: a record, or `run`, `gate_pass` or `derivation` and its id."""

KINDS: tuple[RecordKind, ...] = get_args(RecordKind)

_LAST = dt.datetime.max.replace(tzinfo=dt.UTC)

ORDERS: Mapping[RecordKind, Callable[[Any], Any]] = {
    "message": lambda message: message.id,
    "episode": lambda episode: (_LAST - episode.started_at, episode.id),
    "fact": lambda fact: (_LAST - fact.valid_from, fact.id),
    "theme": lambda theme: theme.id,
    "entity": lambda entity: entity.id,
    "relationship": lambda relationship: relationship.id,
}
"""Sort keys of the listing order, by kind."""


class RecordGraph:
    """All records of one namespace.

    Attributes:
        message_recorded_at: When each message was learnt.
        episodes: Without their messages, which are records of their own; `episode_messages` holds their ids in order.
        runs: Scored runs, in the order in which they were recorded first.
        gate_passes: Passes of the retention gate, in order.
        servings: What was served to runs, in the order in which they were opened.
        derivations: From which facts each derived fact was made.
        version: Grows with every change but the counting of usage.
        trail: What lifecycle passes did.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.messages: dict[str, Message] = {}
        self.episodes: dict[str, Episode] = {}
        self.facts: dict[str, Fact] = {}
        self.themes: dict[str, Theme] = {}
        self.entities: dict[str, Entity] = {}
        self.relationships: dict[str, Relationship] = {}
        self.episode_messages: dict[str, tuple[str, ...]] = {}
        self.message_recorded_at: dict[str, dt.datetime] = {}
        self.runs: dict[str, RunOutcome] = {}
        self.gate_passes: dict[str, GatePass] = {}
        self.servings: dict[str, Serving] = {}
        self.derivations: dict[str, set[str]] = {}
        self.trail = Trail()
        self.version: int = getattr(self, "version", 0) + 1
        self._by_kind: dict[RecordKind, dict[str, Any]] = {
            "message": self.messages,
            "episode": self.episodes,
            "fact": self.facts,
            "theme": self.themes,
            "entity": self.entities,
            "relationship": self.relationships,
        }
        self._names: dict[Holder, tuple[Reference, ...]] = {}
        self._named_by: dict[Reference, set[Holder]] = {}
        self._called: dict[str, set[str]] = {}
        self._stating: dict[str, set[str]] = {}
        self._listings: dict[RecordKind, list[str]] = {}

    def get(self, reference: Reference) -> Any:
        """The stored record, or `None`."""
        kind, record_id = reference
        return self._by_kind[kind].get(record_id)

    def is_stored(self, reference: Reference) -> bool:
        """Whether there is a record, not merely a placeholder."""
        kind, record_id = reference
        return record_id in self._by_kind[kind]

    def is_placeholder(self, reference: Reference) -> bool:
        """Whether a record or an audit edge names this one, and it is not stored."""
        return (reference in self._named_by or self.trail.names(*reference)) and not self.is_stored(reference)

    def names(self, reference: Reference) -> tuple[Reference, ...]:
        """What a record names; nothing for one that is not stored."""
        return self._names.get(reference, ())

    def named_by(self, reference: Reference, kind: RecordKind) -> list[str]:
        """Ids of the records of one kind that name this one, in order of id."""
        return sorted(holder for holder_kind, holder in self._named_by.get(reference, ()) if holder_kind == kind)

    def called(self, key: str) -> list[Entity]:
        """Entities with this `name_key`, closed ones too."""
        return [self.entities[entity_id] for entity_id in self._called.get(key, ())]

    def stating(self, key: str) -> list[str]:
        """Ids of the facts whose statement has this key, closed ones too, in listing order."""
        return self.in_order("fact", self._stating.get(key, ()))

    def listed(self, kind: RecordKind) -> list[str]:
        """All stored ids of a kind in listing order; not to be changed."""
        listing = self._listings.get(kind)
        if listing is None:
            listing = self.in_order(kind, self._by_kind[kind])
            self._listings[kind] = listing
        return listing

    def in_order(self, kind: RecordKind, ids: Iterable[str]) -> list[str]:
        """Stored ids of a kind, sorted into listing order."""
        records, order = self._by_kind[kind], ORDERS[kind]
        return sorted(ids, key=lambda record_id: order(records[record_id]))

    def put(self, kind: RecordKind, record: Any, names: Iterable[Reference]) -> None:
        """Store a record in place of what is there, with what it names."""
        reference = (kind, record.id)
        if kind == "entity":
            self._forget_name(record.id)
            self._called.setdefault(name_key(record.name, record.entity_type), set()).add(record.id)
        if kind == "fact":
            self._forget_statement(record.id)
            if record.statement is not None:
                self._stating.setdefault(record.statement.key, set()).add(record.id)
        self._by_kind[kind][record.id] = record
        self._link(reference, tuple(dict.fromkeys(names)))
        self._changed(kind)

    def remove(self, reference: Reference) -> None:
        """Remove a stored record and the names it owns; who names it keeps doing so."""
        kind, record_id = reference
        if kind == "entity":
            self._forget_name(record_id)
        if kind == "fact":
            self._forget_statement(record_id)
        del self._by_kind[kind][record_id]
        if kind == "episode":
            del self.episode_messages[record_id]
        self._link(reference, ())
        self._changed(kind)

    def put_run(self, run: RunOutcome) -> None:
        """Record a run; one that is there already keeps its place."""
        self.runs[run.run_id] = run
        self._link(("run", run.run_id), _facts([*run.fact_ids, *run.holdout]))

    def forget_runs(self) -> None:
        """Forget all runs."""
        for run_id in self.runs:
            self._link(("run", run_id), ())
        self.runs.clear()

    def add_gate_pass(self, gate_pass: GatePass) -> None:
        """Keep a pass of the gate, for good."""
        self.gate_passes[gate_pass.id] = gate_pass
        self._link(("gate_pass", gate_pass.id), _facts([decision.fact_id for decision in gate_pass.decisions]))

    def derive(self, derived: str, sources: Iterable[str]) -> None:
        """Keep from which facts a fact was made, besides what is known already."""
        self.derivations.setdefault(derived, set()).update(sources)
        self._link_derivation(derived)

    def derived_from(self, source: str) -> list[str]:
        """Facts that were made from this one, stored or not, in order of id."""
        holders = self._named_by.get(("fact", source), ())
        return sorted(one for kind, one in holders if kind == "derivation" and source in self.derivations[one])

    def forget_derivations(self, erased: Iterable[str]) -> None:
        """Forget what was made from these facts, and from what they were made."""
        for fact_id in erased:
            self.derivations.pop(fact_id, None)
            self._link(("derivation", fact_id), ())
            for derived in self.derived_from(fact_id):
                self.derivations[derived].discard(fact_id)
                self._link_derivation(derived)

    def _link_derivation(self, derived: str) -> None:
        sources = self.derivations[derived]
        self._link(("derivation", derived), _facts([derived, *sorted(sources)]) if sources else ())

    def touch(self, fact: Fact) -> None:
        """Replace a fact by itself with other usage."""
        self.facts[fact.id] = fact

    def revise(self, kind: RecordKind, record: Any) -> None:
        """Replace a record by itself with another embedding."""
        self._by_kind[kind][record.id] = record
        self._changed(kind)

    def _forget_statement(self, fact_id: str) -> None:
        stored = self.facts.get(fact_id)
        if stored is not None and stored.statement is not None:
            key = stored.statement.key
            self._stating[key].discard(fact_id)
            if not self._stating[key]:
                del self._stating[key]

    def _forget_name(self, entity_id: str) -> None:
        stored = self.entities.get(entity_id)
        if stored is not None:
            key = name_key(stored.name, stored.entity_type)
            self._called[key].discard(entity_id)
            if not self._called[key]:
                del self._called[key]

    def _link(self, holder: Holder, names: tuple[Reference, ...]) -> None:
        for named in self._names.pop(holder, ()):
            holders = self._named_by[named]
            holders.discard(holder)
            if not holders:
                del self._named_by[named]
        for named in names:
            self._named_by.setdefault(named, set()).add(holder)
        if names:
            self._names[holder] = names

    def _changed(self, kind: RecordKind) -> None:
        self.version += 1
        self._listings.pop(kind, None)


def _facts(ids: Iterable[str]) -> tuple[Reference, ...]:
    return tuple(("fact", fact_id) for fact_id in dict.fromkeys(ids))
