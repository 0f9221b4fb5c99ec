"""JSON as language models speak it: behind thoughts, between fences, in prose, with a comma too many.

Only what has one meaning is mended. Numbers that JSON does not know, and a key given twice, are refused: the model is
better asked again than guessed at.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from remembrancer.records.json_text import check_depth, unique

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"\A.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[^\S\n]*+\w*+[^\S\n]*+\n?+(.*?)```", re.DOTALL)
_FENCE_LEFT_OPEN = re.compile(r"\A\s*```\w*\s*(.*)\Z", re.DOTALL)
# A string that is never closed is one token, too: looked for again at each of its quotes it would take hours.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|,(?=\s*[\]}])', re.DOTALL)
_STARTS = re.compile(r"[\[{]")
_STARTS_TRIED = 20
_LITERAL_LIMIT = 200_000  # characters that Python's own parser is asked to read


def without_thoughts(text: str) -> str:
    """The answer without what the model thought aloud before it; a block that is never closed is all thought."""
    if not _OPEN_THOUGHT.search(text):
        # Some chat templates open the block themselves, and only its end is in the answer.
        return _END_OF_THOUGHT.sub("", text, count=1).strip()
    return _THOUGHT.sub("", text).strip()


def read_json(text: str) -> Any:
    """The JSON value in an answer.

    Raises:
        ValueError: There is none, or none with one meaning; says why.
    """
    whole = text.strip().lstrip("\ufeff")
    if _STARTS.match(whole):  # a tag inside its strings is no thought
        try:
            return _parsed(whole)
        except _AmbiguousError:
            raise
        except ValueError:
            pass
    answer = without_thoughts(whole)
    if not answer:
        raise ValueError("it is empty")
    first_problem: ValueError | None = None
    for candidate in _candidates(answer):
        try:
            return _parsed(candidate)
        except ValueError as error:
            first_problem = first_problem or error
    embedded = list(_embedded(answer))
    if embedded:
        return max(embedded, key=lambda found: found[0])[1]
    raise ValueError(f"it is not JSON: {first_problem}")


def _candidates(answer: str) -> Iterator[str]:
    yield answer
    for fenced in _FENCED.finditer(answer):
        yield fenced[1].strip()
    left_open = _FENCE_LEFT_OPEN.match(answer)
    if left_open:
        yield left_open[1].strip()


def _parsed(text: str) -> Any:
    try:
        return _strict(text)
    except ValueError as error:
        if isinstance(error, _AmbiguousError):
            raise
        problem = error
    mended = _TOKEN.sub(lambda token: "" if token[0] == "," else token[0], text)
    if mended != text:
        try:
            return _strict(mended)
        except ValueError:
            pass
    if text[:1] in "[{" and len(text) <= _LITERAL_LIMIT:
        try:
            return _strict(json.dumps(_literal(text), allow_nan=False))
        except _AmbiguousError:
            raise
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    raise problem


def _literal(text: str) -> Any:
    """The value that Python reads; it would keep the last of a key that is given twice, as JSON does."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _unique([(str(key.value), None) for key in node.keys if isinstance(key, ast.Constant)])
    return ast.literal_eval(tree)


def _embedded(answer: str) -> Iterator[tuple[int, Any]]:
    """JSON objects and lists inside prose, with their lengths."""
    decoder = _decoder()
    position = 0
    for _ in range(_STARTS_TRIED):
        start = _STARTS.search(answer, position)
        if start is None:
            return
        try:
            value, end = decoder.raw_decode(answer, start.start())
            check_depth(value)
        except _AmbiguousError:
            raise
        except (ValueError, RecursionError):
            position = start.end()
            continue
        yield end - start.start(), value
        position = end


class _AmbiguousError(ValueError):
    """It can be parsed, and means nothing certain."""


def _strict(text: str) -> Any:
    try:
        value = _decoder().decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    check_depth(value)
    return value


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def _refuse_constant(name: str) -> Any:
    raise _AmbiguousError(f"{name} is no number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    try:
        return unique(pairs)
    except ValueError as error:
        raise _AmbiguousError(str(error)) from error
