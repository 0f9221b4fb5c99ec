"""Reading what other memories dump, piece by piece: JSON of any size, or JSON Lines; bytes give values or an error.

A file named `.jsonl` or `.ndjson` has a record a line. Any other is JSON: records one after the other, in a list, or in
lists of objects inside an object, whose other fields are no records.
"""

from __future__ import annotations

import codecs
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from remembrancer.records import InvalidInputError
from remembrancer.records.file import not_utf8, opened_with_content
from remembrancer.records.json_text import check_depth, read_json, unique

_CHUNK = 1 << 16
MAX_RECORD = 1 << 24
"""The most characters of one record."""

_SPACE = " \t\r\n"


class Piece(NamedTuple):
    """A value of a file.

    Attributes:
        line: Where it begins, from 1.
        group: The name of the list that it was in; empty: it was in none.
        value: What it is; `None` for a line that is no JSON.
        problem: What is wrong with the line; empty: nothing.
        element: Which of its list it is, from 1; `None`: it was in none.
    """

    line: int
    group: str
    value: Any
    problem: str = ""
    element: int | None = None

    @property
    def place(self) -> str:
        """Where it is in its file, in words."""
        return place_of(self.line, self.element, self.group)


def place_of(line: int, element: int | None, group: str) -> str:
    """A place in a file in words: all records of a file may be on one line, so the line alone may not tell."""
    within = f" of {group}" if group else ""
    return f"line {line}" if element is None else f"line {line}, element {element}{within}"


def pieces(path: Path) -> Iterator[Piece]:
    """The values of a file in their order.

    Raises:
        InvalidInputError: It cannot be read, or is no JSON; names the line.
    """
    try:
        with opened_with_content(path, field="path") as file:
            is_lines = path.suffix.lower() in (".jsonl", ".ndjson")
            yield from _of_lines(file) if is_lines else _Document(file).pieces()
    except OSError as error:
        raise InvalidInputError("path", f"cannot read {path}: {error.strerror or error}") from error


def _of_lines(file: BinaryIO) -> Iterator[Piece]:
    number = 0
    while raw := file.readline(4 * MAX_RECORD + 1):
        number += 1
        if len(raw) > 4 * MAX_RECORD:
            raise InvalidInputError(f"line {number}", f"longer than {MAX_RECORD:,} characters")
        if not raw.strip():
            continue
        try:
            yield Piece(number, "", read_json(raw.decode("utf-8-sig")))
        except UnicodeDecodeError as error:
            yield Piece(number, "", None, not_utf8(error))
        except ValueError as error:
            yield Piece(number, "", None, f"not JSON: {error}")


class _NeverRightError(ValueError):
    """A value that more of the file would not make right."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    try:
        return unique(pairs)
    except ValueError as error:
        raise _NeverRightError(str(error)) from error


class _Document:
    """A JSON document of which only a piece is held at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = json.JSONDecoder(object_pairs_hook=_unique)
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._held = ""
        self._at = 0
        self._line = 1
        self._group = ""
        self._element: int | None = None
        self._ended = False

    def pieces(self) -> Iterator[Piece]:
        """All values, of lists and of lists inside an object each by itself."""
        while character := self._next():
            if character == "[":
                yield from self._items("")
            elif character == "{":
                yield from self._object()
            else:
                raise InvalidInputError(place_of(self._line, None, ""), "expected a list or an object in JSON")

    def _items(self, group: str) -> Iterator[Piece]:
        self._take("[")
        if self._next() == "]":
            self._take("]")
            return
        self._group = group
        for self._element in itertools.count(1):
            self._next()
            line = self._line
            yield Piece(line, group, self._value(), element=self._element)
            if self._next() != ",":
                self._take("]")
                self._element = None
                return
            self._take(",")

    def _object(self) -> Iterator[Piece]:
        line, fields, has_lists = self._line, dict[str, Any](), False
        self._take("{")
        while self._next() != "}":
            if fields or has_lists:
                self._take(",")
                self._next()
            name = self._value()
            if not isinstance(name, str):
                raise self._wrong("expected the name of a field")
            self._next()
            self._take(":")
            if self._next() == "[" and self._begins_with_object():
                has_lists = True
                yield from self._items(name)
            else:
                if name in fields:
                    raise self._wrong(f"the key {name[:80]!r} is given twice")
                fields[name] = self._value()
        self._take("}")
        if not has_lists and not (fields and all(one == [] for one in fields.values())):  # lists without a record
            yield Piece(line, "", fields)

    def _begins_with_object(self) -> bool:
        place = self._at + 1
        while True:
            while place < len(self._held) and self._held[place] in _SPACE:
                place += 1
            if place < len(self._held):
                return self._held[place] == "{"
            place -= self._at  # what is before it is let go of
            if not self._fill():
                return False

    def _next(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._held) and self._held[self._at] in _SPACE:
                self._line += self._held[self._at] == "\n"
                self._at += 1
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._fill():
                return ""

    def _take(self, character: str) -> None:
        if self._next() != character:
            raise self._wrong(f"expected {character!r}")
        self._at += 1

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self._at)
            except RecursionError as error:
                raise self._wrong("nested too deeply") from error
            except _NeverRightError as error:
                raise self._wrong(str(error)) from error
            except ValueError as error:
                if not self._fill():
                    raise self._wrong(str(error)) from error
                continue
            # A number may go on behind what is held: "1", "1." and "1e" all begin one.
            if not self._held[end : end + 4].strip(".eE+-") and self._fill():
                continue
            try:
                check_depth(value)
            except ValueError as error:
                raise self._wrong(str(error)) from error
            self._line += self._held.count("\n", self._at, end)
            self._at = end
            return value

    def _fill(self) -> bool:
        """Read on; whether there was more. Each time as much as is held, so that a long value is tried few times."""
        if self._ended:
            return False
        if len(self._held) - self._at > MAX_RECORD:
            raise self._wrong(f"longer than {MAX_RECORD:,} characters")
        raw = self._file.read(max(_CHUNK, len(self._held) - self._at))
        self._ended = not raw
        try:
            more = self._utf8.decode(raw, final=self._ended)
        except UnicodeDecodeError as error:
            place = place_of(self._line, self._element, self._group)
            raise InvalidInputError(place, not_utf8(error)) from error
        self._held, self._at = self._held[self._at :] + more, 0
        return bool(more) or not self._ended

    def _wrong(self, problem: str) -> InvalidInputError:
        return InvalidInputError(place_of(self._line, self._element, self._group), f"not JSON: {problem}")
