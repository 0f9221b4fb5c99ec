"""Re-embedding: new vectors for a whole namespace by another model, while it is read and written.

The old vectors answer until every record has a new one; then the namespace moves over in one step, and the old ones are
removed. What others write meanwhile is made anew in the next round. Broken off anywhere, it is run again and goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from remembrancer.ports import Embedder, MemoryStore
from remembrancer.ports.arguments import flag, whole_number
from remembrancer.ports.embedder import embedded
from remembrancer.ports.reembedding import (
    DERIVED_KINDS,
    TEXT_KINDS,
    Bare,
    Counted,
    DerivedKind,
    Key,
    Made,
    Reembedding,
    Reembeds,
    TextKind,
    Vector,
    VectorKind,
)
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    EmbeddingSpace,
    InvalidInputError,
    RemembranceError,
)
from remembrancer.records.base import Record
from remembrancer.records.vector import stored_vector

logger = logging.getLogger(__name__)

ReembedProgress = Callable[[int], object]
"""Told after each batch how many new vectors this call has made."""

NO_TEXT = "no text to embed"
NO_DIRECTION = "its text has a vector of zeros, which has no direction"
CANCELLED = "the vectors of its messages or facts cancel each other out"

MAX_BATCH = 1_000
_TRIED = "Does this model answer?"
_IDLE_ROUNDS = 200
_IDLE_PAUSE = 0.05
_CLEANED_AT_ONCE = 1_000


class WithoutVector(Record):
    """A record that had a vector and gets none in the new space.

    Attributes:
        kind: Of the record: `message`, `entity`, `fact`, `episode`, `theme`, or `kept`: in the audit trail.
        id: Of the record; of what is kept, the pass and the place in it.
        reason: Why.
    """

    kind: str
    id: str
    reason: str


class ReembedReport(Record):
    """What a re-embedding did, or would do.

    Attributes:
        space: The embedding space that the namespace was in.
        next_space: That of the embedder.
        switched: Whether the namespace moved over by this call.
        embedded: How many records have a vector of the new space, by kind; of a dry run, how many would get one.
        made: How many vectors this call made; fewer than `embedded` where it went on with one that was broken off, more
            where others wrote meanwhile.
        without: How many records had a vector and have none now, by kind.
        skipped: Those of them that this call has met, with the reason.
        removed: How many old vectors this call removed.
        is_dry_run: Whether nothing was written.
    """

    space: EmbeddingSpace
    next_space: EmbeddingSpace
    switched: bool
    embedded: dict[str, int]
    made: int = 0
    without: dict[str, int] = {}
    skipped: tuple[WithoutVector, ...] = ()
    removed: int = 0
    is_dry_run: bool = False


async def reembed(
    store: MemoryStore,
    *,
    embedder: Embedder,
    batch_size: int = 100,
    progress: ReembedProgress | None = None,
    dry_run: bool = False,
) -> ReembedReport:
    """Move a namespace to the embedding space of another model; see `Memory.reembed`."""
    if not isinstance(embedder, Embedder):
        raise InvalidInputError("embedder", f"expected an embedder, got {type(embedder).__name__}")
    size = whole_number(batch_size, field="batch_size", least=1, most=MAX_BATCH)
    only_told = flag(dry_run, field="dry_run")
    if not isinstance(store, Reembeds):
        raise RemembranceError(f"{type(store).__name__} cannot be re-embedded")
    target = EmbeddingSpace(model=embedder.model, dimensions=embedder.dimensions)
    moving, now = store.reembedding, await store.reembedding.situation()
    if now.space is None:
        raise InvalidInputError(
            "namespace", f"{store.namespace!r} has no vectors: open it with the embedder, and what is written gets them"
        )
    if now.next_space not in (None, target) and now.space != target:
        raise InvalidInputError(
            "embedder",
            f"{store.namespace!r} is being re-embedded with {now.next_space.model!r} "
            f"({now.next_space.dimensions} dimensions): go on with "
            f"that model, or give it up by re-embedding with {now.space.model!r}, which it has",
        )
    if only_told:
        if now.space != target:
            await _try(embedder, target)
        counted = await moving.count()
        missing = {str(kind): one.missing for kind, one in counted.items()} if now.space != target else {}
        return ReembedReport(space=now.space, next_space=target, switched=False, embedded=missing, is_dry_run=True)
    removed = await moving.clean(limit=_CLEANED_AT_ONCE) if now.left_space is not None else 0
    if now.space == target:
        await moving.give_up()
        removed += await moving.clean(limit=_CLEANED_AT_ONCE)
        embedded = {str(kind): one.embedded for kind, one in (await moving.count()).items()}
        return ReembedReport(space=target, next_space=target, switched=False, embedded=embedded, removed=removed)
    await moving.begin(target)
    rounds = _Rounds(moving, embedder, size=size, progress=progress)
    done = await rounds.until_switched()
    removed += await moving.clean(limit=_CLEANED_AT_ONCE)
    return ReembedReport(
        space=now.space,
        next_space=target,
        switched=True,
        embedded={str(kind): one.embedded - one.skipped for kind, one in done.items()},
        made=rounds.made,
        without={str(kind): one.skipped for kind, one in done.items() if one.skipped},
        skipped=tuple(rounds.skipped.values()),
        removed=removed,
    )


async def _try(embedder: Embedder, target: EmbeddingSpace) -> None:
    """See that a model answers, and with vectors of the length that it says.

    Raises:
        EmbeddingDimensionMismatchError: Its vectors have another length.
        InvalidInputError: It gave none, or several.
    """
    (vector,) = await embedded(embedder, [_TRIED])
    if len(vector) != target.dimensions:
        raise EmbeddingDimensionMismatchError(target.dimensions, len(vector), f"embedder {target.model!r}")


class _Rounds:
    """Goes through all records again and again, until none lacks a vector at the moment of the switch."""

    def __init__(self, moving: Reembedding, embedder: Embedder, *, size: int, progress: ReembedProgress | None) -> None:
        self._moving = moving
        self._embedder = embedder
        self._size = size
        self._progress = progress
        self.made = 0
        self.skipped: dict[tuple[VectorKind, Key], WithoutVector] = {}

    async def until_switched(self) -> Mapping[VectorKind, Counted]:
        """Make what is missing, and switch over.

        Raises:
            RemembranceError: In many rounds nothing could be made, and something is missing still.
        """
        idle = 0
        while True:
            before = self.made
            for kind in TEXT_KINDS:
                await self._texts(kind)
            for derived in DERIVED_KINDS:
                await self._derived(derived)
            done = await self._moving.switch()
            if done is not None:
                return done
            idle = idle + 1 if self.made == before else 0
            if idle > _IDLE_ROUNDS:
                raise RemembranceError("records lack their new vectors again and again: let other writers pause")
            if idle:
                await asyncio.sleep(_IDLE_PAUSE)

    async def _texts(self, kind: TextKind) -> None:
        after: Key | None = None
        while page := await self._moving.bare(kind, after=after, limit=self._size):
            after = page[-1].key
            await self._put(kind, page)

    async def _derived(self, kind: DerivedKind) -> None:
        after: Key | None = None
        while True:
            page = await self._moving.derive(kind, after=after, limit=self._size)
            if page.last is None:
                return
            after = page.last
            for key in page.cancelled:
                self._skip(kind, key, CANCELLED)
            self._count(page.put)
            if page.bare:
                await self._put(kind, page.bare)

    async def _put(self, kind: VectorKind, page: Sequence[Bare]) -> None:
        vectors = await self._embed(kind, list(dict.fromkeys(one.text for one in page if one.text.strip())))
        made = [Made(one, vectors.get(one.text)) for one in page]
        for one in made:
            if one.vector is None:
                self._skip(kind, one.bare.key, NO_DIRECTION if one.bare.text.strip() else NO_TEXT)
        self._count(await self._moving.put(kind, made))

    def _count(self, put: int) -> None:
        self.made += put
        if put and self._progress is not None:
            self._progress(self.made)

    def _skip(self, kind: VectorKind, key: Key, reason: str) -> None:
        named = "/".join(map(str, key))
        if kind == "tier_item":
            raise InvalidInputError("embedder", f"the note {named} cannot do without a vector, and has none: {reason}")
        self.skipped[kind, key] = WithoutVector(kind=kind, id=named, reason=reason)

    async def _embed(self, kind: VectorKind, texts: list[str]) -> dict[str, Vector | None]:
        if not texts:
            return {}
        given = await embedded(self._embedder, texts)
        vectors: dict[str, Vector | None] = {}
        for text, one in zip(texts, given, strict=True):
            numbers = tuple(map(float, one))
            is_zero = len(numbers) == self._embedder.dimensions and not any(numbers)
            field = f"embedder ({kind} {text[:40]!r})"
            vectors[text] = (
                None if is_zero else stored_vector(numbers, dimensions=self._embedder.dimensions, field=field)
            )
        return vectors
