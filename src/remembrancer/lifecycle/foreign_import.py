"""Taking in what other memories have dumped: read twice, first to check all of it, then to write; memory stays flat.

Records keep ids that are made from theirs, and what is stored already stays as it is. So a second import of the same
changes nothing, and one that was cut off is run again.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from remembrancer.lifecycle import foreign_graphiti, foreign_mem0
from remembrancer.lifecycle.foreign_reading import Piece, pieces, place_of
from remembrancer.lifecycle.foreign_records import Taken
from remembrancer.ports import Embedder, MemoryStore
from remembrancer.ports.arguments import flag
from remembrancer.ports.embedder import embedded
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    InvalidInputError,
    RecordBatch,
    Relationship,
    Theme,
)
from remembrancer.records.base import Listed, Record, build
from remembrancer.records.file import require_path
from remembrancer.records.key import require_key
from remembrancer.records.vector import stored_vector

ForeignProgress = Callable[[int], object]
"""Told after each batch how many records of the files have been stored or were known."""

_AT_ONCE = 100
_TOLD_PROBLEMS = 100

R = TypeVar("R", Entity, Episode, Fact, Relationship, Theme)


class ForeignFormat(StrEnum):
    """Whose dump it is."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"


class BadRecord(Record):
    """A record that cannot be taken in.

    Attributes:
        file: Where it is.
        line: On which line it begins, from 1.
        element: Which of its list it is, from 1; `None`: it is in none.
        group: The name of that list; empty: it has none.
        problem: What is wrong with it.
    """

    file: str
    line: int
    element: int | None = None
    group: str = ""
    problem: str

    @property
    def place(self) -> str:
        """Where it is in its file, in words."""
        return place_of(self.line, self.element, self.group)


class ForeignReport(Record):
    """What an import of another memory did.

    Attributes:
        read: How many records the files have.
        created: How many records were stored, by kind.
        known: How many were stored before, or came earlier in the files, and stay as they are, by kind.
        bad: How many cannot be taken in, with `skip_bad`.
        problems: The first hundred of these.
        left: Fields, and kinds of records, that have no place here, and how often they came.
        embedded: How many vectors were made; those that came with the files are not among them.
    """

    read: int
    created: dict[str, int]
    known: dict[str, int]
    bad: int = 0
    problems: Listed[BadRecord] = ()
    left: dict[str, int] = {}
    embedded: int = 0


class Examined:
    """What was found in files that were read to their end without writing.

    Attributes:
        digest: Of what they hold.
        count: How many records they have.
        bad: How many of these are wrong.
        problems: The first hundred of those.
        left: Fields, and kinds of records, that have no place here, and how often they came.
    """

    def __init__(self, whose: ForeignFormat, *, skip_bad: bool, vectors: EmbeddingSpace | None = None) -> None:
        """Begin with nothing.

        Args:
            whose: Whose dumps the files are.
            skip_bad: Whether a wrong record is counted instead of raised.
            vectors: The space of the vectors that came with the records; `None`: they are let go of.
        """
        self.digest = ""
        self.count = 0
        self.bad = 0
        self.problems: list[BadRecord] = []
        self.left: Counter[str] = Counter()
        self.skip_bad = skip_bad
        self._read = foreign_mem0.read if whose is ForeignFormat.MEM0 else foreign_graphiti.read
        self._vectors = vectors

    def examine(self, files: Sequence[Path]) -> None:
        """Read everything.

        Raises:
            InvalidInputError: A record is wrong, and such are not to be skipped; names file and line.
        """
        digest = hashlib.sha256()
        said: dict[str, int] = {}
        for path in files:
            for piece in _of(path):
                self.count += 1
                digest.update(repr(piece).encode("utf-8", "backslashreplace"))
                try:
                    taken = self.taken(piece)
                    for fact in taken.facts:
                        content = hash(fact.content)
                        if said.setdefault(fact.id, content) != content:
                            raise InvalidInputError("id", "an earlier record has it, with another text")
                except InvalidInputError as error:
                    self._note(path, piece, error)
                else:
                    self.left.update(taken.left)
        self.digest = digest.hexdigest()

    def _note(self, path: Path, piece: Piece, error: InvalidInputError) -> None:
        if not self.skip_bad:
            raise InvalidInputError(f"{path.name}, {piece.place}", str(error)) from error
        self.bad += 1
        if len(self.problems) < _TOLD_PROBLEMS:
            self.problems.append(
                BadRecord(file=str(path), line=piece.line, element=piece.element, group=piece.group, problem=str(error))
            )

    def taken(self, piece: Piece) -> Taken:
        """What a value of a file becomes.

        Raises:
            InvalidInputError: It is no record, or a wrong one.
        """
        if piece.problem:
            raise InvalidInputError("record", piece.problem)
        if not isinstance(piece.value, Mapping):
            raise InvalidInputError("record", f"expected an object, got {type(piece.value).__name__}")
        taken = self._read(piece.group, piece.value)
        windowed: list[Fact | Relationship] = [*taken.facts, *taken.relationships]
        for one in windowed:
            if one.valid_until is not None and one.valid_until < one.valid_from:
                raise InvalidInputError("record", f"ends ({one.valid_until}) before it begins ({one.valid_from})")
        if self._vectors is None:
            taken.vectors.clear()
            return taken
        for record_id, vector in taken.vectors.items():
            try:
                stored_vector(tuple(vector), dimensions=self._vectors.dimensions, field=f"embedding of {record_id}")
            except EmbeddingDimensionMismatchError as error:
                raise InvalidInputError("embedding", str(error)) from error
        return taken


def examine_foreign(
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: ForeignFormat | str,  # noqa: A002 - what it is called everywhere
    skip_bad: bool = False,
) -> Examined:
    """Read dumps of another memory to their end, before there is a memory to take them in; see `import_foreign`.

    Raises:
        InvalidInputError: As `Memory.import_foreign`; but vectors that came with the records are not looked at.
    """
    examined = Examined(_whose(format), skip_bad=flag(skip_bad, field="skip_bad"))
    examined.examine(_files(paths))
    return examined


async def import_foreign(
    store: MemoryStore,
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: ForeignFormat | str,  # noqa: A002 - what it is called everywhere
    embedder: Embedder | None = None,
    vectors_by: str | None = None,
    skip_bad: bool = False,
    progress: ForeignProgress | None = None,
    examined: Examined | None = None,
) -> ForeignReport:
    """Take in dumps of another memory; see `Memory.import_foreign`.

    `examined` is what `examine_foreign` found in these files; they are examined here where it is left out, and where
    vectors that came with them are to be kept.
    """
    whose, files, is_lenient = _whose(format), _files(paths), flag(skip_bad, field="skip_bad")
    named = None if vectors_by is None else require_key(vectors_by, field="vectors_by")
    vectors = store.space if store.space is not None and named == store.space.model else None
    if examined is None or vectors is not None:
        examined = Examined(whose, skip_bad=is_lenient, vectors=vectors)
        examined.examine(files)
    importer = _Import(store, examined, embedder=embedder)
    await importer.write(files, progress)
    return importer.report()


def _whose(value: ForeignFormat | str) -> ForeignFormat:
    try:
        return ForeignFormat(value)
    except ValueError as error:
        raise InvalidInputError("format", f"expected one of {', '.join(ForeignFormat)}, got {value!r}") from error


def _files(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    if isinstance(paths, str | os.PathLike) or not isinstance(paths, Sequence) or not paths:
        raise InvalidInputError("paths", "expected one or more files")
    return [require_path(one, field=f"paths.{place}") for place, one in enumerate(paths)]


class _Import:
    def __init__(self, store: MemoryStore, examined: Examined, *, embedder: Embedder | None) -> None:
        self._store = store
        self._examined = examined
        self._embedder = embedder if store.space is not None else None
        self._embedded = 0
        self._created: Counter[str] = Counter()
        self._known: Counter[str] = Counter()

    def report(self) -> ForeignReport:
        """What was done."""
        found = self._examined
        return ForeignReport(
            read=found.count,
            created=dict(self._created),
            known=dict(self._known),
            bad=found.bad,
            problems=found.problems,
            left=dict(found.left.most_common()),
            embedded=self._embedded,
        )

    async def write(self, files: Sequence[Path], progress: ForeignProgress | None) -> None:
        """Write what was examined, a batch at a time.

        Raises:
            InvalidInputError: The files have changed meanwhile; what was written stays.
        """
        again, batch, done = hashlib.sha256(), list[Taken](), 0
        for path in files:
            for piece in _of(path):
                again.update(repr(piece).encode("utf-8", "backslashreplace"))
                done += 1
                try:
                    batch.append(self._examined.taken(piece))
                except InvalidInputError:
                    if not self._examined.skip_bad:
                        raise
                if len(batch) >= _AT_ONCE:
                    await self._write(batch)
                    batch = []
                    if progress is not None:
                        progress(done)
        await self._write(batch)
        if progress is not None:
            progress(done)
        if again.hexdigest() != self._examined.digest:
            raise InvalidInputError("paths", "the files changed while they were read; import them again")

    async def _write(self, batch: Sequence[Taken]) -> None:
        vectors = {one: vector for taken in batch for one, vector in taken.vectors.items()}
        store = self._store
        entities = await self._new("entity", [one for taken in batch for one in taken.entities], store.get_entities)
        edges = await self._new(
            "relationship", [one for taken in batch for one in taken.relationships], store.get_relationships
        )
        episodes = await self._new("episode", [one for taken in batch for one in taken.episodes], store.get_episodes)
        facts = await self._new("fact", [one for taken in batch for one in taken.facts], store.get_facts)
        themes = await self._new("theme", [one for taken in batch for one in taken.themes], store.get_themes)
        spoken = [one.messages[0].spoken for one in episodes]
        texts = [one.name for one in entities if one.id not in vectors] + spoken
        texts += [one.content for one in facts if one.id not in vectors] + [_theme_text(one) for one in themes]
        made = await self._embed(texts)
        await store.write(
            build(
                RecordBatch,
                entities=[_with(one, vectors.get(one.id) or made.get(one.name)) for one in entities],
                relationships=edges,
                episodes=[_episode_with(one, made.get(text)) for one, text in zip(episodes, spoken, strict=True)],
                facts=[_with(one, vectors.get(one.id) or made.get(one.content)) for one in facts],
                themes=[_with(one, made.get(_theme_text(one))) for one in themes],
            )
        )

    async def _new(self, kind: str, records: Sequence[R], stored: Callable[[Sequence[str]], Any]) -> list[R]:
        by_id: dict[str, R] = {}
        for record in records:
            by_id.setdefault(record.id, record)
        known = await stored(list(by_id)) if by_id else {}
        new = [record for record_id, record in by_id.items() if record_id not in known]
        self._known[kind] += len(by_id) - len(new)
        self._created[kind] += len(new)
        return new

    async def _embed(self, texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
        wanted = list(dict.fromkeys(one for one in texts if one.strip()))
        if self._embedder is None or not wanted:
            return {}
        given = await embedded(self._embedder, wanted)
        made = {text: tuple(map(float, vector)) for text, vector in zip(wanted, given, strict=True) if any(vector)}
        self._embedded += len(made)
        return made


def _of(path: Path) -> Iterator[Piece]:
    try:
        yield from pieces(path)
    except InvalidInputError as error:
        if error.field == "path":
            raise
        raise InvalidInputError(f"{path.name}, {error.field}", error.problem) from error


def _with(record: R, vector: Sequence[float] | None) -> R:
    return record if vector is None else record.model_copy(update={"embedding": tuple(vector)})


def _episode_with(episode: Episode, vector: Sequence[float] | None) -> Episode:
    if vector is None:
        return episode
    messages = tuple(one.model_copy(update={"embedding": tuple(vector)}) for one in episode.messages)
    return episode.model_copy(update={"messages": messages, "embedding": tuple(vector)})


def _theme_text(theme: Theme) -> str:
    return f"{theme.label}: {theme.description}" if theme.description else theme.label
