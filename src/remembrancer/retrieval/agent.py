"""What an agent's node reads before its prompt is built, and the section of the prompt that comes of it.

A node says what it wants with a directive. None at all: nothing is looked up. An empty one: the run's goal is the text.
Tags alone: facts with one of them, no text is added. Entity ids: the graph around them. A text: what is similar to it.

What is stored is data. Each memory is one line that begins with a mark of ours, so no memory can pose as a heading or
as another line.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from remembrancer.ports import Embedder, MemoryIndex, MemoryStore
from remembrancer.ports.arguments import whole_number
from remembrancer.ports.requests import checked_request
from remembrancer.records import Clock, Fact, InvalidInputError, MemoryQuery, MemoryResult, system_clock
from remembrancer.records.base import Listed, Record, Request, build
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, Key, NonEmptyKey, Text
from remembrancer.retrieval.memory import retrieve_memory
from remembrancer.retrieval.recall import recall
from remembrancer.retrieval.recall.tokens import TokenCounter, estimate_tokens

HEADING = "## Relevant Memory"
"""The first line of the section."""

_WORDED_AT_ONCE = 1_000
_PATIENCE = 8  # lines too long for what is left of the budget before the search for a shorter one ends


class MemoryDirective(Request):
    """What a node wants to be reminded of; entity ids decide before a text, a text before tags.

    Attributes:
        text: Free text; blank counts as absent.
        entity_ids: Where a walk over the knowledge graph starts.
        tags: Only facts with at least one of these.
    """

    text: Text | None = None
    entity_ids: Listed[Id] = ()
    tags: Listed[Key] = ()


class RetrieverOptions(Request):
    """How a node is answered.

    Attributes:
        max_facts: The most facts, and records of each other kind, 1 to 100.
        goal: What the run is for: the text of an empty directive.
        run_id: The run that the facts are served to; they are then recorded for its score. Absent: they are not.
        min_similarity: The least cosine of facts and themes, 0 to 1, where a text is searched by vectors.
        max_hops: How far a walk goes, 0 to 5.
        valid_at: Only what holds at this instant; by default now.
    """

    max_facts: int = Field(default=20, ge=1, le=100)
    goal: Text | None = None
    run_id: NonEmptyKey | None = None
    min_similarity: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    max_hops: int = Field(default=2, ge=0, le=5)
    valid_at: Instant | None = None


class RetrievedFact(Record):
    """A fact as a node is given it; `score` is a cosine, where the search itself found the fact by vectors."""

    content: str
    valid_from: Instant
    id: Id
    score: float | None = None


class RetrievedEntity(Record):
    """An entity as a node is given it."""

    name: str
    type: str


class RetrievedTheme(Record):
    """A theme as a node is given it."""

    label: str


class RetrievedMemory(Record):
    """What a node was given.

    Attributes:
        facts: In the order of the retrieval.
        entities: Of the facts, or walked to.
        themes: That at least one of the facts is in.
    """

    facts: Listed[RetrievedFact] = ()
    entities: Listed[RetrievedEntity] = ()
    themes: Listed[RetrievedTheme] = ()

    def to_section(self, *, max_tokens: int | None = None, count_tokens: TokenCounter = estimate_tokens) -> str:
        """A `## Relevant Memory` section, to stand before the run's own state; empty when nothing is known or fits.

        Args:
            max_tokens: The most tokens of the whole section; facts go first, then themes, then entities. `None`: all.
            count_tokens: Counts the tokens of a text; the default estimates them.

        Raises:
            InvalidInputError: `max_tokens` is not a positive integer.
        """
        most = None if max_tokens is None else whole_number(max_tokens, field="max_tokens", least=1)
        kept: list[str] = []
        misses = 0
        for line in self._lines():
            if most is None or count_tokens(_section([*kept, line])) <= most:
                kept.append(line)
                continue
            misses += 1
            if misses == _PATIENCE:
                break
        return _section(kept) if kept else ""

    def _lines(self) -> Iterator[str]:
        for fact in self.facts:
            yield f"- [{_day(fact.valid_from)}] {_flat(fact.content)}"
        for theme in self.themes:
            yield f"- [theme] {_flat(theme.label)}"
        for entity in self.entities:
            yield f"- [entity] {_flat(entity.name)} ({_flat(entity.type)})"


async def retrieve_for_agent(
    store: MemoryStore,
    index: MemoryIndex,
    directive: MemoryDirective | Mapping[str, Any] | None,
    options: RetrieverOptions | Mapping[str, Any] | None = None,
    *,
    embedder: Embedder | None = None,
    clock: Clock = system_clock,
) -> RetrievedMemory:
    """Answer a node; nothing is called when there is no directive.

    Args:
        store: The memory.
        index: Finds by similarity.
        directive: What the node wants; `None`: nothing.
        options: How; `None`: as `RetrieverOptions` says.
        embedder: Makes the vector of a text; without one a text is searched by its words, and facts have no score.
        clock: Tells what now is.

    Raises:
        InvalidInputError: An argument is wrong, or an empty directive comes without a goal; names it.
        ServerUnavailableError: The database or the embedder could not be reached.
    """
    wanted = checked_options(options)
    if directive is None:
        return RetrievedMemory()
    asked = _completed(checked_request(MemoryDirective, directive, field="query"), wanted)
    now = clock()
    found: dict[str, Any] = {"tags": asked.tags, "limit": wanted.max_facts, "valid_at": wanted.valid_at or now}
    if asked.entity_ids:
        query = build(MemoryQuery, entity_ids=asked.entity_ids, max_hops=wanted.max_hops, **found)
    elif asked.text is None:
        query = build(MemoryQuery, **found)
    elif embedder is None:
        return await _worded(store, asked, wanted, at=found["valid_at"], now=now)
    else:
        vector = (await embedder.embed([asked.text]))[0]
        query = build(MemoryQuery, embedding=vector, min_similarity=wanted.min_similarity, **found)
    return _retrieved(await retrieve_memory(store, index, query, clock=clock))


def checked_options(options: object) -> RetrieverOptions:
    """The options as they are meant.

    Raises:
        InvalidInputError: An option is wrong or unknown; names it.
    """
    return RetrieverOptions() if options is None else checked_request(RetrieverOptions, options, field="options")


def _completed(asked: MemoryDirective, options: RetrieverOptions) -> MemoryDirective:
    text = asked.text if asked.text and asked.text.strip() else None
    if text is None and not asked.entity_ids and not asked.tags:
        if options.goal is None or not options.goal.strip():
            raise InvalidInputError("options.goal", "an empty query asks for the run's goal, and there is none")
        text = options.goal
    return asked.model_copy(update={"text": text})


async def _worded(
    store: MemoryStore, asked: MemoryDirective, options: RetrieverOptions, *, at: dt.datetime, now: dt.datetime
) -> RetrievedMemory:
    assert asked.text is not None  # noqa: S101 - the caller looked
    answer = await recall(store, asked.text, embedder=None, limit=_WORDED_AT_ONCE, valid_at=at, clock=lambda: now)
    hits = [hit.id for hit in answer.hits if hit.kind == "fact"]
    stored = (await store.get_facts(hits)).values()
    facts = [one for one in stored if not one.is_quarantined and (not asked.tags or set(asked.tags) & set(one.tags))]
    facts = facts[: options.max_facts]
    await store.touch_facts([fact.id for fact in facts], at=now)
    entities = await store.get_entities(_each_once(one for fact in facts for one in fact.entity_ids))
    themes = await store.get_themes(_each_once(fact.theme_id for fact in facts if fact.theme_id is not None))
    live = [one for one in entities.values() if one.is_live]
    return _retrieved(MemoryResult(facts=facts, entities=live[: options.max_facts], themes=tuple(themes.values())))


def _retrieved(result: MemoryResult) -> RetrievedMemory:
    scores = result.scores or {}
    served = {fact.id: fact for fact in result.facts}
    return RetrievedMemory(
        facts=[_fact(fact, scores.get(fact.id)) for fact in result.facts],
        entities=[RetrievedEntity(name=one.name, type=one.entity_type) for one in result.entities],
        # A theme may be named after facts that are hidden.
        themes=[
            RetrievedTheme(label=one.label)
            for one in result.themes
            if any(fact.theme_id == one.id for fact in served.values()) or not served.keys().isdisjoint(one.fact_ids)
        ],
    )


def _fact(fact: Fact, score: float | None) -> RetrievedFact:
    return RetrievedFact(content=fact.content, valid_from=fact.valid_from, id=fact.id, score=score)


def _each_once(ids: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def _section(lines: Sequence[str]) -> str:
    return "\n".join([HEADING, "", *lines])


def _flat(text: str) -> str:
    return " ".join(text.splitlines())


def _day(at: dt.datetime) -> str:
    return f"{at.day} {at:%b} {at.year}"
