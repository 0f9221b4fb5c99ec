"""Reading a file of benchmark data: one JSON document, checked field by field."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from remembrancer.records import InvalidInputError
from remembrancer.records.base import translated
from remembrancer.records.file import require_content, require_path

D = TypeVar("D", bound=BaseModel)


def read_document(path: Path, kind: type[D]) -> D:
    """The document in a file.

    Raises:
        InvalidInputError: The file cannot be read, is not JSON, or lacks a field; names it.
    """
    try:
        text = require_path(path, field="path").read_bytes()
    except OSError as error:
        raise InvalidInputError("data", f"{path} cannot be read: {error.strerror or error}") from error
    require_content([text], name=path, field="data")
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise translated(error, within="data") from error
