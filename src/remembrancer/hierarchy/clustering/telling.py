"""The most telling words of some texts: those that many of them have and few others do.

A word's weight is the share of the texts that have it times the logarithm of how rare it is in the background, as in
c-TF-IDF (Grootendorst, "BERTopic: neural topic modeling with a class-based TF-IDF procedure", 2022), counted by text
and not by word, so that one text that repeats itself does not name a theme.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from remembrancer.records.recall_words import UNSPACED

_WORD = re.compile(r"[^\W\d_][\w'’-]*[\w]")
_SHORTEST = 3
_FUNCTION_WORDS = frozenset(
    """
    about after again all also although always and any are aren't around ask asked back because been before being
    both but came can cannot come could did didn't does doesn't doing don't done down each even ever every few for
    from gave get give going gone good got had has hasn't have having her here hers him his how i'd i'll i'm i've
    into isn't it's its just know let like little look made make makes many may maybe might more most much must need
    needs never next not nothing now off often okay once one only other our out over own please put really right
    said same saw say says see she should since some something still such sure take tell than thank thanks that
    that's the their them then there these they thing things think this those though through today told tomorrow too
    took two under until upon use used very want wants was wasn't way week well went were what when where whether
    which while who whom whose why will with within without won't would wouldn't year yes yesterday yet you you're
    your yours
    """.split()  # noqa: SIM905  # as a list of literals, one a line, nobody would read it
)


def words_of(text: str) -> dict[str, str]:
    """The words of a text that may name it, case-folded, each with the form in which it stands there first."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(UNSPACED.sub(" ", text)):
        word = match[0].removesuffix("'s").removesuffix("’s")
        key = word.casefold()
        if len(word) >= _SHORTEST and key.replace("’", "'") not in _FUNCTION_WORDS:
            found.setdefault(key, word)
    return found


class Background:
    """Texts against whose words others are telling."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = 0
        self._having: Counter[str] = Counter()
        for text in texts:
            self._texts += 1
            self._having.update(words_of(text).keys())

    def rarity(self, word: str) -> float:
        """How rare a case-folded word is, more than 0."""
        return math.log(1 + (1 + self._texts) / (1 + self._having[word]))


def telling_words(texts: Sequence[str], *, background: Background, most: int = 3) -> list[str]:
    """Words that tell what some texts are about, most telling first; none where no two texts share one.

    Args:
        texts: What is to be named.
        background: What else there is; may hold the texts too.
        most: The most words, 1 or more.
    """
    forms: dict[str, Counter[str]] = {}
    for text in texts:
        for key, form in words_of(text).items():
            forms.setdefault(key, Counter())[form] += 1
    shared = {key: found for key, found in forms.items() if found.total() >= min(2, len(texts))}

    def weight(key: str) -> float:
        return forms[key].total() / len(texts) * background.rarity(key)

    best = sorted(shared, key=lambda key: (-weight(key), -len(key), key))[:most]
    return [forms[key].most_common(1)[0][0] for key in best]
