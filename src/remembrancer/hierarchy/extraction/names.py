"""Names in a text, found by their shape: capitals, @, quotes, camelCase.

The rules run one after the other over the whole text. A name found again keeps its place and takes the type of the
later rule, so the order of the names is the order of the rules first and of the text second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from remembrancer.hierarchy.extraction.alphabet import ASCII, Alphabet
from remembrancer.records import InvalidInputError
from remembrancer.records.sentences import WHITE_SPACE, pieces

PERSON = "person"
ORGANIZATION = "organization"
CONCEPT = "concept"

_CUES = """
    Corp Inc Ltd LLC Co Group Foundation Institute Association University College School Hospital Center Centre Clinic
    Medical Consortium Lab Labs Council Committee Commission Agency Authority Department Ministry Bureau Journal Press
    Museum Society Union Bank Capital Partners Holdings Ventures Industries Systems Technologies Solutions Services
    Networks Studios Team FC SC AFC United City Grocers Motors Airlines Railway
"""
_DAYS_MONTHS_TITLES = """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    January February March April May June July August September October November December
    Dr Mr Mrs Ms Prof Rev Jr Sr St
"""
_NOT_NAMES = frozenset(_DAYS_MONTHS_TITLES.split())

_POSSESSIVE = re.compile(r"['’]s\Z")
_DOUBLE_QUOTED = re.compile(r'"([^"]+)"')


class NameFinder:
    """Finds names and tells people, organizations and concepts apart."""

    def __init__(self, patterns: Iterable[str | re.Pattern[str]] = (), *, alphabet: Alphabet = ASCII) -> None:
        """Make a finder.

        Args:
            patterns: Further regular expressions; of each match the first group is a concept, without groups the
                whole match.
            alphabet: What counts as a letter.

        Raises:
            InvalidInputError: A pattern is not a regular expression for text; names `entity_patterns` and its place.
        """
        capital, small, word, letter = alphabet.capital, alphabet.small, alphabet.word, alphabet.letter
        first = f"[{capital}][{small}]+"
        self._run = re.compile(alphabet.whole(f"{first}(?:[{WHITE_SPACE}]+(?:{first}|[{capital}]{{2,}}))+"))
        self._capitalised = re.compile(first)
        self._not_letter = re.compile(f"[^{letter}]+")
        self._mention = re.compile(f"@[{word}]+")
        self._single_quoted = re.compile(f"(?<![{letter}])'([^']+)'(?![{letter}])")
        self._camel_case = re.compile(f"(?<![{word}])[{small}]+[{capital}][{word}]*")
        self._acronym = re.compile(alphabet.whole(f"[{capital}]{{2,}}"))
        self._cue = re.compile(alphabet.whole("|".join(_CUES.split())), re.IGNORECASE | re.ASCII)
        self._patterns = _compiled(patterns)

    def find(self, text: str) -> dict[str, str]:
        """The names in a text with their types, in the order in which the rules find them."""
        found: dict[str, str] = {}
        for run in self._run.findall(text):
            found[run] = ORGANIZATION if self._cue.search(run) else PERSON
        self._find_single_words(text, found)
        found |= dict.fromkeys(self._mention.findall(text), PERSON)
        for rule in (_DOUBLE_QUOTED, self._single_quoted, self._camel_case, self._acronym):
            found |= dict.fromkeys(rule.findall(text), CONCEPT)
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                name = (match[1] if pattern.groups else None) or match[0]
                if name:
                    found[name] = CONCEPT
        return found

    def _find_single_words(self, text: str, found: dict[str, str]) -> None:
        known = {word for name in found for word in pieces(name)}
        # The first piece is left out: a capital there only begins the sentence.
        for piece in pieces(text)[1:]:
            word = self._not_letter.sub("", _POSSESSIVE.sub("", piece))
            if word not in known and word not in _NOT_NAMES and self._capitalised.fullmatch(word):
                found[word] = CONCEPT
                known.add(word)


def _compiled(patterns: Iterable[str | re.Pattern[str]]) -> tuple[re.Pattern[str], ...]:
    if isinstance(patterns, str | bytes | re.Pattern) or not isinstance(patterns, Iterable):
        raise InvalidInputError("entity_patterns", f"expected a list of patterns, got {type(patterns).__name__}")
    compiled = []
    for place, pattern in enumerate(patterns):
        field = f"entity_patterns.{place}"
        if not isinstance(pattern, str | re.Pattern):
            raise InvalidInputError(field, f"expected a regular expression, got {type(pattern).__name__}")
        try:
            ready = re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInputError(field, f"not a regular expression: {error}") from error
        if not isinstance(ready.pattern, str):
            raise InvalidInputError(field, "a pattern for bytes cannot be matched with text")
        compiled.append(ready)
    return tuple(compiled)
