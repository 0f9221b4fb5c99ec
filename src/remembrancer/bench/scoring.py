"""Scores of a retrieval run.

*Recall* is the share of a question's evidence that the items shown so far cite. *Grounded recall* counts a piece of
evidence only once the items that cite it contain, together, at least a fifth of the distinct content words of its
text: a summary that cites fifty turns earns nothing for those that it does not speak of. Both are read off after a
number of items, and at the longest beginning of the items whose tokens fit a budget. The *reciprocal rank* is that of
the first item that cites any evidence. All are means over questions; a question without an answer in the run scores 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from remembrancer.bench.data import Question, RetrievalSet
from remembrancer.bench.outcome import DEPTH, Item, Run
from remembrancer.bench.text import content_words, count_tokens

RANKS = (5, 10, 20, 50)
BUDGETS = (250, 500, 1000, 2000)

GROUNDED_FROM = 0.2
"""The share of a source's content words from which on it counts as carried."""

ALL = "all"
ANSWERABLE = "answerable"
ADVERSARIAL = "adversarial"
"""Questions of this category have no answer, though they have evidence; `answerable` are the others."""


@dataclass(frozen=True)
class Scores:
    """Means over some questions; shares are 0 to 1.

    Attributes:
        questions: How many.
        recall: By number of items.
        grounded: Grounded recall, by number of items.
        tokens: Of that many items.
        within: Grounded recall within a budget of tokens, by the budget.
        mrr: Mean reciprocal rank.
    """

    questions: int
    recall: Mapping[int, float]
    grounded: Mapping[int, float]
    tokens: Mapping[int, float]
    within: Mapping[int, float]
    mrr: float


@dataclass(frozen=True)
class _Curve:
    """One question: what has been found after 0, 1, 2, … items."""

    recall: Sequence[float]
    grounded: Sequence[float]
    tokens: Sequence[int]

    def after(self, items: int) -> int:
        return min(items, len(self.tokens) - 1)

    def fitting(self, budget: int) -> int:
        return bisect_right(self.tokens, budget) - 1

    @property
    def reciprocal_rank(self) -> float:
        first = next((rank for rank, found in enumerate(self.recall) if found > 0), None)
        return 0.0 if first is None else 1 / first


def score_run(data: RetrievalSet, run: Run) -> dict[str, Scores]:
    """The scores of a run: of all questions, then of each group of them."""
    words = {source.id: content_words(source.content) for source in data.sources}
    curves = {question.id: _curve(question, run.get(question.id, ()), words) for question in data.questions}
    return {
        group: _means([curves[question.id] for question in questions])
        for group, questions in _grouped(data.questions).items()
    }


def _grouped(questions: Iterable[Question]) -> dict[str, list[Question]]:
    groups: dict[str, list[Question]] = {ALL: list(questions)}
    if any(ADVERSARIAL in question.groups for question in groups[ALL]):
        groups[ANSWERABLE] = [question for question in groups[ALL] if ADVERSARIAL not in question.groups]
    named = dict.fromkeys(group for question in groups[ALL] for group in question.groups)
    for group in sorted(named):
        groups[group] = [question for question in groups[ALL] if group in question.groups]
    return {group: members for group, members in groups.items() if members}


def _curve(question: Question, items: Sequence[Item], words: Mapping[str, frozenset[str]]) -> _Curve:
    gold = question.evidence
    carried: dict[str, set[str]] = {one: set() for one in gold}
    found: set[str] = set()
    grounded: set[str] = set()
    recall, grounding, tokens = [0.0], [0.0], [0]
    for item in items[:DEPTH]:
        for one in gold.intersection(item.source_ids):
            found.add(one)
            carried[one] |= words[one] & content_words(item.text)
            if len(carried[one]) >= GROUNDED_FROM * len(words[one]):
                grounded.add(one)
        recall.append(len(found) / len(gold))
        grounding.append(len(grounded) / len(gold))
        tokens.append(tokens[-1] + count_tokens(item.text))
    return _Curve(recall, grounding, tokens)


def _means(curves: Sequence[_Curve]) -> Scores:
    return Scores(
        questions=len(curves),
        recall={rank: fmean(curve.recall[curve.after(rank)] for curve in curves) for rank in RANKS},
        grounded={rank: fmean(curve.grounded[curve.after(rank)] for curve in curves) for rank in RANKS},
        tokens={rank: fmean(curve.tokens[curve.after(rank)] for curve in curves) for rank in RANKS},
        within={budget: fmean(curve.grounded[curve.fitting(budget)] for curve in curves) for budget in BUDGETS},
        mrr=fmean(curve.reciprocal_rank for curve in curves),
    )
