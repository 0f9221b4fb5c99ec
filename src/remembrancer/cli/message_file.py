"""Files of messages: JSON Lines, which is read as a stream, or one JSON document, which is read whole.

A file is checked to its end before the first message is given, so that a bad one leaves nothing behind. What cannot be
read twice, as stdin, is checked while it is read, and its first message before anything is given.

The document may be the export of a chat assistant, also in the ZIP archive in which it comes.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TextIO
from zipfile import is_zipfile

from remembrancer.cli.spelling import named
from remembrancer.cli.standard_streams import STANDARD, called, standard_input
from remembrancer.cli.stopping import broken_off_by_a_signal
from remembrancer.hierarchy.exports import Branches, Export, ExportFormat, export_format, read_export
from remembrancer.hierarchy.exports.archive import document_of
from remembrancer.hierarchy.ingestion import as_message
from remembrancer.records import InvalidInputError, Message
from remembrancer.records.file import ZIP, kind_of_content, not_utf8, require_content
from remembrancer.records.json_text import read_json


class FileFormat(StrEnum):
    """What `--format` takes."""

    AUTO = "auto"
    JSONL = "jsonl"
    JSON = "json"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    GEMINI = "gemini"


_EXPORTS = {
    FileFormat.CHATGPT: ExportFormat.CHATGPT,
    FileFormat.CLAUDE: ExportFormat.CLAUDE,
    FileFormat.GEMINI: ExportFormat.GEMINI,
}
_BY_ENDING = {".jsonl": FileFormat.JSONL, ".ndjson": FileFormat.JSONL, ".json": FileFormat.JSON}

Messages = list[Message] | Iterator[Message]
"""A list, or a stream."""


@dataclass(frozen=True)
class ExportOptions:
    """How the export of a chat assistant is read, and who is told of it."""

    branches: Branches = Branches.CURRENT
    speaker: str | None = None
    told: Callable[[Export], None] = lambda _: None


@contextmanager
def messages_in(
    name: str, *, file_format: FileFormat = FileFormat.AUTO, exports: ExportOptions | None = None
) -> Iterator[Messages]:
    """The messages of a file.

    Args:
        name: Its path, or `-` for stdin.
        file_format: How it is written. `auto` goes by the ending, and where that tells nothing by the first line; a
            document in the form of an export is read as one.
        exports: How an export is read.

    Raises:
        InvalidInputError: The file cannot be read, or is not what it should be; for JSON Lines it names the line.
    """
    options = exports or ExportOptions()
    try:
        is_archive = name != STANDARD and is_zipfile(name)
    except ValueError as error:  # NUL, or half a character
        raise InvalidInputError("FILE", f"{name!r} is the name of no file: {error}") from error
    if is_archive:
        with named(path="FILE"):
            document = document_of(Path(name))
        yield _exported(document, options, _EXPORTS.get(file_format), name=name)
        return
    with _opened(name) as file:
        lines = _lines(file, name)
        beginning = _beginning(lines)
        require_content(beginning, name=called(name), field="FILE")
        lines = itertools.chain(beginning, lines)
        chosen = _BY_ENDING.get(Path(name).suffix.lower(), file_format) if file_format == "auto" else file_format
        if chosen is FileFormat.AUTO:
            chosen = FileFormat.JSONL if _is_a_message(beginning) else FileFormat.JSON
        if chosen is FileFormat.JSONL:
            if name != STANDARD and file.seekable():
                with broken_off_by_a_signal(holds="nothing was stored"):
                    for _ in _streamed(lines):
                        pass
                file.seek(0)
                lines = _lines(file, name)
            messages = _streamed(lines)
            yield itertools.chain(list(itertools.islice(messages, 1)), messages)
            return
        document = _parsed("".join(lines), field=called(name))
        export = _EXPORTS.get(chosen) or (export_format(document) if file_format is FileFormat.AUTO else None)
        yield _listed(document, name) if export is None else _exported(document, options, export, name=name)


@contextmanager
def _opened(name: str) -> Iterator[TextIO]:
    if name == STANDARD:
        reader = io.TextIOWrapper(standard_input(), encoding="utf-8-sig", newline="\n")
        try:
            yield reader
        finally:
            reader.detach()
        return
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(Path(name).open(encoding="utf-8-sig", newline="\n"))
        except OSError as error:
            raise InvalidInputError("FILE", f"{called(name)} cannot be read: {error.strerror or error}") from error
        yield opened


def _lines(file: TextIO, name: str) -> Iterator[str]:
    number = 0
    try:
        while True:
            with broken_off_by_a_signal() if name == STANDARD else nullcontext():  # nobody may write for hours
                line = next(file, None)
            if line is None:
                return
            number += 1
            yield line
    except UnicodeDecodeError as error:
        if number == 0 and (kind := kind_of_content(error.object)):  # the first of the blocks that are decoded
            is_cut = kind == ZIP and name != STANDARD  # a whole one was recognised
            problem = f"{kind} that is cut off or damaged" if is_cut else f"{kind}; expected text in UTF-8"
            raise InvalidInputError("FILE", f"{called(name)} is {problem}") from error
        place = number + 1 + error.object.count(b"\n", 0, error.start)
        raise InvalidInputError("FILE", f"{called(name)}, line {place}: {not_utf8(error)}") from error
    except OSError as error:
        raise InvalidInputError("FILE", f"{called(name)} cannot be read: {error.strerror or error}") from error


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
        return read_json(text)
    except ValueError as error:
        raise InvalidInputError(field, f"not JSON: {error}") from error


def _is_a_message(lines: Iterable[str]) -> bool:
    try:
        first = read_json("".join(lines))
    except ValueError:
        return False
    return isinstance(first, Mapping) and "messages" not in first


def _streamed(lines: Iterable[str]) -> Iterator[Message]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield as_message(_parsed(line, field=f"line {number}"), field=f"line {number}")


def _exported(document: object, options: ExportOptions, export: ExportFormat | None, *, name: str) -> list[Message]:
    with named(document=called(name)):
        read = read_export(document, format=export, branches=options.branches, speaker=options.speaker)
    options.told(read)
    return list(read.messages)


def _listed(document: object, name: str) -> list[Message]:
    found = document.get("messages") if isinstance(document, Mapping) else document
    if not isinstance(found, list):
        raise InvalidInputError(
            called(name), "expected a list of messages, or an object with such a list as `messages`"
        )
    return [as_message(one, field=f"messages.{place}") for place, one in enumerate(found)]
