"""Exports as files: one JSON document, or the ZIP archive that the assistant sends."""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from remembrancer.hierarchy.exports.export import Branches, Export, ExportFormat
from remembrancer.hierarchy.exports.formats import export_format, read_export
from remembrancer.records import InvalidInputError
from remembrancer.records.file import require_path
from remembrancer.records.json_text import read_json

_CONVERSATIONS = ("conversations", "myactivity", "my activity")


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
        InvalidInputError: It cannot be read, holds no export, or a record in it is wrong; names file and record.
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
            documents = list(_documents(archive, name=str(path)))
    except InvalidInputError:
        raise
    except (OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise InvalidInputError(str(path), f"cannot be read: {error}") from error
    if not documents:
        raise InvalidInputError(str(path), "holds neither conversations.json nor MyActivity.json of an assistant")
    if len(documents) == 1:
        return documents[0]
    return [record for document in documents for record in (document if isinstance(document, list) else [document])]


def _documents(archive: zipfile.ZipFile, *, name: str) -> Iterator[Any]:
    """Those of an archive's files that are called as an export is, and are one."""
    for member in sorted(archive.namelist()):
        file = PurePosixPath(member)
        if file.suffix.lower() == ".json" and file.stem.lower().startswith(_CONVERSATIONS):
            document = _parsed(archive.read(member), name=f"{name}/{member}")
            if export_format(document) is not None:
                yield document


def _parsed(content: bytes, *, name: str) -> object:
    try:
        return read_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInputError(name, f"not UTF-8: {error}") from error
    except ValueError as error:
        raise InvalidInputError(name, f"not JSON: {error}") from error
