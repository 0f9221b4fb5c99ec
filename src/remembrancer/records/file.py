"""Files that a caller names: what can be a path at all, and what is said of a file with nothing in it, or no text."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from remembrancer.records.errors import InvalidInputError

_CHUNK: Final = 1 << 16
ZIP: Final = "a ZIP archive"
_BEGINNINGS: Final = {
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": ZIP,
    b"\x1f\x8b": "packed by gzip",
    codecs.BOM_UTF16_LE: "text in UTF-16",
    codecs.BOM_UTF16_BE: "text in UTF-16",
}


def require_path(value: object, *, field: str) -> Path:
    """Read a path that a caller handed in. Looks at no file.

    Raises:
        InvalidInputError: Not a path, empty, or with characters that no file's name can have; names `field`.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise InvalidInputError(field, f"expected a path, got {type(value).__name__}")
    if not path:
        raise InvalidInputError(field, "expected a path, got an empty text")
    try:
        is_cut = b"\0" in os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InvalidInputError(field, f"{path!r} is the name of no file: {error.reason}") from error
    if is_cut:
        raise InvalidInputError(field, f"{path!r} is the name of no file: it has a NUL character")
    return Path(path)


def require_absolute_path(value: object, *, field: str) -> Path:
    """Read a path that a caller handed in, from the root on; a leading `~` is the home folder. There may be nothing.

    Raises:
        InvalidInputError: As `require_path`; or there is no such home folder, or no current folder any more, or nobody
            can look there: a name is too long, links lead in a ring, or a folder on the way is closed to this user.
    """
    path = require_path(value, field=field)
    try:
        place = path.expanduser().absolute()
        with suppress(FileNotFoundError, NotADirectoryError):
            place.stat()
    except (OSError, RuntimeError) as error:
        problem = (error.strerror if isinstance(error, OSError) else None) or error
        raise InvalidInputError(field, f"{path} does not lead to a place: {problem}") from error
    return place


def require_content(pieces: Iterable[str] | Iterable[bytes], *, name: object, field: str) -> None:
    """See that a file has content; no more of its pieces are taken than it needs.

    Raises:
        InvalidInputError: It has none, or nothing but white space; names `field`, and says the same whoever reads it.
    """
    for piece in pieces:
        if (piece.removeprefix(codecs.BOM_UTF8) if isinstance(piece, bytes) else piece).strip():
            return
    raise InvalidInputError(field, f"{name} is empty")


def kind_of_content(beginning: bytes) -> str:
    """What a file is that begins so, if it is certainly no text in UTF-8; else an empty text."""
    return next((kind for first, kind in _BEGINNINGS.items() if beginning.startswith(first)), "")


def not_utf8(error: UnicodeDecodeError) -> str:
    """What is wrong with bytes that are no text in UTF-8."""
    return f"not text in UTF-8: there is a byte 0x{error.object[error.start]:02x}"


@contextmanager
def opened_with_content(path: Path, *, field: str) -> Iterator[BinaryIO]:
    """A file of text in UTF-8, open at its beginning, which has content.

    Raises:
        InvalidInputError: As `require_content`; or its first bytes are not those of such a text.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        require_content(chunks(file), name=path, field=field)
        file.seek(0)
        if kind := kind_of_content(file.read(4)):
            raise InvalidInputError(field, f"{path} is {kind}; expected text in UTF-8")
        file.seek(0)
        yield file


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """What is left of an open file, piece by piece."""
    return iter(partial(file.read, _CHUNK), b"")
