"""The words of a piece of HTML, in a time that grows with its length alone.

Python's `HTMLParser` looks for the end of every tag and comment anew, up to the end of the text: what opens many that
are never closed takes it hours, and of some others it makes an AssertionError. Here what is looked for in vain is
looked for once, and then taken for text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

_BLOCKS: Final = frozenset(
    "address article blockquote br dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre table tr ul".split()  # noqa: SIM905 - tags
)
_CELLS: Final = frozenset({"td", "th"})
# Nothing in it gives characters back, so a tag that is not closed is read once. A ">" in quotes ends no tag; a quote
# that is not closed is none.
_TAG: Final = re.compile(
    r"""<(?P<is_end>/?+)(?P<name>[A-Za-z][^\s/>]*+)(?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')|["'=])*+>"""
)
_BEGINNING: Final = re.compile("</?[A-Za-z]")
_UNSEEN: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}
_BEYOND: Final = re.compile(r"&#[0-9]{20,};?")  # of more digits than Python makes an integer of, or any character has


def plain_text(html: str) -> str:
    """The words of a piece of HTML, its blocks on lines of their own."""
    lines = (" ".join(line.split()) for line in "".join(_pieces(html)).splitlines())
    return "\n".join(line for line in lines if line)


def _pieces(html: str) -> Iterator[str]:
    at, last_comment_ends = 0, html.rfind("-->")
    while (begin := html.find("<", at)) >= 0:
        yield _words(html[at:begin])
        at = begin
        is_comment = html.startswith("<!--", begin)
        if is_comment and last_comment_ends >= begin + 2:
            at = html.index("-->", begin + 2) + 3
        elif _BEGINNING.match(html, begin):
            tag = _TAG.match(html, begin)
            if tag is None:
                break
            yield _space_of(tag)
            at = _end_of(tag, html)
        elif html.startswith(("!", "?", "/"), begin + 1) and not is_comment:  # what browsers take for a comment
            end = html.find(">", begin)
            if end < 0:
                break
            at = end + 1
        else:
            yield "<"
            at = begin + 1
    yield _words(html[at:])


def _space_of(tag: re.Match[str]) -> str:
    name = tag["name"].lower()
    if name in _BLOCKS:
        return "\n"
    return " " if name in _CELLS and not tag["is_end"] else ""


def _end_of(tag: re.Match[str], html: str) -> int:
    """Where what follows a tag begins; a script or a style is part of its tag."""
    closing = _UNSEEN.get(tag["name"].lower())
    if closing is None or tag["is_end"] or tag[0].endswith("/>"):
        return tag.end()
    found = closing.search(html, tag.end())
    return len(html) if found is None else found.start()


def _words(text: str) -> str:
    return unescape(_BEYOND.sub("\N{REPLACEMENT CHARACTER}", text)) if "&" in text else text
