"""Exports as files: one JSON document, or the ZIP archive that the assistant sends."""

from __future__ import annotations

import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any, Final

from remembrancer.hierarchy.exports.export import Branches, Export, ExportFormat
from remembrancer.hierarchy.exports.formats import export_format, read_export
from remembrancer.records import InvalidInputError
from remembrancer.records.file import ZIP, kind_of_content, not_utf8, require_content, require_path
from remembrancer.records.json_text import read_json

MAX_UNPACKED: Final = 4 << 30
"""The most bytes that the files read from one archive may have: 4 GiB, more than any assistant hands out."""

MAX_RATIO: Final = 200
"""The most times that a file may be larger than it is packed; conversations are 3 to 20 times as large."""

UNSUSPECTED: Final = 64 << 20
"""A file of no more bytes than these may be packed as small as it will, 64 MiB."""

_CONVERSATIONS = ("conversations", "myactivity", "my activity")
_CHUNK = 1 << 20


def read_export_file(
    path: str | os.PathLike[str],
    *,
    format: ExportFormat | str | None = None,  # noqa: A002 - as in read_export
    branches: Branches | str = Branches.CURRENT,
    speaker: str | None = None,
) -> Export:
    """Read an export from a file, whole.

    Args:
        path: A JSON file, or a ZIP archive: then its `conversations.json` (or `conversations-000.json` and so on), or
            Takeout's `MyActivity.json` of Gemini, are read as one.
        format: As for `read_export`.
        branches: As for `read_export`.
        speaker: As for `read_export`.

    Raises:
        InvalidInputError: It cannot be read, holds no export, would unpack to more than `MAX_UNPACKED` bytes or to more
            than `MAX_RATIO` times what it takes, or a record in it is wrong; names file and record.
    """
    return read_export(document_of(require_path(path, field="path")), format=format, branches=branches, speaker=speaker)


def document_of(path: Path) -> object:
    """The document in a file; several in an archive are joined, if they are lists.

    Raises:
        InvalidInputError: It cannot be read, is no JSON in UTF-8, or holds no export.
    """
    try:
        if not zipfile.is_zipfile(path):
            return _parsed(path.read_bytes(), name=str(path))
        with zipfile.ZipFile(path) as archive:
            candidates = list(_candidates(archive, name=str(path)))
    except InvalidInputError:
        raise
    except (OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise InvalidInputError(str(path), f"cannot be read: {error}") from error
    if not candidates:
        raise InvalidInputError(str(path), "holds neither conversations.json nor MyActivity.json of an assistant")
    documents = [document for _, document in candidates if export_format(document) is not None]
    if not documents:
        name, document = candidates[0]
        what = "is an empty list: there is no conversation in it"
        problem = what if document == [] else "is no export of ChatGPT, of Claude or of Gemini"
        raise InvalidInputError("path", f"{name} {problem}")
    if len(documents) == 1:
        return documents[0]
    return [record for document in documents for record in (document if isinstance(document, list) else [document])]


def _candidates(archive: zipfile.ZipFile, *, name: str) -> Iterator[tuple[str, Any]]:
    """Those of an archive's files that are called as an export is: the name of each, and what is in it."""
    left = MAX_UNPACKED
    for entry in sorted(archive.infolist(), key=attrgetter("filename")):
        file = PurePosixPath(entry.filename)
        if file.suffix.lower() == ".json" and file.stem.lower().startswith(_CONVERSATIONS):
            content = _unpacked(archive, entry, most=left, name=f"{name}/{entry.filename}")
            left -= len(content)
            yield f"{name}/{entry.filename}", _parsed(content, name=f"{name}/{entry.filename}")


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, most: int, name: str) -> bytes:
    """A file of an archive: refused by what the archive says of its size, and by what comes out of it.

    Raises:
        InvalidInputError: It is larger than any export; names it.
    """
    if entry.file_size > UNSUSPECTED and entry.file_size > MAX_RATIO * entry.compress_size:
        raise InvalidInputError(
            name,
            f"not unpacked: {entry.compress_size:,} bytes would become {entry.file_size:,}, more than {MAX_RATIO} "
            "times as many, and no export is like that",
        )
    content = io.BytesIO()
    if entry.file_size <= most:
        with archive.open(entry) as packed:
            while content.tell() <= most and (chunk := packed.read(_CHUNK)):
                content.write(chunk)
    if max(entry.file_size, content.tell()) > most:
        raise InvalidInputError(
            name, f"not unpacked: the exports in this archive would be more than {MAX_UNPACKED:,} bytes"
        )
    return content.getvalue()


def _parsed(content: bytes, *, name: str) -> object:
    require_content([content], name=name, field="path")
    if kind := kind_of_content(content):
        cut = " that is cut off or damaged" if kind == ZIP else ""
        raise InvalidInputError("path", f"{name} is {kind}{cut}; expected an export in JSON, in UTF-8")
    try:
        return read_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInputError(name, not_utf8(error)) from error
    except ValueError as error:
        raise InvalidInputError(name, f"not JSON: {error}") from error
