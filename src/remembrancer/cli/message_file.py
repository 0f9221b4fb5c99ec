"""Files of messages: JSON Lines, which is read as a stream, or one JSON document, which is read whole."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TextIO

import typer

from remembrancer.hierarchy.ingestion import as_message
from remembrancer.records import InvalidInputError, Message

STDIN = "-"


class FileFormat(StrEnum):
    """What `--format` takes."""

    AUTO = "auto"
    JSONL = "jsonl"
    JSON = "json"


_BY_ENDING = {".jsonl": FileFormat.JSONL, ".ndjson": FileFormat.JSONL, ".json": FileFormat.JSON}

Messages = list[Mapping[str, object]] | Iterator[Message]
"""A list, to be checked whole before anything is written; or a stream."""


@contextmanager
def messages_in(name: str, *, file_format: FileFormat = FileFormat.AUTO) -> Iterator[Messages]:
    """The messages of a file.

    Args:
        name: Its path, or `-` for stdin.
        file_format: How it is written. `auto` goes by the ending, and where that tells nothing by the first line.

    Raises:
        InvalidInputError: The file cannot be read, or is not what it should be; for JSON Lines while it is read, naming
            the line.
    """
    with _opened(name) as file:
        lines = _lines(file, name)
        chosen = _BY_ENDING.get(Path(name).suffix.lower(), file_format) if file_format == "auto" else file_format
        if chosen is FileFormat.AUTO:
            beginning = _beginning(lines)
            chosen = FileFormat.JSONL if _is_a_message(beginning) else FileFormat.JSON
            lines = itertools.chain(beginning, lines)
        yield _streamed(lines) if chosen is FileFormat.JSONL else _listed("".join(lines), name)


@contextmanager
def _opened(name: str) -> Iterator[TextIO]:
    if name == STDIN:
        reader = io.TextIOWrapper(typer.get_binary_stream("stdin"), encoding="utf-8-sig", newline="\n")
        try:
            yield reader
        finally:
            reader.detach()
        return
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(Path(name).open(encoding="utf-8-sig", newline="\n"))
        except OSError as error:
            raise InvalidInputError("FILE", f"{name} cannot be read: {error.strerror or error}") from error
        yield opened


def _lines(file: TextIO, name: str) -> Iterator[str]:
    try:
        for line in file:  # noqa: UP028  # delegating would close the file with the generator
            yield line
    except UnicodeDecodeError as error:
        raise InvalidInputError("FILE", f"{name} is not UTF-8: {error}") from error
    except OSError as error:
        raise InvalidInputError("FILE", f"{name} cannot be read: {error.strerror or error}") from error


def _beginning(lines: Iterator[str]) -> list[str]:
    """The lines up to the first that is not blank."""
    taken = []
    for line in lines:
        taken.append(line)
        if line.strip():
            break
    return taken


def _parsed(text: str, *, field: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(field, f"not JSON: {error}") from error


def _is_a_message(lines: Iterable[str]) -> bool:
    try:
        first = json.loads("".join(lines))
    except (ValueError, RecursionError):
        return False
    return isinstance(first, Mapping) and "messages" not in first


def _streamed(lines: Iterable[str]) -> Iterator[Message]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield as_message(_parsed(line, field=f"line {number}"), field=f"line {number}")


def _listed(text: str, name: str) -> list[Mapping[str, object]]:
    document = _parsed(text, field=name)
    found = document.get("messages") if isinstance(document, Mapping) else document
    if not isinstance(found, list):
        raise InvalidInputError(name, "expected a list of messages, or an object with such a list as `messages`")
    return found
