"""What one write is: records to put, claim and remove in one transaction; and the receipt of what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from remembrancer.records.audit import Audit, Scrub
from remembrancer.records.base import Listed, Record
from remembrancer.records.entity import Entity
from remembrancer.records.episode import Episode
from remembrancer.records.fact import Fact
from remembrancer.records.gate import GatePass
from remembrancer.records.key import Id, NonEmptyKey
from remembrancer.records.kind import AnyRecord, RecordKind
from remembrancer.records.relationship import Relationship
from remembrancer.records.theme import Theme

IdsByKind = dict[RecordKind, tuple[str, ...]]


class ThemeAddition(Record):
    """Facts that join a stored theme; what is already listed there stays as it is."""

    theme_id: Id
    fact_ids: Listed[Id]


class ExpectedStatements(Record):
    """How many facts, closed ones too, must state something of a subject and predicate before a write."""

    subject_id: Id
    predicate: NonEmptyKey
    facts: int


class RecordBatch(Record):
    """Everything that one transaction writes: all of it, or nothing.

    Each record is put whole, replacing what is stored under its id. Of two records with one id the last counts.

    Attributes:
        claims: Entities to get or create by normalised name and type. Where a live entity of that name and type is
            stored, it is left as it is and its id stands for the claim's id everywhere in this batch.
        assertions: Relationships to put unless a live one of the same ends and type is stored whose window overlaps:
            that one is then widened to begin with the earlier of the two, and no second edge is made.
        theme_additions: Facts to add to stored themes.
        derivations: From which facts others were made, by the id of the derived fact; kept though either is put again.
        gate_passes: Passes of the retention gate: each verdict is recorded and applied, on the fact as it is stored, if
            that fact is still on trial; otherwise the receipt lists it as refused.
        removals: Ids to remove, by kind; ids that are not stored are left out of the receipt.
        expected_messages: How many messages an episode must hold before this write, by episode id, 0 for none
            stored; and its messages may be in no other episode. Otherwise nothing is written and `ConcurrencyError`
            is raised.
        expected_facts: How many facts a theme must list before this write, by theme id, 0 for none stored; likewise.
        expected_statements: How many facts must state something of a subject and predicate before this write, which
            puts at least one of that subject; otherwise nothing is written and `ConcurrencyError` is raised.
        expected_records: Records that must be stored exactly so before this write; otherwise nothing is written and
            `PlanOutdatedError` is raised. Usage counts may differ: uses that were counted since are added to those
            of a fact that this batch puts.
        expected_absent: Ids of records that this batch puts and that must not be stored before, by kind; likewise.
        expected_unnamed: Ids of entities that no fact and no relationship may name before this write, but for expected
            records and the edges of their statements; likewise.
        audit: What to record of this write as a lifecycle pass. With it, an entity is removed only when every
            relationship at it is among the expected records; otherwise likewise.
        scrub: What to take out of the audit trail, since records are erased.
    """

    entities: Listed[Entity] = ()
    relationships: Listed[Relationship] = ()
    episodes: Listed[Episode] = ()
    facts: Listed[Fact] = ()
    themes: Listed[Theme] = ()
    claims: Listed[Entity] = ()
    assertions: Listed[Relationship] = ()
    theme_additions: Listed[ThemeAddition] = ()
    derivations: dict[Id, Listed[Id]] = {}
    gate_passes: Listed[GatePass] = ()
    removals: dict[RecordKind, Listed[Id]] = {}
    expected_messages: dict[Id, int] = {}
    expected_facts: dict[Id, int] = {}
    expected_statements: Listed[ExpectedStatements] = ()
    expected_records: Listed[AnyRecord] = ()
    expected_absent: dict[RecordKind, Listed[Id]] = {}
    expected_unnamed: Listed[Id] = ()
    audit: Audit | None = None
    scrub: Scrub | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it would write nothing."""
        return not any(getattr(self, name) for name in type(self).model_fields if not name.startswith("expected_"))


class Refusal(Record):
    """A record that was not written, and why."""

    kind: RecordKind
    id: str
    reason: str


class Receipt(Record):
    """What a write did, by the kind of record. Reading back these ids finds exactly this.

    Attributes:
        created: Ids that were not stored before; filling a placeholder counts.
        changed: Ids that were stored before and were put again.
        superseded: Ids that this write closed in favour of others.
        removed: Ids that were stored and no longer are.
        refused: What was not written, and why.
        placeholders: Ids that this write names as the first, and that are not stored yet.
        placeholders_removed: Placeholders that nothing names any more.
        claimed: The id that stands for each claim, by the claim's id.
        merged: The stored relationship that stands for an assertion, by the assertion's id.
        replayed: Whether this is the receipt of an earlier write with the same idempotency key; nothing was written
            this time.
    """

    created: IdsByKind = {}
    changed: IdsByKind = {}
    superseded: IdsByKind = {}
    removed: IdsByKind = {}
    refused: Listed[Refusal] = ()
    placeholders: IdsByKind = {}
    placeholders_removed: IdsByKind = {}
    claimed: dict[str, str] = {}
    merged: dict[str, str] = {}
    replayed: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many ids each part of the receipt names, over all kinds."""
        parts: Mapping[str, IdsByKind] = {
            "created": self.created,
            "changed": self.changed,
            "superseded": self.superseded,
            "removed": self.removed,
            "placeholders": self.placeholders,
            "placeholders_removed": self.placeholders_removed,
        }
        return {
            **{name: sum(map(len, by_kind.values())) for name, by_kind in parts.items()},
            "refused": len(self.refused),
        }


def ids_by_kind(pairs: Iterable[tuple[RecordKind, Iterable[str]]]) -> IdsByKind:
    """Gather ids by kind, leaving out kinds without any."""
    gathered: IdsByKind = {}
    for kind, ids in pairs:
        listed = tuple(ids)
        if listed:
            gathered[kind] = gathered.get(kind, ()) + listed
    return gathered
