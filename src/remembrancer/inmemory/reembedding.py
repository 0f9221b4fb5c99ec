"""Moving a store in memory from one embedding space to another. See `remembrancer.ports.reembedding`.

New vectors stand beside the records, each with what it was made from; one whose record has changed since counts as not
made. Nothing waits within a step, so the switch is one step for everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from remembrancer.inmemory.graph import RecordGraph
from remembrancer.inmemory.tiers import InMemoryTiers
from remembrancer.ports.reembedding import (
    DERIVED_KINDS,
    TEXT_KINDS,
    Bare,
    Counted,
    Derived,
    DerivedKind,
    Key,
    Made,
    Mean,
    Reembedding,
    Situation,
    TextKind,
    ThemePlace,
    Vector,
    VectorKind,
    kept_text,
)
from remembrancer.records import ConcurrencyError, EmbeddingSpace, Episode, Theme

_KINDS: tuple[VectorKind, ...] = (*TEXT_KINDS, *DERIVED_KINDS)
_Members = list[tuple[Vector | None, Vector]]


class InMemoryReembedding(Reembedding):
    """Moves one namespace; made by the store, as `store.reembedding`.

    Args:
        namespace: Whose memory.
        graph: The records.
        tiers: The durable tiers.
        space: Tells the store's embedding space.
        moved: Told by `switch` which it is now.
    """

    def __init__(
        self,
        namespace: str,
        graph: RecordGraph,
        tiers: InMemoryTiers,
        *,
        space: Callable[[], EmbeddingSpace | None],
        moved: Callable[[EmbeddingSpace], None],
    ) -> None:
        self._namespace = namespace
        self._graph = graph
        self._tiers = tiers
        self._space = space
        self._moved = moved
        self._next: EmbeddingSpace | None = None
        self._made: dict[tuple[VectorKind, Key], tuple[object, Vector | None]] = {}

    async def situation(self) -> Situation:
        """How far the namespace is; nothing is ever left to be cleaned here."""
        return Situation(self._space(), self._next)

    async def count(self) -> dict[VectorKind, Counted]:
        """How many records have vectors, and how many lack one of the next space."""
        return {kind: self._count(kind) for kind in _KINDS}

    async def begin(self, space: EmbeddingSpace) -> None:
        """Begin to move, or go on.

        Raises:
            ConcurrencyError: Somebody else has begun to move the namespace elsewhere.
        """
        if space == self._space() or self._next not in (None, space):
            raise ConcurrencyError("namespace", self._namespace, expected=None, actual=None)
        self._next = space

    async def give_up(self) -> None:
        """Stay in the present space."""
        self._next = None
        self._made.clear()

    async def bare(self, kind: TextKind, *, after: Key | None, limit: int) -> list[Bare]:
        """Records that lack a vector of the next space."""
        found = []
        for key, record in self._embedded(kind):
            if (after is None or key > after) and self._current(kind, key, record) is None:
                stored = self._text(kind, record)
                text = kept_text(record.record_kind, stored) if kind == "kept" else stored or ""
                found.append(Bare(key, text, stored))
        return found[:limit]

    async def put(self, kind: VectorKind, made: Sequence[Made]) -> int:
        """Keep new vectors."""
        records = dict(self._embedded(kind))
        put = 0
        for one in made:
            record = records.get(one.bare.key)
            if record is None or self._next is None:
                continue
            basis = self._basis(kind, record)
            if basis == (one.bare.stored if kind not in DERIVED_KINDS else (one.bare.stored, [])):
                self._made[kind, one.bare.key] = (basis, one.vector)
                put += 1
        return put

    async def derive(self, kind: DerivedKind, *, after: Key | None, limit: int) -> Derived:
        """Make vectors of episodes or themes from those of their members."""
        page = [(key, record) for key, record in self._embedded(kind) if after is None or key > after][:limit]
        bare: list[Bare] = []
        cancelled: list[Key] = []
        put = 0
        for key, record in page:
            if self._current(kind, key, record) is not None or self._waits(kind, record):
                continue
            text, members = basis = self._basis(kind, record)
            if not members:
                bare.append(Bare(key, text, text))
                continue
            vector = _derived(record, members)
            self._made[kind, key] = (basis, vector)
            put += 1
            if vector is None:
                cancelled.append(key)
        return Derived(page[-1][0] if page else None, put, tuple(cancelled), tuple(bare))

    async def switch(self) -> dict[VectorKind, Counted] | None:
        """Move over if nothing is missing."""
        space = self._next
        if space is None:
            raise ConcurrencyError("namespace", self._namespace, expected=None, actual=None)
        counted = {kind: self._count(kind) for kind in _KINDS}
        if any(one.missing for one in counted.values()):
            return None
        moved = [
            (kind, key, record.model_copy(update={"embedding": self._made[kind, key][1]}))
            for kind in _KINDS
            for key, record in self._embedded(kind)
        ]
        for kind, key, record in moved:
            self._replace(kind, key, record)
        self._next = None
        self._made.clear()
        self._moved(space)
        return counted

    async def clean(self, *, limit: int) -> int:
        """Nothing is ever left here."""
        return 0

    def _replace(self, kind: VectorKind, key: Key, record: Any) -> None:
        if kind == "tier_item":
            # Without a vector it could never be found; the port knows of no such item, and the domain makes none.
            self._tiers.replace([record])
        elif kind == "kept":
            self._graph.trail.entries[str(key[0])][int(key[1])] = record
        else:
            self._graph.revise(kind, record)

    def _count(self, kind: VectorKind) -> Counted:
        states = [self._current(kind, key, record) for key, record in self._embedded(kind)]
        skipped = sum(state is not None and state[1] is None for state in states)
        return Counted(len(states), skipped, states.count(None))

    def _embedded(self, kind: VectorKind) -> Iterator[tuple[Key, Any]]:
        """Records of a kind that have a vector, in the order of their keys."""
        if kind == "tier_item":
            items = {(one.tier, one.scope or "", one.id): one for one in self._tiers.items}
            yield from sorted(items.items())
        elif kind == "kept":
            for pass_id, entries in sorted(self._graph.trail.entries.items()):
                for position, entry in enumerate(entries):
                    if entry.embedding is not None:
                        yield (pass_id, position), entry
        else:
            for record_id in sorted(self._graph.listed(kind)):
                record = self._graph.get((kind, record_id))
                if record.embedding is not None:
                    yield (record_id,), record

    def _current(self, kind: VectorKind, key: Key, record: Any) -> tuple[object, Vector | None] | None:
        made = self._made.get((kind, key))
        return made if made is not None and made[0] == self._basis(kind, record) else None

    def _basis(self, kind: VectorKind, record: Any) -> Any:
        """What the vector of a record is made from."""
        if kind == "episode":
            return record.topic, self._members("message", self._graph.episode_messages[record.id])
        if kind == "theme":
            text = f"{record.label}: {record.description}" if record.description else record.label
            return text, self._members("fact", dict.fromkeys(record.fact_ids))
        return self._text(kind, record)

    def _text(self, kind: VectorKind, record: Any) -> str | None:
        named = {"message": "spoken", "entity": "name", "fact": "content", "tier_item": "text", "kept": "before"}
        text: str | None = getattr(record, named[kind])
        return text

    def _members(self, kind: TextKind, ids: Any) -> _Members:
        members: _Members = []
        for record_id in ids:
            record = self._graph.get((kind, record_id))  # type: ignore[arg-type]  # messages and facts alone
            made = self._current(kind, (record_id,), record) if record is not None else None
            if made is not None and made[1] is not None:
                members.append((record.embedding, made[1]))
        return members

    def _waits(self, kind: DerivedKind, record: Any) -> bool:
        part: TextKind = "message" if kind == "episode" else "fact"
        ids = self._graph.episode_messages[record.id] if kind == "episode" else record.fact_ids
        stored = ((one, self._graph.get((part, one))) for one in ids)  # type: ignore[arg-type]  # as above
        return any(
            member is not None and member.embedding is not None and self._current(part, (one,), member) is None
            for one, member in stored
        )


def _derived(record: Episode | Theme, members: _Members) -> Vector | None:
    if isinstance(record, Theme):
        place = ThemePlace(record.embedding or ())
        for old, new in members:
            place.add(old, new)
        return place.vector
    mean = Mean()
    for _, new in members:
        mean.add(new)
    return mean.vector
