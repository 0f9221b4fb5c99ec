"""Facts as an agent's node writes them: once per idempotency key, with their origin, and no more trusted than it.

The contract of the key is `run_id:node_id:iteration`. A key that was used before writes nothing, whatever it comes
with, and answers with the ids of the first write. Ids are made from the key, so that they sort as the facts were given.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from pydantic import Field, ValidationError

from remembrancer.lifecycle.gatekeeping import FactGatekeeper
from remembrancer.lifecycle.quarantine import hidden_for, is_quarantined, marks_of, require_runs, run_mark
from remembrancer.ports import Embedder, MemoryIndex, MemoryStore
from remembrancer.ports.admission import RefusedFact
from remembrancer.ports.embedder import embedded
from remembrancer.ports.requests import checked_request
from remembrancer.records import (
    QUARANTINE_TAG,
    Clock,
    Fact,
    InvalidInputError,
    NewId,
    NotFoundError,
    Provenance,
    Receipt,
    RecordBatch,
    random_id,
    system_clock,
)
from remembrancer.records.base import Listed, Record, Request, build, translated
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Key, NonEmptyKey, NonEmptyText, derived_id, require_key

MAX_WRITTEN = 10_000
"""The most facts of one write."""

_PREFIX = "facts/"  # receipts of ingest are kept under keys of the caller's too


class NewFact(Request):
    """A fact that is to be written.

    Attributes:
        content: What it says.
        tags: Labels, in order.
        provenance: Where it comes from, whole or in part: `source` is `agent`, or `derived` with source facts; run,
            node and agent are those of the options, and `created_at` is now, unless they are given.
        valid_from: From when it holds; by default when it was made.
        valid_until: Until when it holds, excluded; absent: it still holds.
        entity_ids: Entities that it mentions.
        source_fact_ids: Facts that it was made from; they must be stored.
    """

    content: NonEmptyText
    tags: Listed[Key] = ()
    provenance: Mapping[str, Any] | Provenance = Field(default={})
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    entity_ids: Listed[Id] = ()
    source_fact_ids: Listed[Id] = ()


class WriterOptions(Request):
    """Who writes.

    Attributes:
        idempotency_key: `run_id:node_id:iteration`; by default made of the three, if all are given.
        run_id: The run; by default that of a key of three parts.
        node_id: The node, likewise.
        iteration: How often the node has run, 0 or more.
        agent_id: The agent.
        admission: Refuse facts that say what a stored one says, or that come back after they were evicted.
        threshold: From which similarity on they are refused; by default 0.85 by vectors, 0.6 by words.
    """

    idempotency_key: NonEmptyKey | None = None
    run_id: NonEmptyKey | None = None
    node_id: NonEmptyKey | None = None
    iteration: int | None = Field(default=None, ge=0)
    agent_id: NonEmptyKey | None = None
    admission: bool = False
    threshold: float | None = Field(default=None, allow_inf_nan=False)


class WrittenFacts(Record):
    """What a write did.

    Attributes:
        fact_ids: Of the facts that are stored, in the order in which they were given.
        refused: What admission refused, and why; not told again of a write that is replayed.
        is_replayed: Whether the key was used before, so that nothing was written.
    """

    fact_ids: Listed[Id] = ()
    refused: Listed[RefusedFact] = ()
    is_replayed: bool = False


def idempotency_key(run_id: str, node_id: str, iteration: int) -> str:
    """`run_id:node_id:iteration`; a colon or percent sign inside an id is written as %3A or %25."""
    return ":".join([*(one.replace("%", "%25").replace(":", "%3A") for one in (run_id, node_id)), str(iteration)])


class FactWriter:
    """Writes the facts of nodes.

    Args:
        store: Where to.
        index: Similarity search over it, for admission.
        embedder: Makes the vectors of the facts; `None`: they get none.
        clock: Tells when they were made.
        new_id: Makes ids of facts that come without a key.
    """

    def __init__(
        self,
        store: MemoryStore,
        index: MemoryIndex,
        *,
        embedder: Embedder | None = None,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._clock = clock
        self._new_id = new_id

    async def replayed(self, options: WriterOptions) -> WrittenFacts | None:
        """What was written under the key of these options; `None`: nothing yet."""
        if options.idempotency_key is None:
            return None
        receipt = await require_runs(self._store).find_receipt(_PREFIX + options.idempotency_key)
        return None if receipt is None else _written(receipt)

    async def write(
        self, facts: Iterable[NewFact | Mapping[str, Any]], options: WriterOptions | Mapping[str, Any] | None = None
    ) -> WrittenFacts:
        """Write some facts in one transaction.

        A fact with sources is as sure as the least sure of them, and hidden while one of them is.

        Raises:
            InvalidInputError: An argument is wrong; names it. Nothing was written.
            NotFoundError: A source fact is not stored. Nothing was written.
            ServerUnavailableError: The database or the embedder could not be reached.
        """
        wanted = checked_writer_options(options)
        given = _checked_facts(facts)
        if (earlier := await self.replayed(wanted)) is not None:
            return earlier
        sources = await self._sources(given)
        made = [self._made(one, place, wanted, sources) for place, one in enumerate(given)]
        runs = {fact.provenance.run_id for fact in made if fact.provenance.run_id is not None}
        hidden = {run for run in sorted(runs) if await is_quarantined(self._store, run)}
        made = await self._embedded([_marked(fact, hidden) for fact in made])
        refused = await self._refused(made, wanted)
        turned_away = {one.id for one in refused}
        admitted = [fact for fact in made if fact.id not in turned_away]
        named = {fact.id: one.source_fact_ids for fact, one in zip(made, given, strict=True) if one.source_fact_ids}
        derivations = {fact.id: named[fact.id] for fact in admitted if fact.id in named}
        key = None if wanted.idempotency_key is None else _PREFIX + wanted.idempotency_key
        batch = build(RecordBatch, facts=admitted, derivations=derivations)
        receipt = await self._store.write(batch, idempotency_key=key)
        if receipt.replayed:
            return _written(receipt)
        return WrittenFacts(fact_ids=[fact.id for fact in admitted], refused=refused)

    async def _sources(self, given: Sequence[NewFact]) -> Mapping[str, Fact]:
        ids = list(dict.fromkeys(fact_id for one in given for fact_id in one.source_fact_ids))
        found = await self._store.get_facts(ids) if ids else {}
        if missing := [fact_id for fact_id in ids if fact_id not in found]:
            raise NotFoundError("fact", missing, namespace=self._store.namespace)
        return found

    def _made(self, one: NewFact, place: int, options: WriterOptions, stored: Mapping[str, Fact]) -> Fact:
        sources = [stored[fact_id] for fact_id in one.source_fact_ids]
        provenance = _provenance(one, place, options, now=self._clock(), sources=sources)
        key = options.idempotency_key
        values: dict[str, Any] = {
            "id": self._new_id() if key is None else _placed_id(self._store.namespace, key, place),
            "content": one.content,
            "tags": _inherited(one.tags, sources),
            "provenance": provenance,
            "valid_from": one.valid_from or provenance.created_at,
            "valid_until": one.valid_until,
            "entity_ids": one.entity_ids,
        }
        return build(Fact, **values)

    async def _embedded(self, facts: list[Fact]) -> list[Fact]:
        if self._embedder is None or not facts:
            return facts
        vectors = await embedded(self._embedder, [fact.content for fact in facts])
        pairs = zip(facts, vectors, strict=True)
        return [fact.model_copy(update={"embedding": tuple(vector)}) for fact, vector in pairs]

    async def _refused(self, facts: Sequence[Fact], options: WriterOptions) -> list[RefusedFact]:
        if not options.admission:
            return []
        gatekeeper = FactGatekeeper(self._store, self._index, embedder=self._embedder, threshold=options.threshold)
        return await gatekeeper.refuse(facts)


def checked_writer_options(options: object) -> WriterOptions:
    """The options with the key and the parts of it that can be told from one another.

    Raises:
        InvalidInputError: An option is wrong or unknown; names it.
    """
    given = WriterOptions() if options is None else checked_request(WriterOptions, options, field="options")
    if given.idempotency_key is None:
        if given.iteration is not None and (given.run_id is None or given.node_id is None):
            raise InvalidInputError("options.iteration", "counts only with run_id and node_id")
        if given.iteration is None:
            return given
        key = idempotency_key(given.run_id or "", given.node_id or "", given.iteration)
        require_key(_PREFIX + key, field="options.idempotency_key")
        return given.model_copy(update={"idempotency_key": key})
    require_key(_PREFIX + given.idempotency_key, field="options.idempotency_key")
    parts = given.idempotency_key.split(":")
    if len(parts) != 3 or not parts[0] or not parts[2].isdecimal():
        return given
    told = {"run_id": given.run_id or unquote(parts[0]), "node_id": given.node_id or unquote(parts[1]) or None}
    return given.model_copy(update=told)


def _checked_facts(facts: object) -> list[NewFact]:
    if isinstance(facts, str | bytes | Mapping) or not isinstance(facts, Iterable):
        raise InvalidInputError("facts", f"expected a list of facts, got {type(facts).__name__}")
    checked = [checked_request(NewFact, one, field=f"facts.{place}") for place, one in enumerate(facts)]
    if len(checked) > MAX_WRITTEN:
        raise InvalidInputError("facts", f"{len(checked):,} facts; a write has at most {MAX_WRITTEN:,}")
    return checked


def _provenance(
    one: NewFact, place: int, options: WriterOptions, *, now: dt.datetime, sources: Sequence[Fact]
) -> Provenance:
    given = one.provenance.model_dump() if isinstance(one.provenance, Provenance) else dict(one.provenance)
    own: dict[str, Any] = {"source": "derived" if sources else "agent", "created_at": now}
    own |= {name: getattr(options, name) for name in ("run_id", "node_id", "agent_id")}
    own |= {name: value for name, value in given.items() if value is not None}
    trusts = [fact.provenance.confidence for fact in sources]
    known = [trust for trust in (*trusts, own.get("confidence")) if trust is not None]
    try:
        checked = Provenance.model_validate(own)
    except ValidationError as error:
        raise translated(error, within=f"facts.{place}.provenance") from error
    return checked.model_copy(update={"confidence": min(known)}) if sources and known else checked


def _inherited(tags: Sequence[str], sources: Sequence[Fact]) -> tuple[str, ...]:
    own = tuple(tags)
    for source in sources:
        if not source.is_quarantined:
            continue
        for mark in marks_of(source.tags):
            own = hidden_for(own, mark)
        if QUARANTINE_TAG not in own:
            own = (*own, QUARANTINE_TAG)
    return own


def _marked(fact: Fact, hidden_runs: set[str]) -> Fact:
    run_id = fact.provenance.run_id
    if run_id is None or run_id not in hidden_runs:
        return fact
    return fact.model_copy(update={"tags": hidden_for(fact.tags, run_mark(run_id))})


def _placed_id(namespace: str, key: str, place: int) -> str:
    return f"{derived_id('facts of a node', namespace, key)[:-4]}{place:04x}"


def _written(receipt: Receipt) -> WrittenFacts:
    ids = sorted((*receipt.created.get("fact", ()), *receipt.changed.get("fact", ())))
    return WrittenFacts(fact_ids=ids, is_replayed=True)
