"""The words of texts and questions, cut and folded in one way, so that what is asked as it was said is found.

Words are runs of letters and digits with the marks that belong to them; all else parts them. Letters are folded by
NFKC and Unicode's case folding, and characters that are not seen are no part of a word. Scripts without blanks between
words (Chinese, Japanese, Thai and others) stay runs, which are searched by pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

NOT_INDEXED = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with
    """.split()  # noqa: SIM905 - easier to compare with its source
)
"""Words that the index leaves out: those of Lucene's English analyzer."""

LONGEST = 200
"""Characters of one word; longer ones are cut into several, not dropped."""

# Marks that belong to the letter before them: accents, points, the vowel signs of Indic scripts.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
_ASCII_WORD = re.compile("[a-z0-9]+")
_POSSESSIVE = re.compile(r"['’]s\b")
# Soft hyphens, joiners, marks of direction, byte order marks, variants of glyphs.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]"
)
# What the text index's tokenizer (UAX #29) takes for a part of a word that stands beside it.
_JOINED = re.compile(rf"[_\u202f\u203f\u2040\u2054\ufe33\ufe34\ufe4d-\ufe4f\uff3f]|{_UNSEEN.pattern}")
# One word of ASCII between blanks, with any signs around it: nearly all that is said, and found by any index.
_PLAIN = re.compile(rf"[!-/:-@\[-^`{{-~]*[A-Za-z0-9]{{1,{LONGEST}}}[!-/:-@\[-^`{{-~]*")
# What that tokenizer takes for one word, of scripts with blanks.
_TOKEN = re.compile(rf"(?:[\w{_MARKS}]|{_JOINED.pattern}|(?<=[^\W\d_])['’.:·](?=[^\W\d_])|(?<=\d)['’.,;](?=\d))+")

UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]+"
)
"""Runs of Han, Kana, Bopomofo, Hangul, Thai, Lao, Tibetan, Myanmar and Khmer: scripts whose words are not told by
blanks, or take endings without one."""

_PARTS = re.compile(f"({UNSPACED.pattern})")


def words_in(text: str) -> list[str]:
    """The words of a text in order, folded; of English possessives the noun."""
    folded = _POSSESSIVE.sub("", _folded(text))
    found = _ASCII_WORD.findall(folded) if folded.isascii() else _cut(folded)
    return [piece for word in found for piece in _pieces(word)]


def _pieces(word: str) -> Iterator[str]:
    longest = len(word) if UNSPACED.match(word) else LONGEST
    return (word[start : start + longest] for start in range(0, len(word), longest or 1))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold())
    return folded.replace("i\u0307", "i").replace("ı", "i")  # İ and ı: whoever shouts in Turkish means either


def _cut(folded: str) -> Iterator[str]:
    for place, part in enumerate(_PARTS.split(folded)):
        if place % 2:
            yield part
        else:
            yield from _WORD.findall(part)


def worded(text: str) -> str:
    """The words of a text between single blanks, with one before and one after: what words are looked for in."""
    return f" {' '.join(words_in(text))} "


def indexed_words(text: str) -> list[str]:
    """The words under which the text index holds a text: ours, and the letters beside signs that we fold to letters or
    digits and it does not, such as the H and the O of H₂O."""
    words = words_in(text)
    if not text.isascii():
        bare = "".join(" " if _becomes_a_letter(sign) else sign for sign in text)
        for token in (token for part in _PARTS.split(bare)[::2] for token in _TOKEN.findall(part)):
            cut = words_in(token)
            words += cut if _stands_alone(token, cut) else ()
    return words


def _becomes_a_letter(sign: str) -> bool:
    if sign.isascii() or sign.isdecimal() or unicodedata.category(sign)[0] in "LM":
        return False
    return any(map(str.isalnum, unicodedata.normalize("NFKC", sign)))


def gram(characters: str) -> str:
    """The token of one or two characters: letters and digits that every analyzer leaves as they are."""
    return "u" + "".join(f"{ord(character):x}" for character in characters) + "0"


def grams_of(text: str) -> str:
    """Tokens of all characters, and of all pairs of neighbours, in the unspaced runs of a text, each once."""
    tokens: dict[str, None] = {}
    for run in UNSPACED.findall(_folded(text)):
        for place, character in enumerate(run):
            tokens.setdefault(gram(character))
            if place:
                tokens.setdefault(gram(run[place - 1 : place + 1]))
    return " ".join(tokens)


def hidden_words(text: str) -> str:
    """Words of a text that the text index does not find in the text itself, each once.

    Its tokenizer leaves `O'Brien`, `v2.3.1` and `battery_pack` whole, and its filters fold fewer letters than we do.
    """
    hidden: dict[str, None] = {}
    for piece in text.split():
        if _PLAIN.fullmatch(piece):
            continue
        words = words_in(piece)
        if not _stands_alone(piece, words):
            hidden.update(dict.fromkeys(word for word in words if not UNSPACED.match(word)))
    return " ".join(hidden)


def _stands_alone(piece: str, words: list[str]) -> bool:
    """Whether the index finds the one word of a piece between blanks in that piece."""
    return len(words) == 1 and words[0] in piece.lower() and not _JOINED.search(piece)
