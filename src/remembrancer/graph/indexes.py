"""The indexes and constraints that the queries need, compared with those that the database has.

What is needed is read from the statements that make it, so that nothing is written down twice. `IF NOT EXISTS` goes by
the name alone: an index made by hand with another length of vectors, quantized, or over other properties is kept
without a word, and answers wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SHOW = (
    "SHOW INDEXES YIELD name, state, type, labelsOrTypes, properties, options, owningConstraint "
    "RETURN name, state, type, labelsOrTypes, properties, options, owningConstraint"
)

_CREATED = re.compile(r"CREATE (VECTOR INDEX|FULLTEXT INDEX|INDEX|CONSTRAINT) (\w+) IF NOT EXISTS")
_KIND = {"VECTOR INDEX": "VECTOR", "FULLTEXT INDEX": "FULLTEXT", "INDEX": "RANGE", "CONSTRAINT": "RANGE"}
_OWNER = re.compile(r"FOR \((?:\w+:(\w+))?\)(?:-\[\w+:(\w+)\]-\(\))?")
_PROPERTY = re.compile(r"\b[nr]\.(\w+)")
_OPTION = re.compile(r"`([\w.]+)`: '?(\w+)'?")


@dataclass(frozen=True)
class NeededIndex:
    """An index as its statement makes it.

    Attributes:
        name: Of the index, or of the constraint that owns it.
        kind: `RANGE`, `FULLTEXT` or `VECTOR`.
        is_unique: Whether a constraint of this name owns it.
        owner: The label or relationship type.
        properties: In their order.
        options: Of the statement, in upper case.
    """

    name: str
    kind: str
    is_unique: bool
    owner: str
    properties: tuple[str, ...]
    options: Mapping[str, str]

    def problems(self, row: Mapping[str, Any]) -> list[str]:
        """What is wrong with the index that has this name, as `SHOW` tells it."""
        config = row["options"].get("indexConfig", {})
        found: dict[str, object] = {
            "type": row["type"],
            "constraint": row["owningConstraint"],
            "label": ", ".join(row["labelsOrTypes"] or ()),
            "properties": ", ".join(row["properties"] or ()),
            **{name: str(config.get(name)).upper() for name in self.options},
        }
        wanted: dict[str, object] = {
            "type": self.kind,
            "constraint": self.name if self.is_unique else None,
            "label": self.owner,
            "properties": ", ".join(self.properties),
            **self.options,
        }
        remedy = "drop it and run `remembrancer migrate`"
        wrong = [
            f"index {self.name} has {key} = {found[key]}, expected {value}: {remedy}"
            for key, value in wanted.items()
            if found[key] != value
        ]
        if row["state"] == "FAILED":
            wrong.append(f"index {self.name} failed to be built: {remedy}")
        return wrong


def needed_indexes(statements: Iterable[str]) -> tuple[NeededIndex, ...]:
    """What schema statements make, in their order."""
    needed = []
    for statement in statements:
        created, owner = _CREATED.search(statement), _OWNER.search(statement)
        if created is None or owner is None:
            continue
        needed.append(
            NeededIndex(
                name=created[2],
                kind=_KIND[created[1]],
                is_unique=created[1] == "CONSTRAINT",
                owner=owner[1] or owner[2],
                properties=tuple(_PROPERTY.findall(statement)),
                options={name: value.upper() for name, value in _OPTION.findall(statement)},
            )
        )
    return tuple(needed)


def missing_and_wrong(
    needed: Sequence[NeededIndex], rows: Iterable[Mapping[str, Any]]
) -> tuple[list[NeededIndex], list[str]]:
    """Those that the database lacks, and what is wrong with the others."""
    found = {row["name"]: row for row in rows}
    missing = [index for index in needed if index.name not in found]
    wrong = [problem for index in needed if index.name in found for problem in index.problems(found[index.name])]
    return missing, wrong


def are_being_built(needed: Sequence[NeededIndex], rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of them is still being filled from what is stored."""
    names = {index.name for index in needed}
    return any(row["name"] in names and row["state"] == "POPULATING" for row in rows)
