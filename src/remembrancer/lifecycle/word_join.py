"""Pairs of word sets that overlap, found without comparing every pair.

Shared words are counted against the smaller set. A set of `s` words that must share `k` of them with a larger one
shares at least one of any `s - k + 1` of them, so it is enough to look up its rarest that many words among the words of
the larger sets (prefix filtering: Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007, here with the whole
larger set indexed, since the bound depends on the smaller one alone). A word that all sets have, such as the name of
the entity that they are about, is among the rarest of a set only where it decides. The answer is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence


def overlapping_pairs(
    sets: Sequence[Collection[str]], *, above: float, sides: Sequence[bool] | None = None
) -> Iterator[tuple[int, int]]:
    """Places of the pairs whose overlap coefficient is greater than `above`; each once, the smaller place first.

    Args:
        sets: Words, each once in a set; empty sets overlap with nothing.
        above: 0 or more, less than 1 to find anything; not included.
        sides: With a value a set: only pairs of which one is true and the other false.
    """
    counts = Counter(word for words in sets for word in words)
    rank = {word: place for place, word in enumerate(sorted(counts, key=lambda word: (counts[word], word)))}
    # Not sets: of ten words each, they would take six times as much memory.
    ranked = [tuple(sorted(rank[word] for word in words)) for words in sets]
    holders: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
    # From the largest to the smallest, so that what a set meets among the holders is at least as large as itself.
    for place in sorted(range(len(sets)), key=lambda at: -len(ranked[at])):
        words = ranked[place]
        side = bool(sides[place]) if sides is not None else False
        least = _least_shared(len(words), above)
        others = holders[not side] if sides is not None else holders[0]
        met = {other for word in words[: len(words) - least + 1] for other in others.get(word, ())}
        own = frozenset(words)
        for other in met:
            if len(own.intersection(ranked[other])) >= least:
                yield (place, other) if place < other else (other, place)
        for word in words:
            holders[side].setdefault(word, []).append(place)


def _least_shared(size: int, above: float) -> int:
    """The smallest number of shared words whose part of `size` is greater than `above`."""
    least = int(above * size)
    while least <= size and (least == 0 or least / size <= above):
        least += 1
    return least
