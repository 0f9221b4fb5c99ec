"""The store in memory: the reference for what every store must do, and the one to test agents with."""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Iterable, Sequence
from typing import TypeVar

from remembrancer.inmemory import erasing
from remembrancer.inmemory.candidates import CandidateSearch
from remembrancer.inmemory.expecting import stored_messages
from remembrancer.inmemory.graph import KINDS, RecordGraph
from remembrancer.inmemory.history import evidence, history
from remembrancer.inmemory.index import InMemoryIndex
from remembrancer.inmemory.ledger import InMemoryLedger
from remembrancer.inmemory.reembedding import InMemoryReembedding
from remembrancer.inmemory.serving import RunRegister
from remembrancer.inmemory.tiers import InMemoryTiers
from remembrancer.inmemory.transaction import Transaction
from remembrancer.inmemory.transfer import InMemoryTransfer
from remembrancer.ports import Direction, MemoryStore
from remembrancer.ports.arguments import (
    checked_batch,
    copied_statement,
    flag,
    key,
    keys,
    page,
    statement_keys,
    text,
    whole_number,
)
from remembrancer.ports.arguments import direction as checked_direction
from remembrancer.ports.audit import MAX_EVIDENCE
from remembrancer.ports.recall import Candidates, RecallQuestion
from remembrancer.records import (
    AuditEntry,
    Clock,
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    IdsByKind,
    InvalidInputError,
    Message,
    Pass,
    Receipt,
    RecordBatch,
    Relationship,
    Theme,
    system_clock,
)
from remembrancer.records.erasure import Dependents, Source
from remembrancer.records.fact import MAX_INTEGER
from remembrancer.records.history import Evidence, History
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_id, require_ids, require_key

Mapped = TypeVar("Mapped", Entity, Relationship, Message)
R = TypeVar("R")


class InMemoryStore(RunRegister, MemoryStore):
    """Records of one namespace, kept in this process.

    Nothing waits, so every write is atomic and the tasks of one event loop may share a store; threads may not.

    Args:
        namespace: Whose memory; only a name here, since two stores in memory share nothing.
        space: The embedding space; without one no record may have an embedding.
        clock: Tells when a record was learnt, closed or used.

    Raises:
        InvalidInputError: A namespace that is not a key, or a space that is none.
    """

    def __init__(
        self, namespace: str = "default", *, space: EmbeddingSpace | None = None, clock: Clock = system_clock
    ) -> None:
        if space is not None and not isinstance(space, EmbeddingSpace):
            raise InvalidInputError("space", f"expected an EmbeddingSpace, got {type(space).__name__}")
        self._namespace = require_key(namespace, field="namespace")
        self._space = space
        self._clock = clock
        self._graph = RecordGraph()
        self._receipts: dict[str, Receipt] = {}
        self._index = InMemoryIndex(self)
        self._ledger = InMemoryLedger(self._graph, clock=clock)
        self._tiers = InMemoryTiers(space)
        self._transfer = InMemoryTransfer(self._graph, self._receipts, self._tiers)
        self._reembedding = InMemoryReembedding(
            self._namespace, self._graph, self._tiers, space=lambda: self._space, moved=self._bind
        )

    def _bind(self, space: EmbeddingSpace) -> None:
        """Be in another embedding space from here on."""
        self._space = space
        self._tiers.move(space)
        self._index = InMemoryIndex(self)

    @property
    def namespace(self) -> str:
        """Whose memory."""
        return self._namespace

    @property
    def space(self) -> EmbeddingSpace | None:
        """The embedding space of the records."""
        return self._space

    @property
    def index(self) -> InMemoryIndex:
        """The index that is live on this store."""
        return self._index

    @property
    def ledger(self) -> InMemoryLedger:
        """The scored runs of this namespace, and what the gate has ruled."""
        return self._ledger

    @property
    def tiers(self) -> InMemoryTiers:
        """The items of the durable memory tiers of this namespace."""
        return self._tiers

    @property
    def transfer(self) -> InMemoryTransfer:
        """Carries what of this namespace no other part reads or writes whole."""
        return self._transfer

    @property
    def reembedding(self) -> InMemoryReembedding:
        """Moves this namespace to another embedding space."""
        return self._reembedding

    @property
    def record_graph(self) -> RecordGraph:
        """The records themselves, not copies; for an index in the same process."""
        return self._graph

    async def write(self, batch: RecordBatch, *, idempotency_key: str | None = None) -> Receipt:
        """Write a batch whole or not at all; errors as in the port.

        Raises:
            NotFoundError: Facts are to be added to a theme that is not stored. Nothing was written.
        """
        if idempotency_key is not None:
            require_key(idempotency_key, field="idempotency_key")
        checked = checked_batch(batch, self._space)
        if idempotency_key is not None and idempotency_key in self._receipts:
            return self._receipts[idempotency_key].model_copy(update={"replayed": True}, deep=True)
        receipt = Transaction(self._graph, checked, namespace=self._namespace, now=self._now()).apply()
        if idempotency_key is not None:
            self._receipts[idempotency_key] = receipt.model_copy(deep=True)
        return receipt

    async def find_receipt(self, idempotency_key: str) -> Receipt | None:
        """The receipt of the write that had this key, or `None`."""
        found = self._receipts.get(require_key(idempotency_key, field="idempotency_key"))
        return None if found is None else found.model_copy(update={"replayed": True}, deep=True)

    async def get_entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """The stored ones of these, in the order asked for."""
        return {entity_id: _copied(entity) for entity_id, entity in _found(self._graph.entities, ids)}

    async def get_relationships(self, ids: Sequence[str]) -> dict[str, Relationship]:
        """The stored ones of these, in the order asked for."""
        return {edge_id: _copied(edge) for edge_id, edge in _found(self._graph.relationships, ids)}

    async def get_episodes(self, ids: Sequence[str]) -> dict[str, Episode]:
        """The stored ones of these, in the order asked for."""
        return {episode_id: self._whole(episode) for episode_id, episode in _found(self._graph.episodes, ids)}

    async def get_facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        """The stored ones of these, in the order asked for."""
        return {fact_id: _own(fact) for fact_id, fact in _found(self._graph.facts, ids)}

    async def get_themes(self, ids: Sequence[str]) -> dict[str, Theme]:
        """The stored ones of these, in the order asked for."""
        return dict(_found(self._graph.themes, ids))

    async def get_messages(self, ids: Sequence[str]) -> dict[str, Message]:
        """The stored ones of these, in the order asked for."""
        return {message_id: _copied(message) for message_id, message in _found(self._graph.messages, ids)}

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
        listed = (self._graph.entities[entity_id] for entity_id in self._graph.listed("entity"))
        matching = [
            entity
            for entity in listed
            if (wanted is None or entity.entity_type == wanted) and (keep_all or entity.invalidated_at is None)
        ]
        return [_copied(entity) for entity in matching[skipped : skipped + most]]

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
        wanted, unwanted = frozenset(keys(tags, field="tags")), frozenset(keys(exclude_tags, field="exclude_tags"))
        keep_all = flag(include_invalidated, field="include_invalidated")
        most, skipped = page(limit, offset)
        matching = [
            fact
            for fact in self._facts_naming(entity)
            if (theme is None or fact.theme_id == theme)
            and (keep_all or fact.is_live)
            and (not wanted or not wanted.isdisjoint(fact.tags))
            and unwanted.isdisjoint(fact.tags)
        ]
        return [_own(fact) for fact in matching[skipped : skipped + most]]

    async def find_statements(self, subjects: Sequence[tuple[str, str]]) -> list[Fact]:
        """Facts that state something of these subjects and predicates, closed and quarantined ones too."""
        wanted = {one for key in statement_keys(subjects) for one in self._graph.stating(key)}
        return [_own(self._graph.facts[fact_id]) for fact_id in self._graph.in_order("fact", wanted)]

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
        edges = (self._graph.relationships[edge] for edge in self._graph.named_by(("entity", end), "relationship"))
        return [
            _copied(edge)
            for edge in edges
            if (way == "both" or (edge.source_id if way == "out" else edge.target_id) == end)
            and (wanted is None or edge.relation_type == wanted)
            and (keep_all or edge.is_live)
        ]

    async def list_episodes(self, *, limit: int = 100, offset: int = 0) -> list[Episode]:
        """Episodes, latest `started_at` first, then by id."""
        most, skipped = page(limit, offset)
        listed = self._graph.listed("episode")[skipped : skipped + most]
        return [self._whole(self._graph.episodes[episode_id]) for episode_id in listed]

    async def list_themes(self) -> list[Theme]:
        """All themes, by id."""
        return [self._graph.themes[theme_id] for theme_id in self._graph.listed("theme")]

    async def find_episode_near(
        self, conversation: str | None, *, starting_before: dt.datetime, ending_after: dt.datetime
    ) -> Episode | None:
        """The latest episode of a conversation that starts and ends within the bounds, which are included."""
        wanted = None if conversation is None else key(conversation, field="conversation")
        latest = require_instant(starting_before, field="starting_before")
        earliest = require_instant(ending_after, field="ending_after")
        for episode_id in self._graph.listed("episode"):
            episode = self._graph.episodes[episode_id]
            if episode.started_at <= latest and episode.ended_at >= earliest:
                messages = stored_messages(self._graph, episode_id)
                if messages and messages[0].conversation == wanted:
                    return self._whole(episode)
        return None

    async def find_unread_episodes(self, *, after: str | None = None, limit: int = 100) -> list[Episode]:
        """Episodes with `unread_message_ids`, by id."""
        beyond = "" if after is None else require_id(after, field="after")
        most, _ = page(limit, 0)
        unread = sorted(one.id for one in self._graph.episodes.values() if one.unread_message_ids and one.id > beyond)
        return [self._whole(self._graph.episodes[episode_id]) for episode_id in unread[:most]]

    async def stored_message_ids(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids under which a message is stored."""
        return {message_id for message_id, _ in _found(self._graph.messages, ids)}

    async def find_themes_labelled(self, label: str) -> list[Theme]:
        """Themes with exactly this label, by id."""
        wanted = text(label, field="label")
        return [theme for theme in await self.list_themes() if theme.label == wanted]

    async def outline_themes(
        self, ids: Sequence[str] = (), *, label: str | None = None, most: int
    ) -> list[tuple[Theme, int]]:
        """Themes with these ids or this label, by id, each with how many facts it lists; at most `most` are named."""
        themes = await self.get_themes(ids)
        if label is not None:
            themes |= {theme.id: theme for theme in await self.find_themes_labelled(label)}
        bound = whole_number(most, field="most")
        listed = [(themes[theme_id], tuple(dict.fromkeys(themes[theme_id].fact_ids))) for theme_id in sorted(themes)]
        return [(theme.model_copy(update={"fact_ids": ids[:bound]}), len(ids)) for theme, ids in listed]

    async def touch_facts(self, ids: Sequence[str], *, at: dt.datetime | None = None) -> None:
        """Count a use of each listed fact, at once; repeats count twice, unknown ids are ignored."""
        used = require_ids(ids, field="ids")
        instant = self._now() if at is None else require_instant(at, field="at")
        for fact_id in used:
            fact = self._graph.facts.get(fact_id)
            if fact is not None:
                count = min((fact.access_count or 0) + 1, MAX_INTEGER)
                self._graph.touch(fact.model_copy(update={"access_count": count, "last_accessed_at": instant}))

    async def flush_usage(self) -> None:
        """Nothing is ever outstanding here."""

    async def clear(self) -> None:
        """Remove everything, receipts of idempotent writes and the gate's audit log too."""
        self._graph.clear()
        self._tiers.forget()
        self._transfer.forget()
        self._receipts.clear()

    async def get_pass(self, pass_id: str) -> Pass | None:
        """The pass, or `None`."""
        return self._graph.trail.passes.get(require_id(pass_id, field="pass_id"))

    async def list_passes(self, *, limit: int = 100, offset: int = 0) -> list[Pass]:
        """Passes, latest first, then by id."""
        most, skipped = page(limit, offset)
        return self._graph.trail.latest()[skipped : skipped + most]

    async def pass_entries(self, pass_id: str, *, limit: int = 1_000, offset: int = 0) -> list[AuditEntry]:
        """What a pass did to each record, in the order of its plan."""
        wanted = require_id(pass_id, field="pass_id")
        most, skipped = page(limit, offset)
        return self._graph.trail.entries.get(wanted, [])[skipped : skipped + most]

    async def record_entries(self, record_id: str) -> list[tuple[Pass, AuditEntry]]:
        """What passes did to a record, oldest first."""
        return self._graph.trail.of_record(require_id(record_id, field="record_id"))

    async def history(self, record_id: str) -> History:
        """What is known of an id."""
        return history(self._graph, require_id(record_id, field="record_id"))

    async def why(self, record_id: str, *, limit: int = 100) -> Evidence | None:
        """What a stored record rests on; `None` when there is none."""
        wanted = require_id(record_id, field="record_id")
        most = whole_number(limit, field="limit", most=MAX_EVIDENCE)
        return evidence(self._graph, wanted, limit=most)

    async def find_dependents(
        self,
        *,
        messages: Sequence[str] = (),
        episodes: Sequence[str] = (),
        facts: Sequence[str] = (),
        entities: Sequence[str] = (),
    ) -> Dependents:
        """Who names these records, closed ones too."""
        return erasing.dependents(self._graph, messages=messages, episodes=episodes, facts=facts, entities=entities)

    async def find_from(self, source: Source) -> IdsByKind:
        """Everything that came from a source, closed ones too."""
        return erasing.from_source(self._graph, source)

    async def find_texts_with(self, name: str) -> IdsByKind:
        """Messages and facts with this text somewhere in them."""
        return erasing.texts_with(self._graph, name)

    async def count_mentions(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """For each group of entities how many facts mention all of them."""
        return erasing.count_mentions(self._graph, groups)

    async def count_all(self) -> dict[str, int]:
        """How many records of each kind the namespace holds."""
        return {kind: len(self._graph.listed(kind)) for kind in KINDS}

    async def forget_all(self) -> dict[str, int]:
        """Remove everything in the namespace."""
        counts = await self.count_all()
        await self.clear()
        return counts

    async def gather_candidates(self, question: RecallQuestion) -> Candidates:
        """Candidates for a recall, by vector, by text, by date and through facts."""
        return CandidateSearch(self._graph, question, self._index.nearest).gather()

    def _now(self) -> dt.datetime:
        return require_instant(self._clock(), field="clock")

    def _whole(self, episode: Episode) -> Episode:
        messages = tuple(_copied(message) for message in stored_messages(self._graph, episode.id))
        return episode.model_copy(update={"messages": messages})

    def _facts_naming(self, entity_id: str | None) -> Iterable[Fact]:
        if entity_id is None:
            listed = self._graph.listed("fact")
        else:
            named_by = self._graph.named_by(("entity", entity_id), "fact")
            mentioning = (one for one in named_by if entity_id in self._graph.facts[one].entity_ids)
            listed = self._graph.in_order("fact", mentioning)
        return (self._graph.facts[fact_id] for fact_id in listed)


def _found(stored: dict[str, R], ids: Sequence[str]) -> Iterable[tuple[str, R]]:
    return [(wanted, stored[wanted]) for wanted in dict.fromkeys(require_ids(ids, field="ids")) if wanted in stored]


def _own(fact: Fact) -> Fact:
    # The value of a statement may be a list or a map.
    if fact.statement is None:
        return fact
    return fact.model_copy(update={"statement": copied_statement(fact.statement)})


def _copied(record: Mapped) -> Mapped:
    # Records are frozen but for the maps inside them.
    name = "metadata" if isinstance(record, Message) else "attributes"
    return record.model_copy(update={name: copy.deepcopy(getattr(record, name))})
