"""Telling exports apart, and reading them: parsed JSON in, messages and what was skipped out. Touches no file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from remembrancer.hierarchy.exports import chatgpt, claude, gemini
from remembrancer.hierarchy.exports.export import Branches, Draft, Export, ExportFormat, mapping_at
from remembrancer.records import InvalidInputError
from remembrancer.records.key import require_key

T = TypeVar("T", ExportFormat, Branches)


def export_format(document: object) -> ExportFormat | None:
    """Whose export a document is; `None`: it is none that is known.

    Told by its first record; of Google's activity by the first one of Gemini, since it may be mixed with others.
    """
    records = _records(document)
    if not isinstance(records, list) or not records:
        return None
    if chatgpt.is_conversation(records[0]):
        return ExportFormat.CHATGPT
    if claude.is_conversation(records[0]):
        return ExportFormat.CLAUDE
    if any(gemini.is_record(record) for record in records):
        return ExportFormat.GEMINI
    return None


def read_export(
    document: object,
    *,
    format: ExportFormat | str | None = None,  # noqa: A002 - what it is called everywhere
    branches: Branches | str = Branches.CURRENT,
    speaker: str | None = None,
) -> Export:
    """Read an export of a chat assistant.

    Args:
        document: The parsed JSON: `conversations.json` of ChatGPT or Claude, or one conversation of it; or
            `MyActivity.json` of Gemini from Google Takeout.
        format: `chatgpt`, `claude` or `gemini`; by default told by its form.
        branches: `current`: of each conversation the branch that was shown last; `all`: every one.
        speaker: The name of the person whose export it is, for messages of the user.

    Raises:
        InvalidInputError: It is no export of this format, or a record in it is wrong; names the record, for example
            `3.mapping.9f2a.message.create_time`. An option is none that is known.
    """
    which = _option(branches, Branches, field="branches")
    named = None if speaker is None else require_key(speaker, field="speaker")
    chosen = export_format(document) if format is None else _option(format, ExportFormat, field="format")
    if chosen is None:
        raise InvalidInputError("document", "neither an export of ChatGPT nor of Claude nor of Gemini")
    draft = Draft(chosen, speaker=named)
    records = _records(document)
    if not isinstance(records, list):
        raise InvalidInputError("document", "expected a list of conversations, of Gemini one of activities")
    for number, one in enumerate(records):
        place = str(number)
        record = mapping_at(one, place=place)
        _read(record, chosen, draft, place=place, branches=which)
    return draft.finished()


def _read(record: Mapping[str, Any], chosen: ExportFormat, draft: Draft, *, place: str, branches: Branches) -> None:
    match chosen:
        case ExportFormat.CHATGPT:
            chatgpt.read_conversation(record, draft, place=place, branches=branches)
        case ExportFormat.CLAUDE:
            claude.read_conversation(record, draft, place=place, branches=branches)
        case ExportFormat.GEMINI:
            gemini.read_record(record, draft, place=place)


def _records(document: object) -> object:
    """The list of records: the document itself, its `conversations`, or the one conversation that it is."""
    if isinstance(document, Mapping):
        if chatgpt.is_conversation(document) or claude.is_conversation(document):
            return [document]
        return document.get("conversations")
    return document


def _option(value: str, kind: type[T], *, field: str) -> T:
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidInputError(field, f"expected one of {', '.join(kind)}, got {value!r}") from error
