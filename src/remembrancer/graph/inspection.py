"""What no single statement can tell: every stored record is read again by the code that reads it for callers, and what
is kept beside it is compared with what would be written of it today.

A page of records at a time, and vectors never travel, so that a memory of any size is read in little space. Of chains
of replacement the middles are held at once, as pairs of ids.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from remembrancer.graph import queries
from remembrancer.graph import records as rows
from remembrancer.graph.connection import Database, Row
from remembrancer.graph.ledger import Neo4jLedger
from remembrancer.graph.passes import MADE_FROM
from remembrancer.graph.serving import serving_from
from remembrancer.graph.values import from_json
from remembrancer.records import (
    AnyRecord,
    AuditEntry,
    Entity,
    Episode,
    Fact,
    Message,
    Pass,
    Receipt,
    RecordKind,
    Relationship,
    RunOutcome,
    Theme,
    system_clock,
)
from remembrancer.records.base import translated
from remembrancer.records.recall_copies import name_words
from remembrancer.records.stated import stated_relationship, stated_relationship_id
from remembrancer.records.tier import TierItem

InspectionCheck = Literal["records", "derived", "statements", "cycles"]

INSPECTION: Mapping[InspectionCheck, str] = {
    "records": "records cannot be read as what they are",
    "derived": "texts and keys beside records differ from what is made of these",
    "statements": "statements differ from their edges",
    "cycles": "records replaced one another in a circle",
}
"""What is looked for, and how a finding of it reads."""

_PAGE = 500
_EPISODES_A_PAGE = 50  # each brings its messages


@dataclass
class Seen:
    """How often something was seen, and the first few of it.

    Attributes:
        most: How many examples to keep.
    """

    most: int
    total: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        """Count one more."""
        self.total += 1
        if len(self.examples) < self.most:
            self.examples.append(problem)


class Inspection:
    """Reads one namespace from end to end.

    Args:
        database: Where its records live.
        namespace: Whose memory.
        examples: The most examples of each kind of problem.
    """

    def __init__(self, database: Database, namespace: str, *, examples: int) -> None:
        self._database = database
        self._namespace = namespace
        self._speakers: set[str] = set()
        self.seen: dict[InspectionCheck, Seen] = {check: Seen(examples) for check in INSPECTION}

    async def run(self) -> Mapping[InspectionCheck, Seen]:
        """Read everything, and tell what was seen."""
        self._speakers = {word for row in await self._read("doctor.speakers") for word in row["speakers"]}
        await self._records("entity", "entities", self._look_at_entity)
        await self._records("message", "messages", self._look_at_message)
        await self._records("episode", "episodes", self._look_at_episode, limit=_EPISODES_A_PAGE)
        await self._facts()
        await self._records("theme", "themes", self._look_at_theme)
        await self._records("relationship", "relationships", self._look_at_relationship)
        await self._passes()
        await self._tier_items()
        await self._evidence()
        await self._cycles("fact")
        await self._cycles("entity")
        return self.seen

    async def _read(self, name: str, **parameters: Any) -> list[Row]:
        return await self._database.read(queries.load(name), {"namespace": self._namespace, **parameters})

    async def _pages(self, name: str, next_of: Callable[[Row], Row], **start: Any) -> AsyncIterator[list[Row]]:
        """Pages of rows, the parameters of each made from the last row of the one before."""
        parameters = start
        while found := await self._read(name, **parameters):
            yield found
            if len(found) < parameters["limit"]:
                return
            parameters = {**parameters, **next_of(found[-1])}

    def _made(self, what: str, make: Callable[..., Any], *given: Any) -> Any:
        """What a reader makes of a row; `None`, and a problem, when it refuses it."""
        try:
            return make(*given)
        except (ValueError, TypeError) as error:
            self.seen["records"].add(f"{what}: {_told(error)}")
            return None

    def _record(self, kind: RecordKind, row: Row) -> Any:
        return self._made(f"{kind} {row['record']['id']}", MADE_FROM[kind], _filled(kind, row["record"]))

    async def _records(
        self, kind: RecordKind, plural: str, look: Callable[[Any, Row], None], *, limit: int = _PAGE
    ) -> None:
        def last(row: Row) -> Row:
            return {"after": row["record"]["id"]}

        async for page in self._pages(f"doctor.reread_{plural}", last, after="", limit=limit):
            for row in page:
                record = self._record(kind, row)
                if record is not None:
                    look(record, row)

    def _compare(self, record: AnyRecord, kind: str, stored: Row, written: Row) -> None:
        for name, value in stored.items():
            if value != written.get(name):
                self.seen["derived"].add(f"{kind} {record.id} has another {name} than is made from it")

    def _look_at_entity(self, entity: Entity, row: Row) -> None:
        self._compare(entity, "entity", row["copies"], rows.entity_row(entity)["properties"])

    def _look_at_theme(self, theme: Theme, row: Row) -> None:
        self._compare(theme, "theme", row["copies"], rows.theme_row(theme)["properties"])

    def _look_at_message(self, message: Message, row: Row) -> None:
        self._compare(message, "message", row["copies"], rows.message_properties(message))
        if message.speaker and not self._speakers.issuperset(name_words(message.speaker)):
            self.seen["derived"].add(f"message {message.id} is by a speaker whom the namespace does not list")

    def _look_at_episode(self, episode: Episode, row: Row) -> None:
        self._compare(episode, "episode", row["copies"], rows.episode_row(episode)["properties"])
        places = sorted(place for listed in row["places"] for place in listed or ())
        if places != list(range(len(episode.messages))):
            return  # not all of its messages are stored, or still its own: what stood beside them is unknown
        written = {one["id"]: one["properties"] for one in rows.message_rows(episode)}
        for stored in row["around"]:
            properties = written[stored.pop("id")]
            for name, value in stored.items():
                if value != properties[name]:
                    self.seen["derived"].add(f"a message of episode {episode.id} has not the {name} of its place")

    def _look_at_relationship(self, relationship: Relationship, row: Row) -> None:
        del row
        of = relationship.fact_id
        if of is not None and relationship.id != stated_relationship_id(of):
            self.seen["statements"].add(f"relationship {relationship.id} has not the id of what fact {of} states")

    async def _facts(self) -> None:
        def last(row: Row) -> Row:
            return {"after": row["record"]["id"]}

        async for page in self._pages("doctor.reread_facts", last, after="", limit=_PAGE):
            facts = [(fact, row) for row in page if (fact := self._record("fact", row)) is not None]
            edges = await self._edges([fact for fact, _ in facts])
            for fact, row in facts:
                self._compare(fact, "fact", row["copies"], rows.fact_row(fact)["properties"])
                self._look_at_statement(fact, row, edges.get(stated_relationship_id(fact.id)))

    async def _edges(self, facts: Sequence[Fact]) -> dict[str, Row]:
        ids = [stated_relationship_id(fact.id) for fact in facts]
        found = await self._read("relationship.get", ids=ids) if ids else []
        return {row["relationship"]["id"]: row["relationship"] for row in found}

    def _look_at_statement(self, fact: Fact, row: Row, edge: Row | None) -> None:
        statement = fact.statement
        subjects = [] if statement is None else [statement.subject_id]
        objects = [] if statement is None or statement.object_id is None else [statement.object_id]
        for said, led, name in ((subjects, row["subjects"], "subject"), (objects, row["objects"], "object")):
            if said != led:
                self.seen["statements"].add(f"fact {fact.id} leads to another {name} than it states")
        stated = stated_relationship(fact)
        if stated is None:
            if edge is not None and edge["fact_id"] == fact.id:
                self.seen["statements"].add(f"fact {fact.id} points to no entity and has relationship {edge['id']}")
            return
        if edge is None:
            self.seen["statements"].add(f"fact {fact.id} points to an entity and has no relationship")
            return
        stored = self._made(f"relationship {edge['id']}", rows.relationship_from, dict(edge))
        if stored is not None and (differing := _differences(stored, stated)):
            self.seen["statements"].add(
                f"relationship {stored.id} has another {', '.join(differing)} than fact {fact.id}, which states it"
            )

    async def _passes(self) -> None:
        async for page in self._pages(
            "doctor.reread_passes", lambda row: {"after": row["record"]["id"]}, after="", limit=_PAGE
        ):
            for row in page:
                self._made(f"pass {row['record']['id']}", Pass.model_validate, row["record"])
        start = {"after": "", "position": -1, "limit": _PAGE}
        async for page in self._pages(
            "doctor.reread_entries", lambda row: {"after": row["pass_id"], "position": row["position"]}, **start
        ):
            for row in page:
                self._made(f"entry {row['position']} of pass {row['pass_id']}", _entry, row["record"])

    async def _tier_items(self) -> None:
        def last(row: Row) -> Row:
            record = row["record"]
            return {"tier": record["tier"], "scope": record["scope"], "after": record["id"]}

        async for page in self._pages("doctor.reread_tier_items", last, tier="", scope="", after="", limit=_PAGE):
            for row in page:
                record = row["record"]
                self._made(f"{record['tier']} item {record['id']}", _item, record)

    async def _evidence(self) -> None:
        """Runs, passes of the gate, servings and receipts, each read as an export reads it."""
        by_place: dict[str, Any] = {"after": 0, "limit": _PAGE}
        async for page in self._pages("transfer.runs", _place, **by_place):
            for row in page:
                self._made(f"run {row['run']['run_id']}", _run, row["run"])
        ledger = Neo4jLedger(self._database, self._namespace, clock=system_clock)
        async for page in self._pages("transfer.gate_passes", _place, **by_place):
            for row in page:
                try:
                    await ledger.get_gate_pass(row["id"])
                except (ValueError, TypeError) as error:
                    self.seen["records"].add(f"gate pass {row['id']}: {_told(error)}")
        async for page in self._pages("transfer.servings", _place, **by_place):
            for row in page:
                self._made(f"serving of run {row['run_id']}", serving_from, row["run_id"], row)
        async for page in self._pages("transfer.receipts", lambda row: {"after": row["key"]}, after="", limit=_PAGE):
            for row in page:
                self._made(f"receipt of {row['key']}", Receipt.model_validate_json, row["receipt"])

    async def _cycles(self, kind: RecordKind) -> None:
        closer_of: dict[str, str] = {}
        start = {"kind": kind, "after": "", "limit": _PAGE}
        async for page in self._pages("doctor.closers", lambda row: {"after": row["id"]}, **start):
            closer_of.update((row["id"], row["closer"]) for row in page)
        for cycle in _cycles_of(closer_of):
            self.seen["cycles"].add(f"{kind} {' closed by '.join([*cycle, cycle[0]])}")


_ANY_VECTOR = (1.0,)
"""In the place of vectors, which are looked at inside the database."""


def _filled(kind: RecordKind, record: Row) -> Row:
    """The row with what the page leaves out and the reader asks for."""
    return {**record, "fact_ids": ()} if kind == "theme" else dict(record)


def _run(row: Row) -> RunOutcome:
    return RunOutcome.model_validate({**row, "holdout": dict(row["holdout"])})


def _entry(row: Row) -> AuditEntry:
    from_json(row["before"])  # what undoing the pass would read
    return AuditEntry.model_validate({**row, **{name: row[name] or () for name in ("fields", "refers_to")}})


def _item(row: Row) -> TierItem:
    metadata = None if row["metadata"] is None else from_json(row["metadata"])
    return TierItem.model_validate(
        {**row, "scope": row["scope"] or None, "metadata": metadata, "embedding": _ANY_VECTOR}
    )


def _differences(stored: Relationship, stated: Relationship) -> list[str]:
    """In what the edge of a statement differs from its fact; an assertion may have let it begin earlier."""
    same = ("source_id", "target_id", "relation_type", "fact_id", "valid_until", "is_live")
    differing = [name for name in same if getattr(stored, name) != getattr(stated, name)]
    return [*differing, "valid_from"] if stored.valid_from > stated.valid_from else differing


def _cycles_of(closer_of: Mapping[str, str]) -> list[list[str]]:
    """The circles of a map, each once, from its least id on; every id is walked once."""
    walked: set[str] = set()
    cycles: list[list[str]] = []
    for start in closer_of:
        path: dict[str, int] = {}
        at = start
        while at in closer_of and at not in walked:
            walked.add(at)
            path[at] = len(path)
            at = closer_of[at]
        if at in path:
            cycle = list(path)[path[at] :]
            least = cycle.index(min(cycle))
            cycles.append(cycle[least:] + cycle[:least])
    return cycles


def _place(row: Row) -> Row:
    return {"after": row["place"]}


def _told(error: ValueError | TypeError) -> str:
    return str(translated(error)) if isinstance(error, ValidationError) else str(error)


__all__ = ["INSPECTION", "Inspection", "InspectionCheck", "Seen"]
