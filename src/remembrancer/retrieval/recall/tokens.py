"""How many tokens a text is taken to have, where the caller brings no counter of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text as the caller's model does."""

_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3100-\u312f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def estimate_tokens(text: str) -> int:
    """1.3 tokens a word and one a character of scripts that leave no blanks between words, rounded up.

    An estimate that no tokenizer is needed for; words longer than 12 characters count by their length.
    """
    unspaced = len(_UNSPACED.findall(text))
    words = sum(max(1.0, len(word) / 12) for word in _UNSPACED.sub(" ", text).split())
    return math.ceil(1.3 * words + unspaced)
