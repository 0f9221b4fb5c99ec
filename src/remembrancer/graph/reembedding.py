"""Moving a namespace from one embedding space to another in Neo4j. See `remembrancer.ports.reembedding`.

The new vectors stand in properties of their own number, under indexes of their own, which nobody searches yet. Every
write of ours holds the lock of the namespace, as do those of all who write records meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.graph.migrations import retire_space, schema_state, space_number
from remembrancer.graph.values import as_vector, from_vector
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
    VectorKind,
    kept_text,
)
from remembrancer.records import Clock, ConcurrencyError, EmbeddingSpace, RemembranceError

_DATABASE = "CALL db.info() YIELD name RETURN name"
_TRANSACTIONS = "SHOW TRANSACTIONS YIELD transactionId, database RETURN transactionId, database"
_DRAIN_PATIENCE = 120.0  # seconds; a transaction of ours takes far less, another one may be left open by hand
_DRAIN_PAUSE = 0.02
_MEMBERS_AT_ONCE = 1_000
_NO_SPACE = "embedding_0"  # the name of no space: nothing has a vector of it
_KEPT: VectorKind = "kept"


class Neo4jReembedding(Reembedding):
    """Moves one namespace; made by the store, as `store.reembedding`.

    Args:
        database: Where the records live; its schema is up to date.
        namespace: Whose memory.
        moved: Told by `switch` where the namespace is now, so that its store goes on there.
        clock: Tells when the schema was claimed.
    """

    def __init__(
        self,
        database: Database,
        namespace: str,
        *,
        moved: Callable[[tuple[int, EmbeddingSpace]], None],
        clock: Clock,
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._moved = moved
        self._clock = clock

    async def situation(self) -> Situation:
        """How far the namespace is."""
        return (await self._place()).situation

    async def count(self) -> dict[VectorKind, Counted]:
        """How many records have vectors, and how many lack one of the next space."""
        place = await self._place()
        return _counted(await self._database.read(*self._statement(place, "reembedding.counts")))

    async def begin(self, space: EmbeddingSpace) -> None:
        """Begin to move, or go on; waits for the transactions that began before, whose writers know nothing of it.

        Raises:
            ConcurrencyError: Somebody else has begun to move the namespace elsewhere.
            RemembranceError: A transaction that is older does not come to its end.
        """
        number = await space_number(self._database, space, clock=self._clock)

        async def work(transaction: Transaction) -> None:
            place = await self._locked(transaction)
            if place.number == number or place.next_number not in (None, number) or place.left_number is not None:
                raise ConcurrencyError("namespace", self._namespace, expected=place.number, actual=place.next_number)
            if place.next_number is None:
                await self._run(transaction, place, "reembedding.begin", next_space=number, left_space=None)

        await self._database.write(work)
        await self._drain()

    async def give_up(self) -> None:
        """Stay in the present space."""

        async def work(transaction: Transaction) -> None:
            place = await self._locked(transaction)
            if place.next_number is not None:
                given = {"next_space": None, "left_space": place.next_number}
                await self._run(transaction, place, "reembedding.begin", **given)

        await self._database.write(work)

    async def bare(self, kind: TextKind, *, after: Key | None, limit: int) -> list[Bare]:
        """Records that lack a vector of the next space."""
        given = {"kind": kind, "after": _after(kind, after), "limit": limit}
        found = await self._database.read(*self._statement(await self._place(), "reembedding.missing", **given))
        return [_bare(kind, row) for row in found]

    async def put(self, kind: VectorKind, made: Sequence[Made]) -> int:
        """Keep new vectors."""

        async def work(transaction: Transaction) -> int:
            place = await self._locked(transaction)
            return await self._put(transaction, place, kind, made) if place.next_number is not None else 0

        return await self._database.write(work) if made else 0

    async def derive(self, kind: DerivedKind, *, after: Key | None, limit: int) -> Derived:
        """Make vectors of episodes or themes from those of their members, in one transaction."""

        async def work(transaction: Transaction) -> Derived:
            place = await self._locked(transaction)
            if place.next_number is None:
                return Derived()
            given = {"after": _after(kind, after), "limit": limit}
            found = await self._run(transaction, place, _PAGES[kind], **given)
            made, bare = [], []
            for row in found:
                members = row["vectors"] if kind == "episode" else row["facts"]
                if row["waits"]:
                    continue
                if not members:
                    bare.append(Bare(tuple(row["key"]), row["text"], row["text"]))
                    continue
                vector = await self._derived(transaction, place, kind, row)
                made.append(Made(Bare(tuple(row["key"]), "", None), vector))
            put = await self._put(transaction, place, kind, made)
            cancelled = tuple(one.bare.key for one in made if one.vector is None)
            return Derived(tuple(found[-1]["key"]) if found else None, put, cancelled, tuple(bare))

        return await self._database.write(work)

    async def _derived(
        self, transaction: Transaction, place: _Place, kind: DerivedKind, row: Row
    ) -> tuple[float, ...] | None:
        if kind == "episode":
            mean = Mean()
            for vector in row["vectors"]:
                mean.add(from_vector(vector) or ())
            return mean.vector
        spot = ThemePlace(from_vector(row["vector"]) or ())
        for start in range(0, len(row["facts"]), _MEMBERS_AT_ONCE):
            ids = row["facts"][start : start + _MEMBERS_AT_ONCE]
            for member in await self._run(transaction, place, "reembedding.members", ids=ids):
                spot.add(from_vector(member["old"]), from_vector(member["new"]) or ())
        return spot.vector

    async def switch(self) -> dict[VectorKind, Counted] | None:
        """Move over if nothing is missing, in one transaction that no writer meets."""

        async def work(transaction: Transaction) -> tuple[dict[VectorKind, Counted], _Place] | None:
            place = await self._locked(transaction)
            if place.next_number is None:
                raise ConcurrencyError("namespace", self._namespace, expected=None, actual=place.number)
            counted = _counted(await self._run(transaction, place, "reembedding.counts"))
            if any(one.missing for one in counted.values()):
                return None
            await self._run(transaction, place, "reembedding.switch")
            return counted, place

        switched = await self._database.write(work)
        if switched is None:
            return None
        counted, place = switched
        if place.next_number is not None and place.situation.next_space is not None:
            self._moved((place.next_number, place.situation.next_space))
        return counted

    async def clean(self, *, limit: int) -> int:
        """Remove what is left of the other space, once nobody reads it any more.

        Raises:
            RemembranceError: A transaction that may still read it does not come to its end.
        """
        place = await self._place()
        if place.left_number is None:
            return 0
        await self._drain()
        removed = 0
        for kind in (*TEXT_KINDS, *DERIVED_KINDS):
            after: Key | None = None
            while True:
                row = await self._clean_page(place, kind, after, limit)
                removed += row["removed"]
                if row["last"] is None:
                    break
                after = tuple(row["last"])
        await retire_space(self._database, place.left_number, namespace=self._namespace, clock=self._clock)
        await self._database.write(self._finished(place.left_number))
        return removed

    def _finished(self, left: int) -> Callable[[Transaction], Awaitable[None]]:
        async def work(transaction: Transaction) -> None:
            place = await self._locked(transaction)
            if place.left_number == left:
                given = {"next_space": place.next_number, "left_space": None}
                await self._run(transaction, place, "reembedding.begin", **given)

        return work

    async def _clean_page(self, place: _Place, kind: VectorKind, after: Key | None, limit: int) -> Row:
        async def work(transaction: Transaction) -> Row:
            given = {
                "kind": kind,
                "after": _after(kind, after),
                "limit": limit,
                "gone": f"embedding_{place.left_number}",
            }
            return first(await self._run(transaction, place, "reembedding.clean", **given))

        return await self._database.write(work)

    async def _put(self, transaction: Transaction, place: _Place, kind: VectorKind, made: Sequence[Made]) -> int:
        rows: list[Row] = [
            {"key": list(one.bare.key), "text": one.bare.stored, "vector": as_vector(one.vector)} for one in made
        ]
        put: int = first(await self._run(transaction, place, "reembedding.put", kind=kind, rows=rows))["put"]
        return put

    async def _drain(self) -> None:
        """Wait until every transaction that runs now has ended."""
        older = await self._running()
        deadline = asyncio.get_running_loop().time() + _DRAIN_PATIENCE
        while older:
            await asyncio.sleep(_DRAIN_PAUSE)
            older &= await self._running()
            if older and asyncio.get_running_loop().time() > deadline:
                raise RemembranceError(
                    f"transactions that are older do not come to an end: {', '.join(sorted(older))}; end them "
                    "(TERMINATE TRANSACTION), and re-embed again, which goes on from here"
                )

    async def _running(self) -> set[str]:
        name = first(await self._database.read(_DATABASE, {}))["name"]
        rows = await self._database.read(_TRANSACTIONS, {})
        return {row["transactionId"] for row in rows if row["database"] == name}

    async def _place(self) -> _Place:
        found = await self._database.read(queries.load("reembedding.state"), {"namespace": self._namespace})
        return await self._placed(found)

    async def _locked(self, transaction: Transaction) -> _Place:
        found = await transaction.run(queries.load("reembedding.lock"), {"namespace": self._namespace})
        return await self._placed(found)

    async def _placed(self, found: Sequence[Row]) -> _Place:
        state = await schema_state(self._database)
        spaces = state.spaces if state is not None else ()
        numbers = found[0] if found else {}
        return _Place(spaces, numbers.get("space"), numbers.get("next_space"), numbers.get("left_space"))

    async def _run(self, transaction: Transaction, place: _Place, name: str, **parameters: Any) -> list[Row]:
        return await transaction.run(*self._statement(place, name, **parameters))

    def _statement(self, place: _Place, name: str, **parameters: Any) -> tuple[str, dict[str, Any]]:
        text = queries.load(name, place.number or 1, place.dimensions)
        return text, {"namespace": self._namespace, **place.parameters(name), **parameters}


class _Place:
    """In which spaces a namespace is, by their numbers."""

    def __init__(
        self, spaces: Sequence[EmbeddingSpace], number: int | None, next_number: int | None, left_number: int | None
    ) -> None:
        self.number, self.next_number, self.left_number = number, next_number, left_number
        self.situation = Situation(
            *(None if one is None else spaces[one - 1] for one in (number, next_number, left_number))
        )

    @property
    def dimensions(self) -> int:
        """Length of the vectors that are read now."""
        return 384 if self.situation.space is None else self.situation.space.dimensions

    def parameters(self, name: str) -> Mapping[str, Any]:
        """What a statement wants to know of the next space."""
        given: dict[str, Any] = {}
        if name in _NAME_THE_NEXT:
            given["new"] = _NO_SPACE if self.next_number is None else f"embedding_{self.next_number}"
        if name in _MEASURE_THE_NEXT and self.situation.next_space is not None:
            given["dimensions"] = self.situation.next_space.dimensions
        return given


_PAGES: Mapping[DerivedKind, str] = {"episode": "reembedding.episodes", "theme": "reembedding.themes"}
_MEASURE_THE_NEXT = frozenset({"reembedding.episodes", "reembedding.members"})
_NAME_THE_NEXT = _MEASURE_THE_NEXT | {
    "reembedding.counts",
    "reembedding.missing",
    "reembedding.put",
    "reembedding.switch",
    "reembedding.themes",
}


def _after(kind: VectorKind, after: Key | None) -> list[str | int]:
    if after is not None:
        return list(after)
    return ["", -1] if kind == _KEPT else ["", "", ""]


def _bare(kind: TextKind, row: Row) -> Bare:
    text = row["text"]
    return Bare(tuple(row["key"]), kept_text(row["of"], text) if kind == _KEPT else text, text)


def _counted(rows: Sequence[Row]) -> dict[VectorKind, Counted]:
    found = {row["kind"]: Counted(row["embedded"], row["skipped"], row["missing"]) for row in rows}
    return {kind: found.get(kind, Counted(0, 0, 0)) for kind in (*TEXT_KINDS, *DERIVED_KINDS)}
