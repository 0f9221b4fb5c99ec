"""Retrieval data: what a memory is filled with, what it is asked, and where the answers are.

A file is one JSON document. `kind` says which of two forms it has: `conversations`, each a memory of its own, with
`sessions` of `turns` and, perhaps, `facts` that somebody else extracted; or `paragraphs`, in `corpora`, each a memory.
Ids are unique over the file. `docs/benchmarks.md` shows both.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, RootModel

from remembrancer.bench.document import read_document
from remembrancer.records import InvalidInputError, Message
from remembrancer.records.base import Listed, Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import NonEmptyKey, NonEmptyText

_TOLD_AT = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
"""When every paragraph is taken to have been told: documents have no time of their own to be ranked by."""

DataKind = Literal["conversations", "paragraphs"]


@dataclass(frozen=True)
class Source:
    """A turn or a paragraph: what can be evidence.

    Attributes:
        id: As in the data.
        message: As it goes into a memory.
        content: What counts as its content when an item claims to carry it.
        indexed: Whose words the baselines index.
        shown: What the baselines return.
    """

    id: str
    message: Message
    content: str
    indexed: str
    shown: str


@dataclass(frozen=True)
class ReferenceFact:
    """A fact that came with the data, and the ids of the turns it was read from, at least one."""

    text: str
    source_ids: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question, the sources that hold its answer (at least one), and the groups it is scored in."""

    id: str
    text: str
    evidence: frozenset[str]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Material:
    """What one memory is filled with and asked; `facts` is empty where the data has none."""

    id: str
    sources: tuple[Source, ...]
    questions: tuple[Question, ...]
    facts: tuple[ReferenceFact, ...] = ()


@dataclass(frozen=True)
class RetrievalSet:
    """A whole file of retrieval data."""

    name: str
    kind: DataKind
    materials: tuple[Material, ...]

    @property
    def has_facts(self) -> bool:
        """Whether reference facts came with it."""
        return any(material.facts for material in self.materials)

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in order."""
        return tuple(question for material in self.materials for question in material.questions)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All turns or paragraphs, in order."""
        return tuple(source for material in self.materials for source in material.sources)


class _Fact(Record):
    text: NonEmptyText
    source_ids: Listed[NonEmptyKey] = Field(min_length=1)


class _Turn(Record):
    id: NonEmptyKey
    speaker: NonEmptyKey
    text: str
    timestamp: Instant


class _Session(Record):
    turns: Listed[_Turn]
    facts: Listed[_Fact] = ()


class _Question(Record):
    id: NonEmptyKey
    category: NonEmptyKey
    question: NonEmptyText
    evidence: Listed[NonEmptyKey] = Field(min_length=1)


class _Conversation(Record):
    id: NonEmptyKey
    sessions: Listed[_Session]
    questions: Listed[_Question]


class _Paragraph(Record):
    id: NonEmptyKey
    title: str
    text: str


class _Corpus(Record):
    id: NonEmptyKey
    paragraphs: Listed[_Paragraph]
    questions: Listed[_Question]


class _Conversations(Record):
    kind: Literal["conversations"]
    name: NonEmptyKey
    conversations: Listed[_Conversation]


class _Corpora(Record):
    kind: Literal["paragraphs"]
    name: NonEmptyKey
    corpora: Listed[_Corpus]


class _File(RootModel[Annotated[_Conversations | _Corpora, Field(discriminator="kind")]]):
    """Either form, told apart by `kind`."""


def read_retrieval_set(path: Path) -> RetrievalSet:
    """Read a file of retrieval data.

    Raises:
        InvalidInputError: It cannot be read or is not what it should be: a field is wrong, an id is there twice, a
            question's evidence or a fact's source is not in the same conversation or corpus, nothing is asked.
    """
    file = read_document(path, _File).root
    if isinstance(file, _Conversations):
        read = RetrievalSet(file.name, file.kind, tuple(map(_conversation, file.conversations)))
    else:
        read = RetrievalSet(file.name, file.kind, tuple(map(_corpus, file.corpora)))
    _check(read)
    return read


def _conversation(one: _Conversation) -> Material:
    turns = [turn for session in one.sessions for turn in session.turns]
    facts = [fact for session in one.sessions for fact in session.facts]
    return Material(
        id=one.id,
        sources=tuple(_turn(turn, one.id) for turn in turns),
        questions=tuple(_question(question, (question.category,)) for question in one.questions),
        facts=tuple(ReferenceFact(fact.text, tuple(fact.source_ids)) for fact in facts),
    )


def _turn(turn: _Turn, conversation: str) -> Source:
    said = f"{turn.speaker}: {turn.text}"
    at = turn.timestamp
    return Source(
        id=turn.id,
        message=Message(
            role="user",
            speaker=turn.speaker,
            content=turn.text,
            timestamp=at,
            conversation=conversation,
            metadata={"turn": turn.id},
        ),
        content=turn.text,
        indexed=said,
        shown=f"[{at.day} {at:%b} {at.year}] {said}",
    )


def _corpus(one: _Corpus) -> Material:
    return Material(
        id=one.id,
        sources=tuple(map(_paragraph, one.paragraphs)),
        questions=tuple(_question(question, (one.id, f"{one.id}: {question.category}")) for question in one.questions),
    )


def _paragraph(paragraph: _Paragraph) -> Source:
    text = f"{paragraph.title}: {paragraph.text}"
    message = Message(
        role="user",
        content=text,
        timestamp=_TOLD_AT,
        conversation=paragraph.id,
        metadata={"turn": paragraph.id},
    )
    return Source(paragraph.id, message, content=text, indexed=text, shown=text)


def _question(question: _Question, groups: tuple[str, ...]) -> Question:
    return Question(question.id, question.question, frozenset(question.evidence), groups)


def _check(read: RetrievalSet) -> None:
    if not read.questions:
        raise InvalidInputError("data", "no questions in it")
    _check_unique("conversation or corpus", (material.id for material in read.materials))
    _check_unique("turn or paragraph", (source.id for source in read.sources))
    _check_unique("question", (question.id for question in read.questions))
    for material in read.materials:
        known = {source.id for source in material.sources}
        for place, ids in _cited(material):
            missing = sorted(set(ids) - known)
            if missing:
                raise InvalidInputError("data", f"{place} cites {missing[0]!r}, which is not in {material.id!r}")


def _cited(material: Material) -> Iterator[tuple[str, Iterable[str]]]:
    for question in material.questions:
        yield f"question {question.id!r}", question.evidence
    for fact in material.facts:
        yield f"the fact {fact.text!r}", fact.source_ids


def _check_unique(what: str, ids: Iterable[str]) -> None:
    twice = [one for one, times in Counter(ids).items() if times > 1]
    if twice:
        raise InvalidInputError("data", f"the {what} {twice[0]!r} is there twice")
