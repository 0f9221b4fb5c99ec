"""The ranking of recall, as a pure function: the reference for stores that rank themselves.

A linear score over a few numbers per candidate. The hierarchy enters as a soft prior (an episode with several near
messages lifts each of them), never as a gate, since what a gate shuts out nothing brings back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembrancer.ports.recall import Candidate, Candidates, DateWindow, Evidence, Findings, RecallQuestion, Term
from remembrancer.ports.weights import RecallWeights
from remembrancer.records.recall_copies import name_words
from remembrancer.records.recall_words import worded


@dataclass(frozen=True)
class _Scale:
    """What all candidates of a question share."""

    best_text: float
    best_fact_text: float
    floor: float
    rarity: dict[str, float]
    named: frozenset[str]
    lowest: float


def rank(candidates: Candidates, question: RecallQuestion) -> Findings:
    """Score the candidates and keep the best, by score descending, then id."""
    listed = candidates.listed
    named = frozenset(candidates.speakers)
    needles = [term.needle for term in searched(question.terms, named) if term.needle]
    held = [_held(candidate.evidence, needles) for candidate in listed]
    scale = _scale(candidates, held, needles, question.weights, named)
    episodes: dict[str, list[int]] = {}
    for place, candidate in enumerate(listed):
        episodes.setdefault(candidate.evidence.episode_id or candidate.evidence.id, []).append(place)
    scored: list[Evidence] = []
    for members in episodes.values():
        prior = _prior([listed[place] for place in members], scale, question.weights)
        for place in members:
            near = [
                other
                for other in members
                if abs(listed[other].evidence.position - listed[place].evidence.position) <= question.weights.reach
            ]
            covered = frozenset().union(*(held[other] for other in near))
            beside = max([0.0, *(listed[other].similarity for other in near if _is_beside(listed, place, other))])
            parts = _parts(listed[place], prior, beside, covered, scale, question)
            scored.append(replace(listed[place].evidence, score=sum(parts), parts=parts))
    scored.sort(key=lambda evidence: (-evidence.score, evidence.id))
    return Findings(
        tuple(scored[: question.limit]),
        candidates=len(listed),
        superseded=candidates.superseded,
        at_other_times=candidates.at_other_times,
        speakers=candidates.speakers,
        is_filled=candidates.is_filled,
    )


def searched(terms: Sequence[Term], named: frozenset[str]) -> list[Term]:
    """The terms that are searched for: all but names of speakers, unless there is nothing else."""
    return [term for term in terms if term.word not in named] or list(terms)


def _held(evidence: Evidence, needles: Sequence[str]) -> frozenset[str]:
    text = worded(evidence.content)
    return frozenset(needle for needle in needles if needle in text)


def _scale(
    candidates: Candidates,
    held: Sequence[frozenset[str]],
    needles: Sequence[str],
    weights: RecallWeights,
    named: frozenset[str],
) -> _Scale:
    listed = candidates.listed
    near = [candidate.similarity for candidate in listed if candidate.was_near]
    return _Scale(
        best_text=max((candidate.text_rank for candidate in listed), default=0.0) or 1.0,
        best_fact_text=max((candidate.fact_rank for candidate in listed), default=0.0) or 1.0,
        floor=min([weights.floor, *near]),
        rarity={
            needle: math.log(1 + len(listed) / (1.0 + sum(needle in words for words in held))) for needle in needles
        },
        named=named,
        lowest=candidates.lowest or 0.0,
    )


def _prior(members: Sequence[Candidate], scale: _Scale, weights: RecallWeights) -> float:
    best = sorted((candidate.similarity for candidate in members if candidate.was_near), reverse=True)[:3]
    mean = (sum(best) + (3 - len(best)) * scale.floor) / 3
    text = max(candidate.text_rank for candidate in members) / scale.best_text
    return weights.episode * mean + weights.episode_text * text


def _is_beside(listed: Sequence[Candidate], place: int, other: int) -> bool:
    return abs(listed[other].evidence.position - listed[place].evidence.position) == 1


def _parts(
    candidate: Candidate,
    prior: float,
    beside: float,
    covered: frozenset[str],
    scale: _Scale,
    question: RecallQuestion,
) -> tuple[float, ...]:
    weights, evidence = question.weights, candidate.evidence
    total = sum(scale.rarity.values()) + 1e-9
    coverage = sum(weight for needle, weight in scale.rarity.items() if needle in covered) / total
    facts = weights.fact * candidate.fact_similarity + weights.fact_text * candidate.fact_rank / scale.best_fact_text
    return (
        weights.similarity * candidate.similarity,
        weights.text * candidate.text_rank / scale.best_text,
        prior,
        weights.neighbour * beside,
        (weights.coverage_alone if candidate.is_alone else weights.coverage) * coverage,
        weights.date * _date(evidence.at.date().isoformat(), question.windows),
        weights.time if question.asks_when and candidate.mentions_time else 0.0,
        _speaker(evidence.speaker, scale.named, weights),
        -weights.question if evidence.content.endswith("?") else 0.0,
        facts,
        weights.hop * _hop(candidate, scale, weights),
    )


def _hop(candidate: Candidate, scale: _Scale, weights: RecallWeights) -> float:
    if candidate.link is None:
        return 0.0
    return max(0.0, candidate.similarity + candidate.link - (1 + weights.hop_similarity / 2) * scale.lowest)


def _date(day: str, windows: Sequence[DateWindow]) -> float:
    return max((window.weight for window in windows if window.first <= day <= window.last), default=0.0)


def _speaker(speaker: str | None, named: frozenset[str], weights: RecallWeights) -> float:
    if not named:
        return 0.0
    words = name_words(speaker or "")
    return weights.speaker if named.intersection(words) else -weights.other_speaker
