"""What a memory makes of the shipped conversation, and what it brings up for the shipped questions."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembrancer.demo import conversation, questions
from remembrancer.hierarchy.ingestion import Progress
from remembrancer.memory import Memory
from remembrancer.records import Entity, Message, Relationship
from remembrancer.records.instant import parse_instant

NAMESPACE = "remembrancer-demo"
"""The only namespace that the demo writes to; cleared first."""

EVIDENCE_TOKENS = 150
"""How much evidence is shown for a question, as an agent would put it into its prompt."""

BESIDE_TOKENS = 80
"""The same where two answers stand side by side."""

_TYPES = ("person", "organization")
_CONVERSATIONS = 1_000


@dataclass(frozen=True)
class Known:
    """An entity, and what relates it to others: relation type, name at the other end, since when."""

    entity: Entity
    relations: Sequence[tuple[str, str, dt.datetime]]


@dataclass(frozen=True)
class Understanding:
    """What the memory made of the conversation.

    Attributes:
        messages: How many were read.
        seconds: How long that took.
        counts: Records made, by kind.
        known: People and organisations, those with most relations first.
        episodes: How many, by conversation.
        themes: Label and number of facts, largest first.
    """

    messages: int
    seconds: float
    counts: Mapping[str, int]
    known: Sequence[Known]
    episodes: Mapping[str, int]
    themes: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Question:
    """A question as it is asked.

    Attributes:
        text: In words.
        valid_at: The instant that it is asked of.
        is_past: Whether that lies before the end of the conversation.
        answer: The right one.
        key_words: What the evidence has to say.
        not_yet: What it must not say, since it began later.
    """

    text: str
    valid_at: dt.datetime
    is_past: bool
    answer: str
    key_words: Sequence[str]
    not_yet: Sequence[str]


@dataclass(frozen=True)
class Answer:
    """A question with the evidence that the memory brought up, a line each, in order of time."""

    question: Question
    evidence: Sequence[str]

    @property
    def missing(self) -> list[str]:
        """Key words that the evidence does not say."""
        return [word for word in self.question.key_words if not self._says(word)]

    @property
    def premature(self) -> list[str]:
        """What the evidence says although it began later."""
        return [word for word in self.question.not_yet if self._says(word)]

    @property
    def is_right(self) -> bool:
        """Whether the evidence says what it has to, and nothing from later."""
        return not self.missing and not self.premature

    def _says(self, word: str) -> bool:
        return word.casefold() in " ".join(" ".join(self.evidence).split()).casefold()


def shipped_messages() -> list[Message]:
    """The conversation, oldest message first."""
    return [Message.model_validate(fields) for fields in conversation()]


def shipped_questions() -> list[Question]:
    """The questions; those that name no instant are asked a minute after the last message."""
    end = max(message.timestamp for message in shipped_messages()) + dt.timedelta(minutes=1)
    return [_question(fields, end) for fields in questions()]


def _question(fields: Mapping[str, Any], end: dt.datetime) -> Question:
    past = fields["valid_at"]
    return Question(
        text=fields["question"],
        valid_at=end if past is None else parse_instant(past),
        is_past=past is not None,
        answer=fields["answer"],
        key_words=fields["key_words"],
        not_yet=fields["not_yet"],
    )


async def take_in(memory: Memory, *, progress: Progress | None = None) -> Understanding:
    """Read the conversation into an empty memory, and look at what became of it."""
    began = time.perf_counter()
    report = await memory.ingest(shipped_messages(), progress=progress)
    seconds = time.perf_counter() - began
    episodes = await memory.store.list_episodes(limit=_CONVERSATIONS)
    themes = await memory.store.list_themes()
    return Understanding(
        messages=report.messages_read,
        seconds=seconds,
        counts={kind: len(ids) for kind, ids in report.created.items()},
        known=await _known(memory),
        episodes=Counter(one.messages[0].conversation or "none" for one in episodes if one.messages),
        themes=sorted(((one.label, len(one.fact_ids)) for one in themes), key=lambda one: (-one[1], one[0])),
    )


async def _known(memory: Memory) -> list[Known]:
    found = []
    for entity_type in _TYPES:
        for entity in await memory.store.find_entities(entity_type=entity_type):
            edges = await memory.store.get_relationships_for_entity(entity.id, direction="out")
            ends = await memory.store.get_entities([edge.target_id for edge in edges])
            relations = [_relation(edge, ends) for edge in sorted(edges, key=lambda edge: (edge.valid_from, edge.id))]
            found.append(Known(entity, relations))
    return sorted(found, key=lambda one: (-len(one.relations), one.entity.entity_type, one.entity.name))


def _relation(edge: Relationship, ends: Mapping[str, Entity]) -> tuple[str, str, dt.datetime]:
    end = ends.get(edge.target_id)
    return edge.relation_type, end.name if end is not None else edge.target_id, edge.valid_from


async def answer(memory: Memory, question: Question, *, max_tokens: int) -> Answer:
    """What the memory brings up for a question."""
    found = await memory.recall(question.text, valid_at=question.valid_at)
    return Answer(question, found.to_prompt(max_tokens=max_tokens).splitlines())
