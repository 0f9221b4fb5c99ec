"""Relations between the names of one sentence: a known verb between two neighbours, unless the sentence denies it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from remembrancer.hierarchy.extraction.alphabet import ASCII, Alphabet


class Relation(NamedTuple):
    """One name's relation to another, by the base form of the verb."""

    source: str
    verb: str
    target: str


class RelationFinder:
    """Finds relations; names are neighbours when no other name begins between their first places."""

    def __init__(self, forms: Mapping[str, str], *, alphabet: Alphabet = ASCII) -> None:
        """Make a finder.

        Args:
            forms: Base verb by form, in lower case, in order of priority.
            alphabet: What counts as a letter.
        """
        self._forms = [(form, re.compile(alphabet.apart(re.escape(form))), verb) for form, verb in forms.items()]
        self._letter = re.compile(f"[{alphabet.letter}]")
        denials = alphabet.apart("not|no|never|cannot|neither|nor|without")
        self._denial = re.compile(f"{denials}|n[{alphabet.apostrophe}]t(?![{alphabet.letter}])")

    def find(self, sentence: str, names: Iterable[str]) -> list[Relation]:
        """The relations of a sentence, at most one for each pair of neighbours, in the order of the text."""
        placed = sorted(self._placed(sentence, names), key=_begin)
        relations = []
        for (source, begin), (target, end) in pairwise(placed):
            verb = self._verb_in(sentence[begin + len(source) : end].lower())
            if verb is not None:
                relations.append(Relation(source, verb, target))
        return relations

    def _placed(self, sentence: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
        for name in names:
            begin = sentence.find(name)
            while begin >= 0 and self._touches_letter(sentence, begin, begin + len(name)):
                begin = sentence.find(name, begin + 1)
            if begin >= 0:
                yield name, begin

    def _touches_letter(self, sentence: str, begin: int, end: int) -> bool:
        before = begin > 0 and self._letter.match(sentence, begin - 1)
        return bool(before or self._letter.match(sentence, end))

    def _verb_in(self, between: str) -> str | None:
        if not between or self._denial.search(between):
            return None
        return next((verb for form, pattern, verb in self._forms if form in between and pattern.search(between)), None)


def _begin(placed: tuple[str, int]) -> int:
    return placed[1]
