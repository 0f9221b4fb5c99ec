"""Which characters are capitals, small letters and parts of words, when names are looked for.

The default is ASCII, since that is what the rules were written and measured with. `every_script` knows the capitals
and small letters of all scripts that have them, so that "José" and "Élodie" are names like any other.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Alphabet:
    """Insides of character classes.

    Attributes:
        capital: Capital letters.
        small: Small letters.
        apostrophe: What stands for the o of a "not" that is run together with its verb.
    """

    capital: str
    small: str
    apostrophe: str

    @property
    def letter(self) -> str:
        """Letters of either case."""
        return self.capital + self.small

    @property
    def word(self) -> str:
        """What words are made of: letters, digits and the underscore."""
        return self.letter + "0-9_"

    def whole(self, pattern: str) -> str:
        """The pattern where no word reaches over its ends."""
        return f"(?<![{self.word}])(?:{pattern})(?![{self.word}])"

    def apart(self, pattern: str) -> str:
        """The pattern where no letter touches its ends."""
        return f"(?<![{self.letter}])(?:{pattern})(?![{self.letter}])"


ASCII = Alphabet(capital="A-Z", small="a-z", apostrophe="'")


@functools.cache
def every_script() -> Alphabet:
    """The cased letters of Unicode; marks that combine with a letter count as small letters. Made once, in 0.2 s."""
    capitals, smalls = [], []
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category in {"Lu", "Lt"}:
            capitals.append(code)
        elif category == "Ll" or 0x0300 <= code <= 0x036F:
            smalls.append(code)
    return Alphabet(capital=_ranges(capitals), small=_ranges(smalls), apostrophe="'’")


def _ranges(codes: Iterable[int]) -> str:
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in spans)
