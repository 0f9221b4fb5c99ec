"""The lines of an export: JSON Lines in UTF-8, a header first, an end last, and between them everything, kind by kind.

The same memory gives the same bytes, whichever store it lies in: kinds come in one order, records in that of their ids,
runs, passes of the gate and servings in that in which they were made, fields in that of their models.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from remembrancer.ports.serving import Serving
from remembrancer.records import (
    AuditEntry,
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    GatePass,
    InvalidInputError,
    Message,
    Pass,
    Receipt,
    Relationship,
    RunOutcome,
    Theme,
)
from remembrancer.records.base import Listed, Record, Request, translated
from remembrancer.records.file import not_utf8
from remembrancer.records.history import Replacement
from remembrancer.records.instant import Instant
from remembrancer.records.json_text import encodable, read_json
from remembrancer.records.key import Id, NonEmptyKey
from remembrancer.records.tier import TierItem
from remembrancer.records.vector import stored_vector

M = TypeVar("M", bound=BaseModel)

VERSION = 1
"""Of the form of an export; another one is refused."""

NOT_CARRIED: tuple[str, ...] = (
    "the places that messages which were removed had in their episodes",
    "when idempotency keys were first used, and when a run was last served",
    "notes of the working tier, which live in the process",
)
"""What an export leaves behind; every export says so in its header."""


class Header(Request):
    """The first line.

    Attributes:
        remembrancer_export: Version of the form.
        space: Embedding space of all vectors; `None`: the memory has no vectors.
        not_carried: What the memory had besides and the export leaves behind.
    """

    remembrancer_export: int
    space: EmbeddingSpace | None
    not_carried: Listed[str] = NOT_CARRIED


class End(Request):
    """The last line.

    Attributes:
        lines: How many lines come before it.
        sha256: Of their bytes, in hex.
    """

    kind: Literal["end"] = "end"
    lines: int
    sha256: str


class EntityLine(Request):
    """An entity."""

    record: Entity


class RelationshipLine(Request):
    """A relationship."""

    record: Relationship


class MessageLine(Request):
    """A message that is in no episode, and when it was learnt."""

    recorded_at: Instant | None
    record: Message


class EpisodeLine(Request):
    """An episode with its messages, and when each of these was learnt."""

    recorded_at: Listed[Instant | None]
    record: Episode


class FactLine(Request):
    """A fact; `lacks_edge`: its statement points to an entity, but the edge was removed."""

    lacks_edge: bool
    record: Fact


class ThemeLine(Request):
    """A theme."""

    record: Theme


class DerivationLine(Request):
    """From which facts a fact was made."""

    derived_id: Id
    source_ids: Listed[Id]


class PassLine(Request):
    """A pass that was applied; its entries follow."""

    record: Pass


class EntryLine(Request):
    """What a pass did to a record; places are counted from 0."""

    pass_id: Id
    place: int
    record: AuditEntry


class ReplacementLine(Request):
    """A record that took the place of another."""

    record: Replacement


class RunLine(Request):
    """A scored run."""

    record: RunOutcome


class GatePassLine(Request):
    """A pass of the gate. An infinite number of its evidence stands as an object, `{"number": "inf"}`."""

    record: GatePass


class ServingLine(Request):
    """What was served to a run."""

    record: Serving


class ReceiptLine(Request):
    """An idempotency key, and the receipt of the write that had it."""

    key: NonEmptyKey
    record: Receipt


class TierItemLine(Request):
    """An item of a durable tier."""

    record: TierItem


Line = (
    EntityLine
    | RelationshipLine
    | MessageLine
    | EpisodeLine
    | FactLine
    | ThemeLine
    | DerivationLine
    | PassLine
    | EntryLine
    | ReplacementLine
    | RunLine
    | GatePassLine
    | ServingLine
    | ReceiptLine
    | TierItemLine
)

LINES: Mapping[str, type[Line]] = {
    "entity": EntityLine,
    "relationship": RelationshipLine,
    "message": MessageLine,
    "episode": EpisodeLine,
    "fact": FactLine,
    "theme": ThemeLine,
    "derivation": DerivationLine,
    "pass": PassLine,
    "entry": EntryLine,
    "replacement": ReplacementLine,
    "run": RunLine,
    "gate_pass": GatePassLine,
    "serving": ServingLine,
    "receipt": ReceiptLine,
    "tier_item": TierItemLine,
}
"""The kinds of lines, in the order in which they come; entries stand behind their pass."""

_KINDS: Mapping[type[Line], str] = {model: kind for kind, model in LINES.items()}


class TransferReport(Record):
    """What an export or import carried.

    Attributes:
        counts: How many lines of each kind.
        sha256: Of all lines but the last, in hex: two exports of equal memories have the same.
        not_carried: What the memory had besides and the export leaves behind.
    """

    counts: dict[str, int]
    sha256: str
    not_carried: Listed[str] = NOT_CARRIED


def kind_of_line(line: Line) -> str:
    """The kind that a line names."""
    return _KINDS[type(line)]


def encoded(line: Line | Header | End) -> bytes:
    """A line as it stands in the file, its line feed with it."""
    document = line.model_dump(mode="json")
    if isinstance(line, GatePassLine):
        document["record"]["decisions"] = [
            {**told, "evidence": {name: _as_json(value) for name, value in sorted(decision.evidence.items())}}
            for told, decision in zip(document["record"]["decisions"], line.record.decisions, strict=True)
        ]
    if not isinstance(line, Header | End):
        document = {"kind": kind_of_line(line), **document}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return encodable(text).encode() + b"\n"


def _as_json(value: bool | float | str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def decoded_header(raw: bytes) -> Header:
    """The first line.

    Raises:
        InvalidInputError: It is not that of an export, or of one of another version.
    """
    if not raw.lstrip().startswith(b'{"remembrancer_export"') and _is_foreign(raw):
        raise InvalidInputError("line 1", "not the header of an export: expected an object with remembrancer_export")
    document = _object(raw, number=1)
    version = document["remembrancer_export"]
    if version != VERSION:
        raise InvalidInputError("line 1", f"an export of version {version!r}; this library reads version {VERSION}")
    return _built(Header, document, number=1)


def decoded(raw: bytes, *, number: int, dimensions: int | None) -> Line | End:
    """A line behind the first, checked.

    Args:
        raw: Its bytes.
        number: Its place in the file, from 1; errors name it.
        dimensions: Length of every vector; `None`: there may be none.

    Raises:
        InvalidInputError: It is damaged, or says more than this version knows.
    """
    document = _object(raw, number=number)
    kind = document.get("kind")
    if kind == "end":
        return _built(End, document, number=number)
    model = LINES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise InvalidInputError(f"line {number}", f"there is no kind of line {kind!r}")
    del document["kind"]
    record = document.get("record")
    if model is GatePassLine and isinstance(record, dict):
        _read_numbers(record, number=number)
    line = _built(model, document, number=number)
    if isinstance(record, dict) and not isinstance(line, DerivationLine):
        if unknown := sorted(record.keys() - type(line.record).model_fields.keys()):
            raise InvalidInputError(f"line {number}", f"unknown fields: {', '.join(unknown)}")
        _check_vectors(line.record, number=number, dimensions=dimensions)
    if isinstance(line, EpisodeLine) and len(line.recorded_at) != len(line.record.messages):
        raise InvalidInputError(f"line {number}", "recorded_at has to name an instant for each message")
    return line


def _is_foreign(raw: bytes) -> bool:
    try:
        document = read_json(raw.decode())
    except ValueError:
        return True
    return not isinstance(document, dict) or "remembrancer_export" not in document


def _object(raw: bytes, *, number: int) -> dict[str, Any]:
    if not raw.endswith(b"\n"):
        raise InvalidInputError(f"line {number}", "it is cut off: no line feed at its end")
    try:
        document = read_json(raw.decode())
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"line {number}", not_utf8(error)) from error
    except ValueError as error:
        raise InvalidInputError(f"line {number}", f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise InvalidInputError(f"line {number}", "not a JSON object")
    return document


def _built(model: type[M], document: dict[str, Any], *, number: int) -> M:
    try:
        if issubclass(model, ReceiptLine):  # its tuples may be lists only where pydantic knows that it reads JSON
            return model.model_validate_json(json.dumps(document))
        return model.model_validate(document)
    except ValidationError as error:
        raise translated(error, within=f"line {number}") from error


def _read_numbers(record: dict[str, Any], *, number: int) -> None:
    decisions = record.get("decisions")
    for decision in decisions if isinstance(decisions, list) else ():
        evidence = decision.get("evidence") if isinstance(decision, dict) else None
        if not isinstance(evidence, dict):
            continue
        for name, value in evidence.items():
            if isinstance(value, dict):
                if value.get("number") not in ("inf", "-inf", "nan"):
                    raise InvalidInputError(f"line {number}", f"evidence {name}: not a number: {value!r}")
                evidence[name] = float(value["number"])


def _check_vectors(record: BaseModel, *, number: int, dimensions: int | None) -> None:
    holders: Sequence[BaseModel] = [record, *(record.messages if isinstance(record, Episode) else ())]
    for holder in holders:
        embedding = getattr(holder, "embedding", None)
        if embedding is None:
            continue
        if dimensions is None:
            raise InvalidInputError(f"line {number}", "it has an embedding, and the header names no embedding space")
        stored_vector(embedding, dimensions=dimensions, field=f"line {number}")
