"""What it takes to move a namespace from one embedding space to another while it is read and written.

New vectors are kept beside those that are read, until every record that has one of the old space has one of the new, or
is noted to have none; then the namespace is switched over at once. Whoever writes meanwhile takes the new vector from
what it wrote, so that it is made anew. Each step may be repeated, and goes on where it was broken off.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from remembrancer.records import EmbeddingSpace, cosine
from remembrancer.records.vector import to_float32

TextKind = Literal["message", "entity", "fact", "tier_item", "kept"]
DerivedKind = Literal["episode", "theme"]
VectorKind = TextKind | DerivedKind

TEXT_KINDS: tuple[TextKind, ...] = ("message", "entity", "fact", "tier_item", "kept")
"""What is embedded by its text; `kept` are the vectors that the audit trail keeps of what was changed or removed."""

DERIVED_KINDS: tuple[DerivedKind, ...] = ("episode", "theme")
"""What gets its vector from those of its messages or facts."""

Key = tuple[str | int, ...]
"""Of a record its id; of an item of a tier tier, scope and id; of what is kept pass and place."""

Vector = tuple[float, ...]

_SAME_PLACE = 1.0 - 1e-6


class Situation(NamedTuple):
    """In which space a namespace is, to which it is on its way, and of which vectors may be left that nobody reads."""

    space: EmbeddingSpace | None
    next_space: EmbeddingSpace | None = None
    left_space: EmbeddingSpace | None = None


class Counted(NamedTuple):
    """Records of a kind that have a vector; of these, those that get no new one, and those that still lack it."""

    embedded: int
    skipped: int
    missing: int


class Bare(NamedTuple):
    """A record that lacks a vector of the new space.

    Attributes:
        key: Of the record.
        text: What is to be embedded; blank: there is nothing.
        stored: The text as it is stored, by which is seen whether it has changed since.
    """

    key: Key
    text: str
    stored: str | None


class Made(NamedTuple):
    """A record with its new vector; `None`: none can be made."""

    bare: Bare
    vector: Vector | None


@dataclass(frozen=True)
class Derived:
    """A page of episodes or themes.

    Attributes:
        last: Key of the last one looked at; `None`: there was none.
        put: How many got their vector.
        cancelled: Keys of those whose messages or facts have vectors that cancel each other out, and get none.
        bare: Those that have nothing to be made from, and are embedded by their texts.
    """

    last: Key | None = None
    put: int = 0
    cancelled: tuple[Key, ...] = ()
    bare: tuple[Bare, ...] = ()


class Reembedding(Protocol):
    """The vectors of one namespace, on their way from one embedding space to another."""

    async def situation(self) -> Situation:
        """How far the namespace is, as it is stored now."""
        ...

    async def count(self) -> dict[VectorKind, Counted]:
        """How many records have vectors, and how many of these lack one of the next space; all, where there is none."""
        ...

    async def begin(self, space: EmbeddingSpace) -> None:
        """Begin to move, or go on; when this returns every writer knows of it."""
        ...

    async def give_up(self) -> None:
        """Stay in the present space; what was made for the next is left, to be cleaned away."""
        ...

    async def bare(self, kind: TextKind, *, after: Key | None, limit: int) -> list[Bare]:
        """Records that lack a vector of the next space, in the order of their keys."""
        ...

    async def put(self, kind: VectorKind, made: Sequence[Made]) -> int:
        """Keep new vectors; records that have changed since are passed over. How many were kept."""
        ...

    async def derive(self, kind: DerivedKind, *, after: Key | None, limit: int) -> Derived:
        """Make vectors of episodes or themes whose members all have theirs."""
        ...

    async def switch(self) -> dict[VectorKind, Counted] | None:
        """Move over, in one step, if nothing is missing; else nothing happens, and `None` is returned."""
        ...

    async def clean(self, *, limit: int) -> int:
        """Remove the vectors of the space that was left, and its indexes where no namespace needs them; how many."""
        ...


@runtime_checkable
class Reembeds(Protocol):
    """A store whose namespace can move to another embedding space."""

    @property
    def reembedding(self) -> Reembedding:
        """Moves the namespace."""
        ...


def kept_text(kind: str, before: str | None) -> str:
    """The text by which a vector that the audit trail keeps is made anew: that of the record, if it is kept whole.

    Args:
        kind: The kind of record.
        before: What is kept of it, as JSON.
    """
    held: dict[str, Any] = json.loads(before) if before else {}
    name, more = held.get("name") or held.get("content") or held.get("label") or held.get("topic"), ""
    if kind == "theme" and held.get("description"):
        more = f": {held['description']}"
    if kind == "message" and name:
        return f"{held.get('speaker') or held.get('role') or 'user'}: {name}"
    return f"{name}{more}" if isinstance(name, str) else ""


@dataclass
class Mean:
    """The plain mean of vectors, summed in double precision in the order in which they come."""

    total: list[float] = field(default_factory=list)
    count: int = 0

    def add(self, vector: Sequence[float]) -> None:
        """Take one more."""
        so_far = self.total or [0.0] * len(vector)
        self.total = [a + b for a, b in zip(so_far, vector, strict=True)]
        self.count += 1

    @property
    def vector(self) -> Vector | None:
        """The mean; `None` where there was none, or they cancel each other out."""
        mean = [number / self.count for number in self.total] if self.count else []
        return tuple(to_float32(mean)) if any(abs(number) > 1e-12 for number in mean) else None


@dataclass
class ThemePlace:
    """Where a theme lies in the next space.

    A clusterer lays a theme where its first fact lies, and it stays there; what merged or lost facts lies in their
    middle. So the theme goes where the fact goes that it lies on, and where there is none into the middle of its facts.

    Attributes:
        old: Where it lies now.
    """

    old: Sequence[float]
    found: Vector | None = None
    mean: Mean = field(default_factory=Mean)

    def add(self, old: Sequence[float] | None, new: Sequence[float]) -> None:
        """Look at one of its facts, in their order."""
        if self.found is None and old is not None and cosine(self.old, old) >= _SAME_PLACE:
            self.found = tuple(new)
        if self.found is None:
            self.mean.add(new)

    @property
    def vector(self) -> Vector | None:
        """The place; `None` where its facts cancel each other out."""
        return self.found if self.found is not None else self.mean.vector
