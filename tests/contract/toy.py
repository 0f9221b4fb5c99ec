"""A third store, small and slow, written as a stranger would: from the ports and the contract, on SQLite.

A namespace is read whole, changed in memory and written whole in one transaction of SQLite; every record goes through
JSON on its way. It has only what the ports demand, none of the optional protocols, and shares no code with the two
stores of the library.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from remembrancer.ports import Direction, Hit, MemoryIndex, MemoryStore
from remembrancer.ports.arguments import (
    checked_batch,
    flag,
    key,
    keys,
    moment,
    page,
    query_vector,
    similarity,
    statement_keys,
    text,
    whole_number,
)
from remembrancer.ports.arguments import direction as checked_direction
from remembrancer.records import (
    AnyRecord,
    Clock,
    ConcurrencyError,
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    GatePass,
    InvalidInputError,
    Message,
    NotFoundError,
    PlanOutdatedError,
    Receipt,
    RecordBatch,
    RecordKind,
    Refusal,
    Relationship,
    Theme,
    cosine,
    is_changed_since,
    is_valid_at,
    kind_of,
    name_key,
    system_clock,
)
from remembrancer.records.assertion import StoredWindow, resolve_assertions
from remembrancer.records.audit import comparable, with_uses_since
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.belief import is_believed
from remembrancer.records.gate import NOT_ON_TRIAL
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_id, require_ids, require_key
from remembrancer.records.stated import stated_relationship, stated_relationship_id, with_entities
from remembrancer.records.statement import statement_key

Named = tuple[RecordKind, str]

MODELS: dict[RecordKind, type[Any]] = {
    "message": Message,
    "episode": Episode,
    "fact": Fact,
    "theme": Theme,
    "entity": Entity,
    "relationship": Relationship,
}
_ROUNDING = 1e-6
_TABLES = """
CREATE TABLE IF NOT EXISTS record (namespace TEXT, kind TEXT, id TEXT, body TEXT, PRIMARY KEY (namespace, kind, id));
CREATE TABLE IF NOT EXISTS held (namespace TEXT, episode TEXT, place INTEGER, message TEXT);
CREATE TABLE IF NOT EXISTS receipt (namespace TEXT, key TEXT, body TEXT, PRIMARY KEY (namespace, key));
CREATE TABLE IF NOT EXISTS gate_pass (namespace TEXT, id TEXT, body TEXT, PRIMARY KEY (namespace, id));
"""


def opened(path: str) -> sqlite3.Connection:
    """A file with the tables of this store, made when it is not there."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(_TABLES)
    return connection


class Contents:
    """All of one namespace, in memory for the length of one call.

    Attributes:
        records: By kind and id; episodes without their messages.
        held: Ids of the messages of each episode, in order.
    """

    def __init__(self, connection: sqlite3.Connection, namespace: str) -> None:
        self.records: dict[RecordKind, dict[str, Any]] = {kind: {} for kind in MODELS}
        self.held: dict[str, list[str]] = {}
        for kind, record_id, body in connection.execute(
            "SELECT kind, id, body FROM record WHERE namespace = ?", [namespace]
        ):
            self.records[kind][record_id] = MODELS[kind].model_validate_json(body)
        for episode_id, message_id in connection.execute(
            "SELECT episode, message FROM held WHERE namespace = ? ORDER BY episode, place", [namespace]
        ):
            self.held.setdefault(episode_id, []).append(message_id)

    def save(self, connection: sqlite3.Connection, namespace: str) -> None:
        """Put this in the place of what is stored."""
        connection.execute("DELETE FROM record WHERE namespace = ?", [namespace])
        connection.execute("DELETE FROM held WHERE namespace = ?", [namespace])
        connection.executemany(
            "INSERT INTO record VALUES (?, ?, ?, ?)",
            [(namespace, kind, one.id, one.model_dump_json()) for kind in MODELS for one in self.all(kind)],
        )
        connection.executemany(
            "INSERT INTO held VALUES (?, ?, ?, ?)",
            [(namespace, episode, *placed) for episode, ids in self.held.items() for placed in enumerate(ids)],
        )

    def all(self, kind: RecordKind) -> list[Any]:
        """Records of a kind in listing order."""
        found = sorted(self.records[kind].values(), key=lambda one: one.id)
        if kind in ("fact", "episode"):
            start = "valid_from" if kind == "fact" else "started_at"
            found.sort(key=lambda one: getattr(one, start), reverse=True)
        return [self.whole(one) if kind == "episode" else one for one in found]

    def whole(self, episode: Episode) -> Episode:
        """An episode with those of its messages that are stored."""
        held = (self.records["message"].get(one) for one in self.held.get(episode.id, ()))
        return episode.model_copy(update={"messages": tuple(one for one in held if one is not None)})

    def stored(self) -> set[Named]:
        """What is stored."""
        return {(kind, one) for kind, records in self.records.items() for one in records}

    def placeholders(self) -> set[Named]:
        """What is named by a record and not stored."""
        named: set[Named] = {("message", one) for ids in self.held.values() for one in ids}
        for episode in self.records["episode"].values():
            named.update(("fact", one) for one in episode.fact_ids)
        for theme in self.records["theme"].values():
            named.update(("fact", one) for one in theme.fact_ids)
        for edge in self.records["relationship"].values():
            named.update({("entity", edge.source_id), ("entity", edge.target_id)})
        for fact in self.records["fact"].values():
            named.update(("entity", one) for one in fact.entity_ids)
            named.update(("episode", one) for one in fact.source_episode_ids)
            named.update(("message", one) for one in fact.source_message_ids)
            if fact.statement is not None:
                ends = (fact.statement.subject_id, fact.statement.object_id)
                named.update(("entity", one) for one in ends if one is not None)
        return named - self.stored()

    def stating(self, wanted: str) -> list[Fact]:
        """Facts whose statement has this key, closed ones too."""
        return [one for one in self.all("fact") if one.statement is not None and one.statement.key == wanted]


class Change:
    """One batch on the way into the contents of a namespace."""

    def __init__(self, contents: Contents, batch: RecordBatch, *, namespace: str, now: dt.datetime) -> None:
        self.contents, self.batch, self.namespace, self.now = contents, batch, namespace, now
        self.put: set[Named] = set()
        self.read = {one.id: one for one in batch.expected_records if isinstance(one, Fact)}
        self.claimed: dict[str, str] = {}
        self.merged: dict[str, str] = {}
        self.refused: list[Refusal] = []
        self.ruled: list[GatePass] = []

    def check(self, known_passes: set[str]) -> None:
        """See that all is stored as the batch expects."""
        contents, batch = self.contents, self.batch
        for episode_id, expected in batch.expected_messages.items():
            episode = contents.records["episode"].get(episode_id)
            actual = len(contents.whole(episode).messages) if episode else 0
            _expect("episode", episode_id, expected, actual)
        guarded = [one for one in batch.episodes if one.id in batch.expected_messages]
        for message_id, holder in ((message.id, one.id) for one in guarded for message in one.messages):
            others = [one for one, ids in contents.held.items() if message_id in ids and one != holder]
            _expect("message", message_id, 0, len(others))
        for theme_id, expected in batch.expected_facts.items():
            theme = contents.records["theme"].get(theme_id)
            _expect("theme", theme_id, expected, len(set(theme.fact_ids)) if theme else 0)
        for one in batch.expected_statements:
            _expect(
                "statement",
                one.subject_id,
                one.facts,
                len(contents.stating(statement_key(one.subject_id, one.predicate))),
            )
        for gate_pass in batch.gate_passes:
            _expect("gate pass", gate_pass.id, 0, int(gate_pass.id in known_passes))
        changed = [one.id for one in batch.expected_records if not self._is_stored_so(one)]
        for kind, ids in batch.expected_absent.items():
            changed += [one for one in ids if one in contents.records[kind]]
        if changed:
            raise PlanOutdatedError("without a pass", changed=changed)
        themes = {one.id for one in batch.themes} | contents.records["theme"].keys() - batch.removals.get("theme", ())
        missing = [one.theme_id for one in batch.theme_additions if one.theme_id not in themes]
        if missing:
            raise NotFoundError("theme", missing, namespace=self.namespace)

    def _is_stored_so(self, expected: AnyRecord) -> bool:
        stored = self.contents.records[kind_of(expected)].get(expected.id)
        if isinstance(stored, Episode):
            stored = self.contents.whole(stored)
        return stored is not None and comparable(stored) == comparable(expected)

    def apply(self) -> Receipt:
        """Change the contents."""
        stored, placeholders = self.contents.stored(), self.contents.placeholders()
        for kind, ids in self.batch.removals.items():
            for record_id in ids:
                self._remove(kind, record_id)
        for claim in self.batch.claims:
            self._claim(claim)
        for entity in self.batch.entities:
            self._put("entity", entity)
        for episode in self.batch.episodes:
            self._put_episode(episode)
        for fact in self.batch.facts:
            self._put_fact(with_entities(fact, self.claimed))
        for theme in self.batch.themes:
            self._put("theme", theme)
        for addition in self.batch.theme_additions:
            theme = self.contents.records["theme"][addition.theme_id]
            joining = tuple(one for one in dict.fromkeys(addition.fact_ids) if one not in theme.fact_ids)
            if joining:
                self._put("theme", theme.model_copy(update={"fact_ids": (*theme.fact_ids, *joining)}))
        for edge in self.batch.relationships:
            self._put_stamped("relationship", self._between_claimed(edge))
        self._assert([self._between_claimed(edge) for edge in self.batch.assertions])
        for gate_pass in self.batch.gate_passes:
            self._rule(gate_pass)
        after, gone = self.contents.stored(), self.contents.placeholders()
        return Receipt(
            created=_by_kind(self.put & after - stored),
            changed=_by_kind(self.put & after & stored),
            removed=_by_kind(stored - after),
            placeholders=_by_kind(gone - placeholders - stored),
            placeholders_removed=_by_kind(placeholders - gone - after),
            refused=self.refused,
            claimed=self.claimed,
            merged=self.merged,
        )

    def _put(self, kind: RecordKind, record: Any) -> None:
        self.contents.records[kind][record.id] = record
        self.put.add((kind, record.id))

    def _put_stamped(self, kind: RecordKind, record: Any) -> Any:
        stored = self.contents.records[kind].get(record.id)
        recorded = (stored and stored.recorded_at) or record.recorded_at or self.now
        closed = None if record.is_live else (stored and stored.closed_at) or record.closed_at or self.now
        stamped = record.model_copy(update={"recorded_at": recorded, "closed_at": closed})
        self._put(kind, stamped)
        return stamped

    def _put_episode(self, episode: Episode) -> None:
        own = [message.id for message in episode.messages]
        for holder, ids in self.contents.held.items():
            self.contents.held[holder] = [one for one in ids if one not in own]
        for message in episode.messages:
            self._put("message", message)
        self._put("episode", episode.model_copy(update={"messages": ()}))
        self.contents.held[episode.id] = own

    def _put_fact(self, fact: Fact) -> None:
        stored, read = self.contents.records["fact"].get(fact.id), self.read.get(fact.id)
        if stored is not None and read is not None:
            fact = with_uses_since(fact, read, stored)
        edge = stated_relationship(self._put_stamped("fact", fact))
        if edge is not None:
            self._put_stamped("relationship", edge)
        else:
            self._remove("relationship", stated_relationship_id(fact.id))

    def _remove(self, kind: RecordKind, record_id: str) -> None:
        if self.contents.records[kind].pop(record_id, None) is None:
            return
        if kind == "episode":
            self.contents.held.pop(record_id, None)
        if kind == "fact":
            self._remove("relationship", stated_relationship_id(record_id))
        if kind == "entity":
            for edge in self.contents.all("relationship"):
                if record_id in (edge.source_id, edge.target_id):
                    self._remove("relationship", edge.id)

    def _claim(self, claim: Entity) -> None:
        wanted = name_key(claim.name, claim.entity_type)
        called = [one for one in self.contents.all("entity") if name_key(one.name, one.entity_type) == wanted]
        holders = sorted((one for one in called if one.is_live), key=lambda one: (one.created_at, one.id))
        self.claimed[claim.id] = holders[0].id if holders else claim.id
        if not holders:
            self._put("entity", claim)

    def _between_claimed(self, edge: Relationship) -> Relationship:
        ends = {"source_id": edge.source_id, "target_id": edge.target_id}
        return edge.model_copy(update={name: self.claimed.get(one, one) for name, one in ends.items()})

    def _assert(self, assertions: Sequence[Relationship]) -> None:
        stored = sorted(self.contents.all("relationship"), key=lambda one: (one.valid_from, one.id))
        alike = {
            wanted.id: [
                StoredWindow(one.id, one.valid_from, one.valid_until)
                for one in stored
                if one.is_live and _ends(one) == _ends(wanted)
            ]
            for wanted in assertions
        }
        outcome = resolve_assertions(assertions, alike)
        for edge in outcome.to_put:
            self._put_stamped("relationship", edge)
        for edge_id, start in outcome.widened.items():
            edge = self.contents.records["relationship"][edge_id]
            self._put_stamped("relationship", edge.model_copy(update={"valid_from": start}))
        self.merged = outcome.merged

    def _rule(self, gate_pass: GatePass) -> None:
        heard = []
        for decision in gate_pass.decisions:
            fact = self.contents.records["fact"].get(decision.fact_id)
            if fact is None or not fact.is_live or not gate_pass.is_on_trial(fact.tags):
                self.refused.append(Refusal(kind="fact", id=decision.fact_id, reason=NOT_ON_TRIAL))
                continue
            heard.append(decision)
            if decision.verdict == "promoted":
                self._put_fact(fact.model_copy(update={"tags": gate_pass.promoted(fact.tags)}))
            elif decision.verdict == "evicted":
                self._put_fact(fact.model_copy(update={"invalidated_by": decision.reason}))
        at = gate_pass.decided_at or self.now
        self.ruled.append(gate_pass.model_copy(update={"decisions": tuple(heard), "decided_at": at}))


class ToyStore(MemoryStore):
    """Records of one namespace in a file of SQLite."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        namespace: str,
        *,
        space: EmbeddingSpace | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._connection = connection
        self._namespace = require_key(namespace, field="namespace")
        self._space = space
        self._clock = clock
        self._index = ToyIndex(self)

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def space(self) -> EmbeddingSpace | None:
        return self._space

    @property
    def index(self) -> ToyIndex:
        return self._index

    def contents(self) -> Contents:
        return Contents(self._connection, self._namespace)

    async def write(self, batch: RecordBatch, *, idempotency_key: str | None = None) -> Receipt:
        if idempotency_key is not None:
            require_key(idempotency_key, field="idempotency_key")
        checked = checked_batch(batch, self._space)
        for unsupported in ("audit", "scrub", "derivations"):
            if getattr(checked, unsupported):
                raise InvalidInputError(unsupported, "this store keeps no audit trail")
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            receipt = self._written(checked, idempotency_key)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return receipt

    def _written(self, batch: RecordBatch, idempotency_key: str | None) -> Receipt:
        run, whose = self._connection.execute, self._namespace
        earlier = run("SELECT body FROM receipt WHERE namespace = ? AND key = ?", [whose, idempotency_key]).fetchone()
        if earlier is not None:
            return Receipt.model_validate_json(earlier[0]).model_copy(update={"replayed": True})
        contents = self.contents()
        change = Change(contents, batch, namespace=whose, now=require_instant(self._clock(), field="clock"))
        change.check({one for (one,) in run("SELECT id FROM gate_pass WHERE namespace = ?", [whose])})
        receipt = change.apply()
        contents.save(self._connection, whose)
        for ruled in change.ruled:
            run("INSERT INTO gate_pass VALUES (?, ?, ?)", [whose, ruled.id, ruled.model_dump_json()])
        if idempotency_key is not None:
            run("INSERT INTO receipt VALUES (?, ?, ?)", [whose, idempotency_key, receipt.model_dump_json()])
        return receipt

    def _got(self, kind: RecordKind, ids: Sequence[str]) -> dict[str, Any]:
        wanted, contents = require_ids(ids, field="ids"), self.contents()
        found = {one: contents.records[kind][one] for one in wanted if one in contents.records[kind]}
        return {one: contents.whole(record) for one, record in found.items()} if kind == "episode" else found

    async def get_entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        return self._got("entity", ids)

    async def get_relationships(self, ids: Sequence[str]) -> dict[str, Relationship]:
        return self._got("relationship", ids)

    async def get_episodes(self, ids: Sequence[str]) -> dict[str, Episode]:
        return self._got("episode", ids)

    async def get_facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        return self._got("fact", ids)

    async def get_themes(self, ids: Sequence[str]) -> dict[str, Theme]:
        return self._got("theme", ids)

    async def get_messages(self, ids: Sequence[str]) -> dict[str, Message]:
        return self._got("message", ids)

    async def find_entities(
        self, *, entity_type: str | None = None, include_invalidated: bool = False, limit: int = 100, offset: int = 0
    ) -> list[Entity]:
        wanted = None if entity_type is None else require_key(entity_type, field="entity_type")
        keep_all = flag(include_invalidated, field="include_invalidated")
        most, skipped = page(limit, offset)
        found = [
            one
            for one in self.contents().all("entity")
            if (wanted is None or one.entity_type == wanted) and (keep_all or one.invalidated_at is None)
        ]
        return found[skipped : skipped + most]

    async def find_facts(
        self,
        *,
        theme_id: str | None = None,
        entity_id: str | None = None,
        tags: Sequence[str] = (),
        exclude_tags: Sequence[str] = (),
        include_invalidated: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Fact]:
        theme = None if theme_id is None else require_id(theme_id, field="theme_id")
        entity = None if entity_id is None else require_id(entity_id, field="entity_id")
        wanted, unwanted = set(keys(tags, field="tags")), set(keys(exclude_tags, field="exclude_tags"))
        keep_all = flag(include_invalidated, field="include_invalidated")
        most, skipped = page(limit, offset)
        found = [
            one
            for one in self.contents().all("fact")
            if (theme is None or one.theme_id == theme)
            and (entity is None or entity in one.entity_ids)
            and (not wanted or wanted & set(one.tags))
            and not unwanted & set(one.tags)
            and (keep_all or one.is_live)
        ]
        return found[skipped : skipped + most]

    async def find_statements(self, subjects: Sequence[tuple[str, str]]) -> list[Fact]:
        wanted = set(statement_keys(subjects))
        return [one for one in self.contents().all("fact") if one.statement is not None and one.statement.key in wanted]

    async def get_relationships_for_entity(
        self,
        entity_id: str,
        *,
        direction: Direction = "both",
        relation_type: str | None = None,
        include_invalidated: bool = False,
    ) -> list[Relationship]:
        end, way = require_id(entity_id, field="entity_id"), checked_direction(direction)
        wanted = None if relation_type is None else require_key(relation_type, field="relation_type")
        keep_all = flag(include_invalidated, field="include_invalidated")
        return [
            edge
            for edge in self.contents().all("relationship")
            if ((way != "in" and edge.source_id == end) or (way != "out" and edge.target_id == end))
            and (wanted is None or edge.relation_type == wanted)
            and (keep_all or edge.is_live)
        ]

    async def list_episodes(self, *, limit: int = 100, offset: int = 0) -> list[Episode]:
        most, skipped = page(limit, offset)
        return self.contents().all("episode")[skipped : skipped + most]

    async def list_themes(self) -> list[Theme]:
        return self.contents().all("theme")

    async def find_episode_near(
        self, conversation: str | None, *, starting_before: dt.datetime, ending_after: dt.datetime
    ) -> Episode | None:
        wanted = None if conversation is None else key(conversation, field="conversation")
        latest = require_instant(starting_before, field="starting_before")
        earliest = require_instant(ending_after, field="ending_after")
        for episode in self.contents().all("episode"):
            near = episode.started_at <= latest and episode.ended_at >= earliest
            if near and episode.messages and episode.messages[0].conversation == wanted:
                return episode  # type: ignore[no-any-return]
        return None

    async def find_unread_episodes(self, *, after: str | None = None, limit: int = 100) -> list[Episode]:
        beyond = "" if after is None else require_id(after, field="after")
        most, _ = page(limit, 0)
        unread = [one for one in self.contents().all("episode") if one.unread_message_ids and one.id > beyond]
        return sorted(unread, key=lambda one: one.id)[:most]

    async def stored_message_ids(self, ids: Sequence[str]) -> set[str]:
        return set(self._got("message", ids))

    async def find_themes_labelled(self, label: str) -> list[Theme]:
        wanted = text(label, field="label")
        return [one for one in self.contents().all("theme") if one.label == wanted]

    async def touch_facts(self, ids: Sequence[str], *, at: dt.datetime | None = None) -> None:
        used = require_ids(ids, field="ids")
        instant = require_instant(self._clock() if at is None else at, field="at")
        contents = self.contents()
        facts = contents.records["fact"]
        for fact in (facts[one] for one in used if one in facts):
            counted = (facts[fact.id].access_count or 0) + 1
            facts[fact.id] = fact.model_copy(update={"access_count": counted, "last_accessed_at": instant})
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            contents.save(self._connection, self._namespace)

    async def flush_usage(self) -> None:
        """Nothing is ever outstanding here."""

    async def clear(self) -> None:
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for table in ("record", "held", "receipt", "gate_pass"):
                self._connection.execute(f"DELETE FROM {table} WHERE namespace = ?", [self._namespace])


class ToyIndex(MemoryIndex):
    """Compares every vector of the store with the query."""

    def __init__(self, store: ToyStore) -> None:
        self._store = store

    def serves(self, store: MemoryStore) -> bool:
        return store is self._store

    async def rebuild(self, store: MemoryStore) -> None:
        if not self.serves(store):
            raise InvalidInputError("store", "this index lives on its own store alone")

    async def search_entities(
        self,
        embedding: Sequence[float],
        *,
        limit: int = 20,
        min_similarity: float = 0.5,
        include_invalidated: bool = True,
    ) -> list[Hit]:
        keep_all = flag(include_invalidated, field="include_invalidated")
        return self._nearest(
            "entity", "search_entities", embedding, limit, min_similarity, lambda one: keep_all or one.is_live
        )

    async def search_facts(
        self,
        embedding: Sequence[float],
        *,
        limit: int = 20,
        min_similarity: float = 0.5,
        include_invalidated: bool = True,
        include_quarantined: bool = True,
        valid_at: dt.datetime | None = None,
        changed_since: dt.datetime | None = None,
        believed_at: dt.datetime | None = None,
        tags: Sequence[str] = (),
        theme_ids: Sequence[str] | None = None,
    ) -> list[Hit]:
        keep_all = flag(include_invalidated, field="include_invalidated")
        keep_hidden = flag(include_quarantined, field="include_quarantined")
        held, since = moment(valid_at, field="valid_at"), moment(changed_since, field="changed_since")
        known, wanted = moment(believed_at, field="believed_at"), set(keys(tags, field="tags"))
        themes = None if theme_ids is None else require_ids(theme_ids, field="theme_ids")

        def passes(fact: Fact) -> bool:
            return (
                is_believed(fact, known, include_invalidated=keep_all)
                and (keep_hidden or not fact.is_quarantined)
                and (held is None or is_valid_at(fact, held))
                and (since is None or is_changed_since(fact, since))
                and (not wanted or bool(wanted & set(fact.tags)))
                and (themes is None or fact.theme_id in themes)
            )

        return self._nearest("fact", "search_facts", embedding, limit, min_similarity, passes)

    async def nearest_themes(self, embeddings: Sequence[Sequence[float]], *, limit: int) -> list[list[Hit]]:
        return [
            self._nearest("theme", f"nearest_themes.{place}", one, limit, -1) for place, one in enumerate(embeddings)
        ]

    async def search_themes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        return self._nearest("theme", "search_themes", embedding, limit, min_similarity)

    async def search_episodes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        return self._nearest("episode", "search_episodes", embedding, limit, min_similarity)

    async def search_messages(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        return self._nearest("message", "search_messages", embedding, limit, min_similarity)

    def _nearest(
        self,
        kind: RecordKind,
        search: str,
        embedding: Sequence[float],
        limit: int,
        min_similarity: float,
        passes: Callable[[Any], bool] = lambda _: True,
    ) -> list[Hit]:
        most, least = whole_number(limit, field="limit"), similarity(min_similarity)
        space = self._store.space
        query = query_vector(embedding, dimensions=space.dimensions if space else None, search=search)
        listed = [one for one in self._store.contents().all(kind) if one.embedding is not None and passes(one)]
        hits = [Hit(one.id, cosine(one.embedding, query)) for one in listed]
        near = [hit for hit in hits if hit.score >= least - _ROUNDING]
        return sorted(near, key=lambda hit: -hit.score)[:most]


def _ends(edge: Relationship) -> tuple[str, str, str]:
    return edge.source_id, edge.target_id, edge.relation_type


def _expect(kind: str, record_id: str, expected: int, actual: int) -> None:
    if actual != expected:
        raise ConcurrencyError(kind, record_id, expected=expected, actual=actual)


def _by_kind(named: Iterable[Named]) -> dict[RecordKind, tuple[str, ...]]:
    return ids_by_kind((kind, [record_id]) for kind, record_id in sorted(named))
