"""The weights of recall: every number that decides what comes first, in one place."""

from __future__ import annotations

from pydantic import Field

from remembrancer.records.base import Request


class RecallWeights(Request):
    """How evidence is scored. All sums are over the candidates of one question.

    Attributes:
        similarity: Cosine of question and message.
        text: BM25 over a message, with the candidates as the collection, divided by the best candidate's.
        episode: Mean of the three best cosines in the message's episode, a missing one counting as the lowest hit or
            `floor`, whichever is less.
        episode_text: Best BM25 in the episode, divided by the best candidate's.
        neighbour: Best cosine of the messages right before and after.
        coverage: Share of the question's words, weighted by rarity among the candidates, that stand in candidates at
            most `reach` positions away.
        coverage_alone: The same for a message that has no others around it, such as a paragraph.
        date: The question names a day, month or year near the message's; times the window's own weight.
        time: The question asks for a time, and the message tells one.
        speaker: The question names who speaks.
        other_speaker: It names speakers, but not this one; taken off.
        question: The message asks instead of telling; taken off.
        fact: Cosine of the best fact that cites the message.
        fact_text: BM25 of the best fact that cites it, divided by the best.
        hop: What a message owes to one that was found first, where messages stand alone (documents): its own cosine,
            plus `hop_similarity` times its cosine to that one, plus `hop_text` times its BM25 for the question's
            words and that one's names, divided by the best, less `hop_rank` a place of that one among the first.
        hop_similarity: See `hop`.
        hop_text: See `hop`.
        hop_rank: See `hop`.
        seed_text: How much BM25 counts, beside the cosine, in choosing what is found first.
        floor: See `episode`.
        reach: See `coverage`.
        near: Candidates by vector.
        near_dates: Candidates by vector within each of the days that the question names.
        near_facts: Facts by vector, and by text.
        seeds: How many of the first found search on.
        near_seed: Candidates of each of these, by vector and by text.
    """

    similarity: float = 0.86
    text: float = 0.05
    episode: float = 0.92
    episode_text: float = 0.1
    neighbour: float = 0.5
    coverage: float = 0.75
    coverage_alone: float = 0.1
    date: float = 0.65
    time: float = 0.35
    speaker: float = 0.06
    other_speaker: float = 0.05
    question: float = 0.16
    fact: float = 0.25
    fact_text: float = 0.25
    hop: float = 1.5
    hop_similarity: float = 0.5
    hop_text: float = 0.72
    hop_rank: float = 0.075
    seed_text: float = 0.5
    floor: float = 0.2
    reach: int = Field(default=2, ge=0, le=10)
    near: int = Field(default=100, ge=1, le=1000)
    near_dates: int = Field(default=20, ge=1, le=1000)
    near_facts: int = Field(default=50, ge=1, le=1000)
    seeds: int = Field(default=5, ge=0, le=20)
    near_seed: int = Field(default=40, ge=1, le=1000)
