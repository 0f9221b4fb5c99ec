"""What is kept beside a message or fact for recall: the words said around it, the names in it, whether it tells a time,
and what the text index would not find in the text itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from remembrancer.records import Message
from remembrancer.records.recall_words import grams_of, hidden_words, worded, words_in

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
    """The words of the messages around one (`worded`); the message itself is not in it, and empty: it stands alone."""
    around = (messages[place] for place in places_around(position, len(messages)))
    return "".join(worded(message.content) for message in around if message.content)


def places_around(position: int, count: int) -> list[int]:
    """The places of the messages whose words are the context of the one at a place, of so many in an episode."""
    first, last = max(0, position - CONTEXT_REACH), min(count - 1, position + CONTEXT_REACH)
    return [place for place in range(first, last + 1) if place != position]


def names_in(text: str) -> tuple[str, ...]:
    """Words of the names in a text, folded, each once, in order; `O'Brien` is `o brien`.

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
            names.setdefault(" ".join(words_in(match[0])))
    return tuple(names)


def mentions_time(text: str) -> bool:
    """Whether the words of a text tell a time: a number, a month, a day relative to another (English)."""
    return _TIME.search(text) is not None


def tokens_of(text: str) -> str:
    """What the text index is given beside a text: pairs of characters, and words that it would cut otherwise."""
    return f"{grams_of(text)} {hidden_words(text)}".strip()


def name_words(name: str) -> list[str]:
    """The words of a speaker's name, folded, by which a question names who spoke."""
    return words_in(name)
