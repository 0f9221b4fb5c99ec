"""Scores of runs, and what follows from them: worked out here, in one way, for every ledger.

Sums go in the order of recording, one addition after the other, and a variance is that of the scores around their own
mean. A database could hand out sums instead, and every leave-one-out baseline would follow from two of them; but a
difference of large sums is not zero where all scores are equal, and the gate takes a verdict from whether a variance is
zero. So a ledger hands out the scores themselves, eight bytes a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from remembrancer.records.key import without_repeats

_CELLS = 2_000_000  # of a table of runs by facts that is worked on at once


@dataclass(frozen=True)
class FactStats:
    """Scores of the runs that a fact was in; a fact repeated within a run counts once.

    Attributes:
        variance: Sample variance; `None` for fewer than two trials.
    """

    fact_id: str
    trials: int
    mean_score: float
    variance: float | None = None

    @classmethod
    def of(cls, fact_id: str, scores: Sequence[float]) -> FactStats:
        """The statistics of at least one score."""
        mean, variance = _moments(scores)
        return cls(fact_id, len(scores), mean, variance)


@dataclass(frozen=True)
class Baseline:
    """Scores of all runs, or of those without one fact; `mean_score` is 0 when there are none.

    Attributes:
        variance: Sample variance; `None` for fewer than two runs.
    """

    runs: int
    mean_score: float
    variance: float | None = None

    @classmethod
    def of(cls, scores: Sequence[float]) -> Baseline:
        """The baseline of some scores."""
        if not scores:
            return cls(0, 0.0)
        mean, variance = _moments(scores)
        return cls(len(scores), mean, variance)


@dataclass(frozen=True)
class RunScores:
    """The scores of all runs in the order of recording, and where some facts were.

    Attributes:
        scores: One a run.
        injected: The places in `scores` of the runs that a fact was in, ascending, by fact id; no entry: in none.
        drawn: The places of the runs from which chance could have withheld a fact, with the probability of that, by
            fact id. Where the fact was not injected in such a run, it was withheld.
    """

    scores: tuple[float, ...]
    injected: Mapping[str, tuple[int, ...]]
    drawn: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def stats(self, fact_id: str) -> FactStats | None:
        """Statistics of one of the facts; `None` when it was in no run."""
        places = self.injected.get(fact_id)
        return FactStats.of(fact_id, [self.scores[place] for place in places]) if places else None

    def baseline(self) -> Baseline:
        """All runs."""
        return Baseline.of(self.scores)

    def baselines(self, fact_ids: Iterable[str]) -> dict[str, Baseline]:
        """For each of these facts the runs without it; repeats collapse."""
        wanted = without_repeats(tuple(fact_ids))
        found: dict[str, Baseline] = {}
        missing = [fact_id for fact_id in wanted if not self.injected.get(fact_id)]
        if missing:
            found = dict.fromkeys(missing, self.baseline())
        others = [fact_id for fact_id in wanted if fact_id not in found]
        step = max(1, _CELLS // max(1, len(self.scores)))
        for first in range(0, len(others), step):
            found |= self._without(others[first : first + step])
        return {fact_id: found[fact_id] for fact_id in wanted}

    def _without(self, fact_ids: Sequence[str]) -> dict[str, Baseline]:
        import numpy as np  # here, since importing the library must not load it

        # A running total adds one number after the other; numpy's own sums would pair them up. Adding 0 changes none.
        scores = np.array(self.scores)[:, np.newaxis]
        present = np.ones((len(self.scores), len(fact_ids)), dtype=bool)
        for column, fact_id in enumerate(fact_ids):
            present[list(self.injected[fact_id]), column] = False
        runs = present.sum(axis=0)
        means = np.add.accumulate(np.where(present, scores, 0.0), axis=0)[-1] / np.maximum(runs, 1)
        squares = np.add.accumulate(np.where(present, np.square(scores - means), 0.0), axis=0)[-1]
        variances = squares / np.maximum(runs - 1, 1)
        return {
            fact_id: Baseline(int(n), float(mean), float(variance) if n > 1 else None)
            for fact_id, n, mean, variance in zip(fact_ids, runs, means, variances, strict=True)
        }

    def held_out(self, fact_id: str) -> tuple[FactStats | None, Baseline]:
        """The runs from which chance could have withheld a fact: those in which it was injected, and the others.

        Each run weighs the inverse of how probable its side was for the fact. Means are weighted means (Hajek 1971);
        a variance is made so that, divided by the number of runs, it is the squared standard error of its mean, that is
        `n / (n - 1) * sum((w * (x - mean)) ** 2) * n / sum(w) ** 2`; with equal weights it is the sample variance.
        """
        drawn, injected = self.drawn.get(fact_id, {}), set(self.injected.get(fact_id, ()))
        served = [(self.scores[place], 1 / (1 - chance)) for place, chance in drawn.items() if place in injected]
        withheld = [(self.scores[place], 1 / chance) for place, chance in drawn.items() if place not in injected]
        stats = FactStats(fact_id, len(served), *_weighted_moments(served)) if served else None
        return stats, Baseline(len(withheld), *_weighted_moments(withheld)) if withheld else Baseline(0, 0.0)


def _moments(scores: Sequence[float]) -> tuple[float, float | None]:
    # Plain additions: from Python 3.12 on `sum` would compensate their rounding, and differ from 3.11.
    total = squares = 0.0
    for score in scores:
        total += score
    mean = total / len(scores)
    for score in scores:
        squares += (score - mean) * (score - mean)
    return mean, squares / (len(scores) - 1) if len(scores) > 1 else None


def _weighted_moments(weighted: Sequence[tuple[float, float]]) -> tuple[float, float | None]:
    n = len(weighted)
    if len({weight for _, weight in weighted}) == 1:
        return _moments([score for score, _ in weighted])
    total = scored = squares = 0.0
    for score, weight in weighted:
        total += weight
        scored += weight * score
    mean = scored / total
    for score, weight in weighted:
        squares += (weight * (score - mean)) ** 2
    return mean, n / (n - 1) * n * squares / total**2
