"""JSON that others wrote: one value with one meaning, nested no deeper than everything here can walk.

Python keeps the last of a key that is given twice and says nothing; here it is an error, since what the first one held
would be lost. And a document that is just about read can be too deep for what is done with it next.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from typing import Any

MAX_DEPTH = 100
"""How many lists and objects may lie in one another."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is no JSON, a key is given twice, or it is nested deeper than `MAX_DEPTH`.
    """
    try:
        value = json.loads(text, object_pairs_hook=unique)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:
        if "set_int_max_str_digits" not in str(error):  # what Python advises there is for programmers
            raise
        raise ValueError(f"a number of more than {sys.get_int_max_str_digits()} digits") from error
    # Counting brackets is quick, and few texts have so many that they must be looked at.
    opened = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if opened > MAX_DEPTH:
        check_depth(value)
    return value


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object that these pairs make; an `object_pairs_hook`.

    Raises:
        ValueError: A key is there twice.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!r} is given twice")
    return found


def check_depth(value: object, *, most: int = MAX_DEPTH) -> None:
    """Pass a value of JSON that is not nested too deeply.

    Raises:
        ValueError: More than `most` lists and objects lie in one another.
    """
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(most):
        if not level:
            return
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, list | dict)
        ]
    if level:
        raise ValueError(f"nested deeper than {most} levels")


def encodable(text: str) -> str:
    """A JSON text with lone surrogates, which have no UTF-8, as escapes: they can only stand inside its strings."""
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
