"""What records and requests accept, by worked examples.

Some differences are on purpose, and the expectation is changed for them here, never for one example:

- Requests refuse unknown fields, where the recorded answers drop them: a misspelt option would silently do nothing.
- A message without id is given one, made from what it says, so that the same message read twice is one.
- Absent is `None` in Python, so a null is accepted where a field may be absent. Where a field has another default, a
  null is refused, as recorded.
- Fields that only this library has are left out of the comparison while they are empty, or as they are when nobody
  gives them.
"""

from __future__ import annotations

import datetime as dt
import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from remembrancer.records import (
    Entity,
    Episode,
    Fact,
    MemoryQuery,
    MemoryResult,
    Message,
    Provenance,
    Relationship,
    RetentionPolicy,
    RunOutcome,
    Theme,
)
from remembrancer.records.base import Request

AREA = "cycgraph/schemas"

SCHEMAS: dict[str, type[BaseModel]] = {
    "Provenance": Provenance,
    "Entity": Entity,
    "Relationship": Relationship,
    "Message": Message,
    "Episode": Episode,
    "SemanticFact": Fact,
    "Theme": Theme,
    "MemoryQuery": MemoryQuery,
    "MemoryResult": MemoryResult,
    "RunOutcome": RunOutcome,
    "RetentionPolicy": RetentionPolicy,
}
MESSAGE_ID = re.compile(r"(messages\.\d+\.)?id")


def snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda capital: "_" + capital[0].lower(), name)


def renamed(schema: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {snake_case(name): value for name, value in fields.items()} if issubclass(schema, Request) else dict(fields)


def at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value.get(part, ...)
    return value


def may_be_absent(schema: type[BaseModel], path: str) -> bool:
    *outer, name = [part for part in path.split(".") if not part.isdecimal()]
    holder = {"provenance": Provenance, "messages": Message}[outer[-1]] if outer else schema
    field = holder.model_fields.get(name)
    return field is not None and types.NoneType in typing.get_args(field.annotation)


def expected_paths(case: Any, schema: type[BaseModel], given: dict[str, Any]) -> set[str]:
    """The fields that must be named as wrong; none when the input is to be accepted."""
    wrong = {snake_case(path) if issubclass(schema, Request) else path for path in case.get("paths", ())}
    if schema in (Message, Episode):
        wrong = {
            path for path in wrong if not (MESSAGE_ID.fullmatch(path) and is_missing_message_id(schema, given, path))
        }
    wrong = {path for path in wrong if not (may_be_absent(schema, path) and at(given, path) is None)}
    if issubclass(schema, Request):
        wrong |= given.keys() - schema.model_fields.keys()
    return wrong


def is_missing_message_id(schema: type[BaseModel], given: dict[str, Any], path: str) -> bool:
    return at(given, path) is ... and (schema is Message or path != "id")


def plain(value: Any) -> Any:
    """A record as the examples write it: absent fields left out, instants to the millisecond."""
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return {name: plain(field) for name, field in fields.items() if field is not None}
    if isinstance(value, dt.datetime):
        assert value.tzinfo is dt.UTC
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {name: plain(field) for name, field in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(field) for field in value]
    return value


def without_own_fields(made: Any, expected: Any) -> Any:
    """What was made, less the empty fields that the examples do not know."""
    if isinstance(expected, list):
        return [without_own_fields(one, other) for one, other in zip(made, expected, strict=True)]
    if not isinstance(expected, dict):
        return made
    return {
        name: without_own_fields(field, expected.get(name))
        for name, field in made.items()
        if name in expected or field not in ([], {})
    }


def paths(error: ValidationError) -> set[str]:
    # The id that was not even derived, since a field it is derived from is wrong, is no complaint of its own.
    problems = [problem for problem in error.errors() if problem["type"] != "default_factory_not_called"]
    return {".".join(str(part) for part in problem["loc"]) for problem in problems}


def test_the_answer_is_the_worked_one(case: Any) -> None:
    schema = SCHEMAS[case["schema"]]
    given = renamed(schema, case.input)
    wrong = expected_paths(case, schema, given)
    if wrong:
        with pytest.raises(ValidationError) as caught:
            schema(**given)
        assert paths(caught.value) == wrong
        return
    made = plain(schema(**given))
    assert made == plain(schema(**given)), "the same input must give the same record, derived ids included"
    if case.error:
        return
    expected = renamed(schema, case.expected)
    # A name that the examples' language did not know, and that is a field's name in this one.
    expected |= {name: value for name, value in given.items() if name not in expected and name in schema.model_fields}
    defaults = {name: plain(field.default) for name, field in schema.model_fields.items()}
    made = {name: value for name, value in made.items() if name in expected or value != defaults[name]}
    assert without_own_fields(made, expected) == expected
