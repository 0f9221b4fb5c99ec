"""Recall between the domain and a store: the question as it is searched for, and the evidence that comes back.

A question carries everything that a store needs to find and rank evidence in one go: words, vector, dates, bounds in
time and the weights of the score. User text never becomes query syntax: `terms` hold letters and digits only.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from remembrancer.ports.weights import RecallWeights

EvidenceKind = Literal["message", "fact"]

MOST_WORDS = 333
"""How many words one search by text takes: the index refuses more than 1,024 clauses, and each word costs three."""


class Term(NamedTuple):
    """One word of a question.

    Attributes:
        word: Folded, letters and digits only; what is looked up among the words of the speakers' names.
        needle: What the words of a text (`recall_words.worded`) hold that has this word; empty where an earlier term
            has the same.
        query: The word as it is searched for in texts; empty for a pair of characters.
        token: What is searched for among the tokens kept beside a text (`recall_copies.tokens_of`): the word again, or
            the token of a pair of characters, for scripts without blanks between words.
    """

    word: str
    needle: str
    query: str
    token: str


class DateWindow(NamedTuple):
    """Days that a question names, first and last included as `YYYY-MM-DD`, and how much they count, 0 to 1."""

    first: str
    last: str
    weight: float


@dataclass(frozen=True)
class RecallQuestion:
    """A question, ready to be searched for.

    Attributes:
        terms: Its words without stop words; empty: the text is not searched.
        embedding: Its vector; `None`: only the text is searched.
        windows: Days that it names.
        asks_when: Whether it asks for a time.
        weights: How evidence is scored, and how many candidates are looked at.
        limit: The most evidence to give back.
        valid_at: Facts that held, and messages that had been said, at this instant.
        believed_at: Only what had been recorded by then; facts closed later count as live. `None`: as it is known now.
        include_invalidated: Closed facts too.
    """

    terms: tuple[Term, ...]
    embedding: tuple[float, ...] | None
    windows: tuple[DateWindow, ...]
    asks_when: bool
    weights: RecallWeights
    limit: int
    valid_at: dt.datetime
    believed_at: dt.datetime | None = None
    include_invalidated: bool = False

    @property
    def most_names(self) -> int:
        """With how many names of a text that was found the question is searched for again."""
        return max(0, MOST_WORDS - len(self.terms))


PARTS = (
    "similarity",
    "text",
    "episode",
    "neighbour",
    "coverage",
    "date",
    "time",
    "speaker",
    "question",
    "facts",
    "hop",
)
"""Names of the parts of a score, in the order in which stores give them."""


@dataclass(frozen=True)
class Evidence:
    """One message or fact that speaks to a question.

    Attributes:
        kind: `message` or `fact` (one that cites no stored message).
        id: Of the message or fact.
        content: What was said.
        score: The sum of its parts.
        parts: How the score came about, in the order of `PARTS`.
        episode_id: The episode it belongs to, if any.
        position: Its place in the episode.
        speaker: Who said it; `None` for a fact.
        at: When it was said, or from when the fact holds.
        source_ids: Of a fact: the messages it was read from, stored or not.
    """

    kind: EvidenceKind
    id: str
    content: str
    score: float
    parts: tuple[float, ...]
    episode_id: str | None
    position: int
    speaker: str | None
    at: dt.datetime
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """What a store found.

    Attributes:
        evidence: Best first.
        candidates: How many messages and facts were looked at.
        superseded: How many closed facts lay among the candidates and were left out.
        at_other_times: Without evidence: how many messages and facts would be some, had they been said, held or been
            recorded by the instants asked for; counted to about a hundred.
        speakers: Words of the question that name speakers of the namespace.
        is_filled: Whether the namespace holds any message or fact.
    """

    evidence: tuple[Evidence, ...]
    candidates: int = 0
    superseded: int = 0
    at_other_times: int = 0
    speakers: tuple[str, ...] = ()
    is_filled: bool = True


@dataclass(frozen=True)
class Candidate:
    """A message or fact that may speak to a question, with what a score is made of.

    Attributes:
        similarity: Cosine of question and evidence, 0 without vectors.
        was_near: Whether the vector search found it.
        text_rank: BM25 over the text, with all candidates as the collection; 0 for what only a second step found.
        fact_similarity: Best cosine of a fact that cites it.
        fact_rank: Best BM25 of a fact that cites it.
        mentions_time: Whether its words tell a time.
        is_alone: Whether it is a message without others around it.
        link: What ties it to a text that was found first; `None`: nothing does.
    """

    evidence: Evidence
    similarity: float
    was_near: bool
    text_rank: float
    fact_similarity: float = 0.0
    fact_rank: float = 0.0
    mentions_time: bool = False
    is_alone: bool = False
    link: float | None = None


@dataclass(frozen=True)
class Candidates:
    """All candidates for a question, unranked.

    Attributes:
        lowest: The lowest cosine that the first vector search found.
        at_other_times: As in `Findings`.
    """

    listed: Sequence[Candidate] = field(default_factory=tuple)
    lowest: float | None = None
    speakers: tuple[str, ...] = ()
    superseded: int = 0
    at_other_times: int = 0
    is_filled: bool = True


@runtime_checkable
class GathersCandidates(Protocol):
    """A store that finds candidates for a question, and leaves the ranking to the domain."""

    async def gather_candidates(self, question: RecallQuestion) -> Candidates:
        """Candidates by vector, by text and by date."""
        ...


@runtime_checkable
class RecallsEvidence(Protocol):
    """A store that finds and ranks evidence itself, in one statement and one wire trip."""

    async def recall(self, question: RecallQuestion) -> Findings:
        """The best evidence; equal to the domain's ranking of the same candidates."""
        ...
