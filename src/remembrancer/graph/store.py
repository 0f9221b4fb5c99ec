"""The store in Neo4j: records of one namespace as nodes and edges."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from remembrancer.graph import queries
from remembrancer.graph import records as rows
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.graph.disagreement import DisagreementSearch
from remembrancer.graph.erasing import ErasureSurvey
from remembrancer.graph.index import Neo4jIndex
from remembrancer.graph.ledger import Neo4jLedger
from remembrancer.graph.migrations import namespace_space, prepare, require_indexes
from remembrancer.graph.namesakes import NamesakeSearch
from remembrancer.graph.reembedding import Neo4jReembedding
from remembrancer.graph.retrieval import GraphRetrieval
from remembrancer.graph.serving import RunRegister
from remembrancer.graph.spaces import SEARCHES, SpaceGuard
from remembrancer.graph.survey import FactSurvey
from remembrancer.graph.tiers import Neo4jTiers
from remembrancer.graph.trail import GraphTrail
from remembrancer.graph.transfer import Neo4jTransfer
from remembrancer.graph.usage import UsageCounter
from remembrancer.graph.values import text_key
from remembrancer.graph.writing import BatchWriter
from remembrancer.ports import Direction, MemoryStore
from remembrancer.ports.arguments import checked_batch, flag, key, keys, page, statement_keys, text, whole_number
from remembrancer.ports.arguments import direction as checked_direction
from remembrancer.ports.audit import MAX_EVIDENCE
from remembrancer.ports.recall import Candidates, Findings, RecallQuestion
from remembrancer.records import (
    AuditEntry,
    Clock,
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    InvalidInputError,
    MemoryQuery,
    MemoryResult,
    Message,
    Pass,
    Receipt,
    RecordBatch,
    Relationship,
    Subgraph,
    Theme,
    system_clock,
)
from remembrancer.records.history import Evidence, History
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_id, require_ids, require_key
from remembrancer.records.packed import PackedIds

R = TypeVar("R", Entity, Episode, Fact, Message, Relationship, Theme)

_CLEARED_AT_ONCE = 5_000
_ATTEMPTS_AT_ONCE = 1  # writers that have met go one after the other from then on; with 2 they deadlock twice as often


class Neo4jStore(RunRegister, ErasureSurvey, FactSurvey, DisagreementSearch, NamesakeSearch, MemoryStore):
    """Records of one namespace in a Neo4j database; made by `Neo4jStore.open`."""

    def __init__(
        self, database: Database, namespace: str, *, space: tuple[int, EmbeddingSpace] | None, clock: Clock
    ) -> None:
        """Wrap a database whose schema is up to date.

        Args:
            database: Where the records live.
            namespace: Whose memory.
            space: The namespace's embedding space and its number.
            clock: Tells when a record was learnt, closed or used.
        """
        self.database = database
        self._namespace = namespace
        self._clock = clock
        self._usage = UsageCounter(database, namespace)
        self._ledger = Neo4jLedger(database, namespace, clock=clock)
        self._bind(space)
        self._reembedding = Neo4jReembedding(database, namespace, moved=self._bind, clock=clock)

    def _bind(self, space: tuple[int, EmbeddingSpace] | None) -> None:
        """Read and write in an embedding space from here on."""
        database, namespace, clock = self.database, self._namespace, self._clock
        self._number: int = space[0] if space is not None else 1
        self._space: EmbeddingSpace | None = space[1] if space is not None else None
        self._guard = SpaceGuard(database, namespace, number=self._number, space=self._space)
        self._dimensions: int = space[1].dimensions if space is not None else 384
        dimensions = self._space.dimensions if self._space is not None else None
        self._index = Neo4jIndex(self, guard=self._guard, dimensions=dimensions)
        self._trail = GraphTrail(database, namespace, number=self._number, dimensions=self._dimensions)
        self._tiers = Neo4jTiers(database, namespace, guard=self._guard, number=self._number, space=self._space)
        self._transfer = Neo4jTransfer(
            database,
            namespace,
            number=self._number,
            dimensions=self._dimensions,
            guard=self._guard,
            ledger=self._ledger,
            clock=clock,
        )
        self._retrieval = GraphRetrieval(
            database, namespace, guard=self._guard, number=self._number, dimensions=dimensions
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        uri: str | None = None,
        *,
        auth: tuple[str, str] | None = None,
        database: Database | str | None = None,
        namespace: str,
        space: EmbeddingSpace | None = None,
        migrate: bool = True,
        clock: Clock = system_clock,
    ) -> AsyncIterator[Neo4jStore]:
        """Open one namespace of a database; at the end outstanding usage counts are written.

        Args:
            uri: Where Neo4j listens, for example `neo4j://localhost:7687`; left out when `database` is an open one.
            auth: User and password.
            database: An open `Database`, which is then not closed here; or the name of the database at `uri`.
            namespace: Whose memory.
            space: The embedding space of what will be written; `None`: that of the namespace, if it has one.
            migrate: Bring the schema up to date first.
            clock: Tells when a record was learnt, closed or used.

        Raises:
            InvalidInputError: An argument is wrong.
            ServerUnavailableError: Nothing answers.
            MigrationError: The schema is newer than this library, or older and `migrate` is false; or an index is
                missing or has other options than the queries need.
            EmbeddingSpaceMismatchError: The namespace belongs to another embedding space.
        """
        checked = require_key(namespace, field="namespace")
        if space is not None and not isinstance(space, EmbeddingSpace):
            raise InvalidInputError("space", f"expected an EmbeddingSpace, got {type(space).__name__}")
        async with AsyncExitStack() as stack:
            if isinstance(database, Database):
                opened = database
            elif uri is None:
                raise InvalidInputError("uri", "give the address of Neo4j, or an open database")
            else:
                opened = await stack.enter_async_context(Database.open(uri, auth=auth, name=database))
            await prepare(opened, migrate_first=migrate, clock=clock)
            belongs = await namespace_space(opened, checked, space, clock=clock)
            await require_indexes(opened, belongs)
            store = cls(opened, checked, space=belongs, clock=clock)
            try:
                yield store
            except BaseException:
                await store._usage.close_after_failure()
                raise
            await store.aclose()

    async def aclose(self) -> None:
        """Write outstanding usage counts; the database stays open."""
        await self._usage.close()

    @property
    def namespace(self) -> str:
        """Whose memory."""
        return self._namespace

    @property
    def space(self) -> EmbeddingSpace | None:
        """The embedding space of the records."""
        return self._space

    @property
    def index(self) -> Neo4jIndex:
        """The index that is live on this store."""
        return self._index

    @property
    def ledger(self) -> Neo4jLedger:
        """The scored runs of this namespace, and what the gate has ruled."""
        return self._ledger

    @property
    def tiers(self) -> Neo4jTiers:
        """The items of the durable memory tiers of this namespace."""
        return self._tiers

    @property
    def transfer(self) -> Neo4jTransfer:
        """Carries what of this namespace no other part reads or writes whole."""
        return self._transfer

    @property
    def reembedding(self) -> Neo4jReembedding:
        """Moves this namespace to another embedding space."""
        return self._reembedding

    @property
    def counts_usage(self) -> bool:
        """Whether uses of facts are counted; not for a user without write rights."""
        return not self._usage.is_off

    async def _read(self, name: str, **parameters: Any) -> list[Row]:
        if name in SEARCHES:
            return await self._guard.searched(name, parameters)
        dimensions = self._space.dimensions if self._space is not None else 384
        query = queries.load(name, self._number, dimensions)
        return await self.database.read(query, {"namespace": self._namespace, **parameters})

    async def _read_ids(self, name: str) -> PackedIds:
        return await self.database.read_ids(queries.load(name), {"namespace": self._namespace})

    async def _get(self, name: str, ids: Sequence[str], made_from: Callable[[Row], R]) -> dict[str, R]:
        wanted = list(dict.fromkeys(require_ids(ids, field="ids")))
        if not wanted:
            return {}
        found = {}
        for row in await self._read(name, ids=wanted):
            record = made_from(next(iter(row.values())))
            found[record.id] = record
        return {record_id: found[record_id] for record_id in wanted if record_id in found}

    async def write(self, batch: RecordBatch, *, idempotency_key: str | None = None) -> Receipt:
        """Write a batch in one transaction; errors as in the port.

        Raises:
            EmbeddingSpaceMismatchError: The namespace has been re-embedded since the store was opened.
            NotFoundError: Facts are to be added to a theme that is not stored. Nothing was written.
        """
        if idempotency_key is not None:
            require_key(idempotency_key, field="idempotency_key")
        checked = checked_batch(batch, self._space)
        if checked.is_empty and idempotency_key is None:
            return Receipt()
        now = require_instant(self._clock(), field="clock")
        attempts = 0

        async def work(transaction: Transaction) -> Receipt:
            nonlocal attempts
            attempts += 1
            if attempts > _ATTEMPTS_AT_ONCE:
                await transaction.run(queries.load("write.in_turn"), {"namespace": self._namespace})
            pending = await self._guard.entered(transaction)
            writer = BatchWriter(
                transaction, namespace=self._namespace, space=self._number, dimensions=self._dimensions, now=now
            )
            receipt = await writer.write(checked, idempotency_key=idempotency_key)
            await self._guard.outdate(transaction, pending, receipt=receipt)
            return receipt

        return await self.database.write(work)

    async def get_entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """The stored ones of these, in the order asked for."""
        return await self._get("entity.get", ids, rows.entity_from)

    async def get_relationships(self, ids: Sequence[str]) -> dict[str, Relationship]:
        """The stored ones of these, in the order asked for."""
        return await self._get("relationship.get", ids, rows.relationship_from)

    async def get_episodes(self, ids: Sequence[str]) -> dict[str, Episode]:
        """The stored ones of these, in the order asked for."""
        return await self._get("episode.get", ids, rows.episode_from)

    async def get_facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        """The stored ones of these, in the order asked for."""
        return await self._get("fact.get", ids, rows.fact_from)

    async def get_themes(self, ids: Sequence[str]) -> dict[str, Theme]:
        """The stored ones of these, in the order asked for."""
        return await self._get("theme.get", ids, rows.theme_from)

    async def get_messages(self, ids: Sequence[str]) -> dict[str, Message]:
        """The stored ones of these, in the order asked for."""
        return await self._get("message.get", ids, rows.message_from)

    async def find_entities(
        self,
        *,
        entity_type: str | None = None,
        include_invalidated: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Entity]:
        """Entities by id; filters come before offset and limit."""
        wanted = None if entity_type is None else require_key(entity_type, field="entity_type")
        keep_all = flag(include_invalidated, field="include_invalidated")
        most, skipped = page(limit, offset)
        found = await self._read(
            "entity.find", entity_type=wanted, include_invalidated=keep_all, limit=most, offset=skipped
        )
        return [rows.entity_from(row["entity"]) for row in found]

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
        """Facts, newest `valid_from` first, then by id; all filters must pass."""
        theme = None if theme_id is None else require_id(theme_id, field="theme_id")
        entity = None if entity_id is None else require_id(entity_id, field="entity_id")
        wanted, unwanted = keys(tags, field="tags"), keys(exclude_tags, field="exclude_tags")
        keep_all = flag(include_invalidated, field="include_invalidated")
        most, skipped = page(limit, offset)
        found = await self._read(
            "fact.find",
            theme_id=theme,
            entity_id=entity,
            tags=list(wanted),
            exclude_tags=list(unwanted),
            include_invalidated=keep_all,
            limit=most,
            offset=skipped,
        )
        return [rows.fact_from(row["fact"]) for row in found]

    async def find_statements(self, subjects: Sequence[tuple[str, str]]) -> list[Fact]:
        """Facts that state something of these subjects and predicates, closed and quarantined ones too."""
        wanted = statement_keys(subjects)
        found = await self._read("fact.stating", statement_keys=wanted) if wanted else []
        return [rows.fact_from(row["fact"]) for row in found]

    async def get_relationships_for_entity(
        self,
        entity_id: str,
        *,
        direction: Direction = "both",
        relation_type: str | None = None,
        include_invalidated: bool = False,
    ) -> list[Relationship]:
        """All edges at an entity, by id; a self-loop once."""
        end = require_id(entity_id, field="entity_id")
        way = checked_direction(direction)
        wanted = None if relation_type is None else require_key(relation_type, field="relation_type")
        keep_all = flag(include_invalidated, field="include_invalidated")
        found = await self._read(
            "relationship.of_entity",
            entity_id=end,
            outgoing=way != "in",
            incoming=way != "out",
            relation_type=wanted,
            include_invalidated=keep_all,
        )
        return [rows.relationship_from(row["relationship"]) for row in found]

    async def list_episodes(self, *, limit: int = 100, offset: int = 0) -> list[Episode]:
        """Episodes, latest `started_at` first, then by id."""
        most, skipped = page(limit, offset)
        return [
            rows.episode_from(row["episode"]) for row in await self._read("episode.list", limit=most, offset=skipped)
        ]

    async def list_themes(self) -> list[Theme]:
        """All themes, by id."""
        return [rows.theme_from(row["theme"]) for row in await self._read("theme.list", label_key=None)]

    async def find_episode_near(
        self, conversation: str | None, *, starting_before: dt.datetime, ending_after: dt.datetime
    ) -> Episode | None:
        """The latest episode of a conversation that starts and ends within the bounds, which are included."""
        wanted = None if conversation is None else key(conversation, field="conversation")
        latest = require_instant(starting_before, field="starting_before")
        earliest = require_instant(ending_after, field="ending_after")
        found = await self._read(
            "episode.near", conversation=rows.conversation_key(wanted), starting_before=latest, ending_after=earliest
        )
        return rows.episode_from(found[0]["episode"]) if found else None

    async def find_unread_episodes(self, *, after: str | None = None, limit: int = 100) -> list[Episode]:
        """Episodes with `unread_message_ids`, by id."""
        beyond = "" if after is None else require_id(after, field="after")
        most, _ = page(limit, 0)
        found = await self._read("episode.unread", after=beyond, limit=most)
        return [rows.episode_from(row["episode"]) for row in found]

    async def stored_message_ids(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids under which a message is stored."""
        wanted = list(dict.fromkeys(require_ids(ids, field="ids")))
        return {row["id"] for row in await self._read("message.stored", ids=wanted)} if wanted else set()

    async def find_themes_labelled(self, label: str) -> list[Theme]:
        """Themes with exactly this label, by id."""
        found = await self._read("theme.list", label_key=text_key(text(label, field="label")))
        return [rows.theme_from(row["theme"]) for row in found]

    async def outline_themes(
        self, ids: Sequence[str] = (), *, label: str | None = None, most: int
    ) -> list[tuple[Theme, int]]:
        """Themes with these ids or this label, by id, each with how many facts it lists; at most `most` are named."""
        wanted = list(dict.fromkeys(require_ids(ids, field="ids")))
        label_key = None if label is None else text_key(text(label, field="label"))
        bound = whole_number(most, field="most")
        found = await self._read("theme.outline", ids=wanted, label_key=label_key, most=bound)
        return [(rows.theme_from(row["theme"]), row["size"]) for row in found]

    async def touch_facts(self, ids: Sequence[str], *, at: dt.datetime | None = None) -> None:
        """Count a use of each listed fact; written in the background, by `flush_usage` and on closing."""
        used = require_ids(ids, field="ids")
        instant = require_instant(self._clock() if at is None else at, field="at")
        self._usage.count(used, instant)

    async def flush_usage(self) -> None:
        """Write the usage counted so far."""
        await self._usage.flush()

    async def clear(self) -> None:
        """Remove everything in the namespace, receipts of idempotent writes and the gate's audit log too; its embedding
        space stays."""
        await self._usage.flush()

        async def work(transaction: Transaction) -> int:
            parameters = {"namespace": self._namespace, "limit": _CLEARED_AT_ONCE}
            removed: int = first(await transaction.run(queries.load("namespace.clear"), parameters))["removed"]
            return removed

        while await self.database.write(work):
            continue

    async def get_pass(self, pass_id: str) -> Pass | None:
        """The pass, or `None`."""
        return await self._trail.get_pass(require_id(pass_id, field="pass_id"))

    async def list_passes(self, *, limit: int = 100, offset: int = 0) -> list[Pass]:
        """Passes, latest first, then by id."""
        most, skipped = page(limit, offset)
        return await self._trail.list_passes(limit=most, offset=skipped)

    async def pass_entries(self, pass_id: str, *, limit: int = 1_000, offset: int = 0) -> list[AuditEntry]:
        """What a pass did to each record, in the order of its plan."""
        wanted = require_id(pass_id, field="pass_id")
        most, skipped = page(limit, offset)
        return await self._trail.pass_entries(wanted, limit=most, offset=skipped)

    async def record_entries(self, record_id: str) -> list[tuple[Pass, AuditEntry]]:
        """What passes did to a record, oldest first."""
        return await self._trail.record_entries(require_id(record_id, field="record_id"))

    async def history(self, record_id: str) -> History:
        """What is known of an id."""
        return await self._trail.history(require_id(record_id, field="record_id"))

    async def why(self, record_id: str, *, limit: int = 100) -> Evidence | None:
        """What a stored record rests on; `None` when there is none."""
        wanted = require_id(record_id, field="record_id")
        most = whole_number(limit, field="limit", most=MAX_EVIDENCE)
        return await self._trail.why(wanted, limit=most)

    async def extract_subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int,
        valid_at: dt.datetime | None,
        relation_types: Sequence[str],
        include_invalidated: bool,
        max_entities: int,
        believed_at: dt.datetime | None = None,
    ) -> Subgraph:
        """The walk of `remembrancer.retrieval.extract_subgraph`, in one statement and one wire trip.

        The first walk that meets a hub takes a second trip.
        """
        return await self._retrieval.extract_subgraph(
            seeds,
            max_hops=max_hops,
            valid_at=valid_at,
            relation_types=relation_types,
            include_invalidated=include_invalidated,
            max_entities=max_entities,
            believed_at=believed_at,
        )

    async def retrieve(self, query: MemoryQuery, *, filter_first: bool) -> MemoryResult:
        """The answer of `remembrancer.retrieval.retrieve_memory`, in one statement and one wire trip."""
        return await self._retrieval.retrieve(query, filter_first=filter_first)

    async def recall(self, question: RecallQuestion) -> Findings:
        """The best evidence for a question, found and ranked in one statement and one wire trip."""
        return await self._retrieval.recall(question)

    async def gather_candidates(self, question: RecallQuestion) -> Candidates:
        """What `recall` would rank, unranked; needs a question with a vector."""
        return await self._retrieval.gather_candidates(question)
