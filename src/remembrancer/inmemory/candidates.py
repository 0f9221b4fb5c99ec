"""Candidates for a recall, found in memory: the twin of what the database finds by its indexes.

Vectors are compared exactly; the text search finds what has a word of the question in one of its forms, as the database
does, by BM25 over a message and, at half weight, the messages around it; of more than it takes, who is found last may
differ from what the database finds. What was found is then ranked by its words alone, as the database does, with what
was found as the collection: how rare a word is in all that is stored, by others too, has no part in a score.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from remembrancer.inmemory.collection import Collection
from remembrancer.inmemory.graph import RecordGraph
from remembrancer.inmemory.proposing import Proposal
from remembrancer.ports.recall import Candidate, Candidates, Evidence, RecallQuestion, Term
from remembrancer.records import Fact, Message, RecordKind, cosine, is_valid_at
from remembrancer.records.recall_copies import mentions_time, name_words, names_in, places_around
from remembrancer.records.recall_words import indexed_words, worded

Nearest = Callable[[RecordKind, Sequence[float], int, Callable[[Any], bool]], Mapping[str, float]]
"""Ids and cosines of the nearest records of a kind that pass, at most so many."""

_CONTEXT = 0.5
_COUNTED = 50  # closed facts, and what each search finds at other times, at most


@dataclass
class _Found:
    """What is known of one candidate so far."""

    record: Message | Fact
    near: float | None = None
    text_rank: float = 0.0
    fact_similarity: float = 0.0
    fact_rank: float = 0.0
    link: float | None = None
    cited_by: list[str] = field(default_factory=list)
    """Texts of the facts that speak for it."""


class CandidateSearch:
    """Finds candidates for one question in one graph."""

    def __init__(self, graph: RecordGraph, question: RecallQuestion, nearest: Nearest) -> None:
        self._graph = graph
        self._question = question
        self._nearest = nearest
        self._found: dict[str, _Found] = {}
        self._places = _places(graph)
        self._words: dict[str, str] = {}
        self._indexed: dict[str, list[str]] = {}
        names = {word for m in graph.messages.values() if m.speaker for word in name_words(m.speaker)}
        self._speakers = tuple(term.word for term in question.terms if term.word in names)
        others = [term for term in question.terms if term.word not in names] or question.terms
        self._needles = [term.needle for term in others if term.needle]
        self._terms = others
        self._proposal = Proposal(others)

    def gather(self) -> Candidates:
        """All candidates."""
        self._by_vector()
        self._by_text()
        self._by_date()
        self._by_facts()
        near = [found.near for found in self._found.values() if found.near is not None]
        self._rank_texts()
        self._by_links()
        return Candidates(
            tuple(self._candidate(found) for found in self._found.values()),
            lowest=min(near, default=None),
            speakers=self._speakers,
            superseded=0 if self._question.include_invalidated else self._count_closed(),
            at_other_times=0 if self._found else self._count_at_other_times(),
            is_filled=bool(self._graph.messages or self._graph.facts),
        )

    def _said(self, message: Message) -> bool:
        recorded = self._graph.message_recorded_at.get(message.id)
        believed = self._question.believed_at
        return message.timestamp <= self._question.valid_at and (
            believed is None or recorded is None or recorded <= believed
        )

    def _holds(self, fact: Fact) -> bool:
        believed = self._question.believed_at
        if not is_valid_at(fact, self._question.valid_at):
            return False
        if believed is not None and fact.recorded_at is not None and fact.recorded_at > believed:
            return False
        return self._may_count(fact)

    def _may_count(self, fact: Fact) -> bool:
        """Whether a fact is evidence at some time, if not at this."""
        believed = self._question.believed_at
        closed_later = believed is not None and fact.closed_at is not None and fact.closed_at > believed
        return not fact.is_quarantined and (fact.is_live or self._question.include_invalidated or closed_later)

    def _at(self, record: Message | Fact) -> _Found:
        return self._found.setdefault(record.id, _Found(record))

    def _by_vector(self) -> None:
        if self._question.embedding is None:
            return
        for message_id, score in self._nearest(
            "message", self._question.embedding, self._question.weights.near, self._said
        ).items():
            self._at(self._graph.messages[message_id]).near = score

    def _by_date(self) -> None:
        if self._question.embedding is None:
            return
        for window in self._question.windows:

            def passes(message: Message, first: str = window.first, last: str = window.last) -> bool:
                return self._said(message) and first <= message.timestamp.date().isoformat() <= last

            limit = self._question.weights.near_dates
            for message_id, score in self._nearest("message", self._question.embedding, limit, passes).items():
                self._at(self._graph.messages[message_id]).near = score

    def _by_text(self) -> None:
        said = [message for message in self._graph.messages.values() if self._said(message)]
        for message in self._worded(said, self._needles, self._proposal)[: self._question.weights.near]:
            self._at(message)

    def _worded(self, messages: Sequence[Message], needles: Sequence[str], proposal: Proposal) -> list[Message]:
        proposed = [
            m
            for m in messages
            if proposal.has_any(self._indexed_of(m)) or proposal.has_a_word(self._context(m).split())
        ]
        own = Collection([self._said_in(message) for message in proposed], needles).ranks()
        around = Collection([self._context(message) for message in proposed], needles).ranks()
        ranks = [(message, a + _CONTEXT * b) for message, a, b in zip(proposed, own, around, strict=True)]
        return [message for message, _ in sorted(ranks, key=lambda pair: (-pair[1], pair[0].id))]

    def _by_facts(self) -> None:
        weights, embedding = self._question.weights, self._question.embedding
        near = self._nearest("fact", embedding, weights.near_facts, self._holds) if embedding is not None else {}
        held = [f for f in self._graph.facts.values() if self._holds(f) and self._proposal.has_any(self._indexed_of(f))]
        texts = Collection([self._said_in(fact) for fact in held], self._needles).ranks()
        ranked = sorted(zip(texts, held, strict=True), key=lambda pair: (-pair[0], pair[1].id))
        for fact_id in dict.fromkeys([*near, *(fact.id for _, fact in ranked[: weights.near_facts])]):
            self._speak_for(self._graph.facts[fact_id], near.get(fact_id))

    def _speak_for(self, fact: Fact, near: float | None) -> None:
        cited = [self._graph.messages[m] for m in fact.source_message_ids if m in self._graph.messages]
        cited = [message for message in cited if message.timestamp <= self._question.valid_at]
        similarity = near if near is not None else self._similarity(fact)
        for message in cited:
            if not self._said(message):
                continue
            found = self._at(message)
            if fact.content not in message.content:
                found.fact_similarity = max(found.fact_similarity, similarity)
                found.cited_by.append(self._said_in(fact))
        if not cited:
            self._at(fact).near = near

    def _rank_texts(self) -> None:
        listed = self._found.values()
        collection = Collection([self._said_in(found.record) for found in listed], self._needles)
        for found, rank in zip(listed, collection.ranks(), strict=True):
            found.text_rank = rank
            if self._question.embedding is None and isinstance(found.record, Message):
                found.text_rank += _CONTEXT * collection.rank(self._context(found.record))
            found.fact_rank = max(map(collection.rank, found.cited_by), default=0.0)

    def _by_links(self) -> None:
        if self._question.embedding is None:
            return
        weights = self._question.weights
        best = max((found.text_rank for found in self._found.values()), default=0.0) or 1.0
        worth = {
            record_id: self._similarity(found.record) + weights.seed_text * found.text_rank / best
            for record_id, found in self._found.items()
        }
        first = sorted(worth, key=lambda record_id: (-worth[record_id], record_id))[: weights.seeds]
        seeds = [record for record_id in first if isinstance(record := self._found[record_id].record, Message)]
        alone = [seed for seed in seeds if not self._context(seed) and seed.embedding is not None]
        for rank, seed in enumerate(alone):
            self._search_on(seed, rank)

    def _search_on(self, seed: Message, rank: int) -> None:
        weights = self._question.weights
        assert seed.embedding is not None  # noqa: S101 - the caller chose seeds that have one
        near = self._nearest("message", seed.embedding, weights.near_seed, self._said)
        said = [m for m in self._graph.messages.values() if self._said(m) and m.embedding is not None]
        names = names_in(seed.content)[: self._question.most_names]
        needles = list(dict.fromkeys([*self._needles, *(f" {name}" for name in names)]))
        named = [Term(word, "", word, word) for name in names for word in name.split()]
        texts = [message.id for message in self._worded(said, needles, Proposal([*self._terms, *named]))]
        listed = dict.fromkeys([*near, *texts[: weights.near_seed]])
        reached = [record_id for record_id in listed if record_id != seed.id]
        ranks = Collection([self._said_in(self._graph.messages[record_id]) for record_id in reached], needles).ranks()
        top = max(ranks, default=0.0) or 1.0
        for record_id, text_rank in zip(reached, ranks, strict=True):
            message = self._graph.messages[record_id]
            link = weights.hop_similarity * cosine(message.embedding or (), seed.embedding)
            link += weights.hop_text * text_rank / top - weights.hop_rank * rank
            found = self._at(message)
            found.link = link if found.link is None else max(found.link, link)

    def _similarity(self, record: Message | Fact) -> float:
        if self._question.embedding is None or record.embedding is None:
            return 0.0
        return cosine(record.embedding, self._question.embedding)

    def _said_in(self, record: Message | Fact) -> str:
        """The words of a record."""
        if record.id not in self._words:
            self._words[record.id] = worded(record.content)
        return self._words[record.id]

    def _indexed_of(self, record: Message | Fact) -> list[str]:
        """The words under which the text index has a record; each text that is searched on from asks for all again."""
        if record.id not in self._indexed:
            self._indexed[record.id] = indexed_words(record.content)
        return self._indexed[record.id]

    def _context(self, message: Message) -> str:
        """As `recall_copies.context_around`, which would cut each message anew for each of its neighbours."""
        episode_id, position = self._places.get(message.id, (None, 0))
        if episode_id is None:
            return ""
        held = [self._graph.messages[m] for m in self._graph.episode_messages[episode_id] if m in self._graph.messages]
        around = (held[place] for place in places_around(position, len(held)))
        return "".join(self._said_in(beside) for beside in around if beside.content)

    def _count_closed(self) -> int:
        closed = [f for f in self._graph.facts.values() if not f.is_live and not f.is_quarantined]
        return min(_COUNTED, sum(self._proposal.has_any(self._indexed_of(fact)) for fact in closed))

    def _count_at_other_times(self) -> int:
        """What would have been found but for the time; asked only where nothing was, so none of it counts now."""
        said: list[Message | Fact] = list(self._graph.messages.values())
        held: list[Message | Fact] = [fact for fact in self._graph.facts.values() if self._may_count(fact)]
        found: set[str] = set()
        for records in (said, held):
            having = (record.id for record in records if self._proposal.has_any(self._indexed_of(record)))
            found.update(itertools.islice(having, _COUNTED))
        if self._question.embedding is not None:
            found.update(self._nearest("message", self._question.embedding, _COUNTED, lambda _: True))
            found.update(self._nearest("fact", self._question.embedding, _COUNTED, self._may_count))
        return len(found)

    def _candidate(self, found: _Found) -> Candidate:
        record = found.record
        episode_id, position = self._places.get(record.id, (None, 0))
        is_message = isinstance(record, Message)
        evidence = Evidence(
            kind="message" if is_message else "fact",
            id=record.id,
            content=record.content,
            score=0.0,
            parts=(),
            episode_id=episode_id,
            position=position,
            speaker=record.said_by if isinstance(record, Message) else None,
            at=record.timestamp if isinstance(record, Message) else record.valid_from,
        )
        if isinstance(record, Fact):
            evidence = replace(evidence, source_ids=tuple(dict.fromkeys(record.source_message_ids)))
        return Candidate(
            evidence,
            similarity=found.near if found.near is not None else self._similarity(record),
            was_near=found.near is not None,
            text_rank=found.text_rank,
            fact_similarity=found.fact_similarity,
            fact_rank=found.fact_rank,
            mentions_time=is_message and mentions_time(record.content),
            is_alone=isinstance(record, Message) and not self._context(record),
            link=found.link,
        )


def _places(graph: RecordGraph) -> dict[str, tuple[str | None, int]]:
    places: dict[str, tuple[str | None, int]] = {}
    for episode_id, message_ids in graph.episode_messages.items():
        for position, message_id in enumerate(m for m in message_ids if m in graph.messages):
            places.setdefault(message_id, (episode_id, position))
    return places
