"""What is kept beside a message or fact for recall: what was said around it, the names in it, whether it tells a time,
and tokens for scripts that leave no blanks between words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from remembrancer.records import Message

CONTEXT_REACH = 2
"""How many messages before and after a message its context holds."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_PERIOD = (
    "day|night|morning|evening|weekend|week|month|year|spring|summer|autumn|fall|winter"
    "|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_MONTH = "january|february|march|april|june|july|august|september|october|november|december"
_TIME = re.compile(
    rf"\d|\b(?:yesterday|today|tonight|tomorrow|ago|{_MONTH}"
    rf"|(?:last|past|this|next|previous|following) (?:{_PERIOD}))\b",
    re.IGNORECASE,
)
_OPENERS = frozenset('.!?:;\n"“([')


def context_around(messages: Sequence[Message], position: int) -> str:
    """Contents of the messages around one, joined by line breaks; the message itself is not in it."""
    first = max(0, position - CONTEXT_REACH)
    around = [*messages[first:position], *messages[position + 1 : position + 1 + CONTEXT_REACH]]
    return "\n".join(message.content for message in around if message.content)


def names_in(text: str) -> tuple[str, ...]:
    """Lower-cased words of the names in a text, each once, in order.

    A capitalised word counts unless it opens a sentence and no capitalised word follows it.
    """
    words = list(_WORD.finditer(text))
    names: dict[str, None] = {}
    for place, match in enumerate(words):
        if not match[0][0].isupper() or len(match[0]) < 2:
            continue
        before = text[words[place - 1].end() : match.start()] if place else "."
        follower = words[place + 1] if place + 1 < len(words) else None
        in_run = follower is not None and follower[0][0].isupper() and text[match.end() : follower.start()] == " "
        if in_run or not _OPENERS.intersection(before):
            names.setdefault(match[0].lower())
    return tuple(names)


def mentions_time(text: str) -> bool:
    """Whether the words of a text tell a time: a number, a month, a day relative to another (English)."""
    return _TIME.search(text) is not None


UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]+"
)
"""Runs of Han, Kana, Bopomofo, Hangul, Thai, Lao, Tibetan, Myanmar and Khmer: scripts whose words are not told by
blanks, or take endings without one."""


def gram(characters: str) -> str:
    """The token of one or two characters: letters and digits that every analyzer leaves as they are."""
    return "u" + "".join(f"{ord(character):x}" for character in characters) + "0"


def grams_of(text: str) -> str:
    """Tokens of all characters, and of all pairs of neighbours, in the unspaced runs of a text, each once."""
    tokens: dict[str, None] = {}
    for run in UNSPACED.findall(text.lower()):
        for place, character in enumerate(run):
            tokens.setdefault(gram(character))
            if place:
                tokens.setdefault(gram(run[place - 1 : place + 1]))
    return " ".join(tokens)
