"""Sentences: where they end, and what white space is.

A sentence ends at a full stop, an exclamation mark or a question mark with white space or nothing after it, unless
the full stop belongs to an abbreviation. White space is what Unicode calls so, with the byte order mark and without
the control characters U+001C to U+001F and U+0085, so that texts are cut alike in other languages' implementations.
"""

from __future__ import annotations

import re

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Every white space character; also fit to be the inside of a character class."""

_RUN_OF_SPACE = re.compile(f"[{WHITE_SPACE}]+")
_END = re.compile(rf"[.!?](?=[{WHITE_SPACE}]|\Z)")
_END_IN_ANY_SCRIPT = re.compile(rf"[.!?؟۔।॥։።](?=[{WHITE_SPACE}]|\Z)|[。！？｡]+[」』）”’]*")
_ABBREVIATION = re.compile(r"\b(?:dr|mr|mrs|ms|jr|sr|prof|e\.g|i\.e|etc|vs|approx)\.", re.IGNORECASE | re.ASCII)


def split_sentences(text: str, *, all_scripts: bool = False) -> list[str]:
    """Cut a text into its sentences, trimmed, without empty ones; nothing between them but white space is lost.

    A full stop right after Dr, Mr, Mrs, Ms, Jr, Sr, Prof, e.g, i.e, etc, vs or approx, in any case, ends nothing.

    Args:
        text: Any text.
        all_scripts: Also end sentences at the marks of other scripts: 。！？ with or without white space after them,
            closing quotes included, and the Arabic, Devanagari, Armenian and Ethiopic ones.
    """
    within_words = {match.end() - 1 for match in _ABBREVIATION.finditer(text)}
    sentences = []
    begin = 0
    for mark in (_END_IN_ANY_SCRIPT if all_scripts else _END).finditer(text):
        if mark.start() not in within_words:
            sentences.append(trimmed(text[begin : mark.end()]))
            begin = mark.end()
    sentences.append(trimmed(text[begin:]))
    return [sentence for sentence in sentences if sentence]


def trimmed(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(WHITE_SPACE)


def collapsed(text: str) -> str:
    """The text with each run of white space turned into one blank."""
    return _RUN_OF_SPACE.sub(" ", text)


def pieces(text: str) -> list[str]:
    """The text cut at white space; the first piece is empty when the text begins with it."""
    return _RUN_OF_SPACE.split(text)
