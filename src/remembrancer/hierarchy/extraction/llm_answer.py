"""What a model's answer says, taken item by item: what can be used is, what cannot is counted with its reason.

A name stands for one entity in the whole answer: the first declaration gives its type, and a relationship may name an
entity that a later item declares.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from remembrancer.hierarchy.extraction.derived import Derivation
from remembrancer.ports.stages import Dropped
from remembrancer.records.json_text import check_depth
from remembrancer.records.key import check_key, check_text
from remembrancer.records.sentences import trimmed

_FENCED = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
_DEFAULT_TYPE = "concept"
_FIELDS = {
    "fact": frozenset({"content", "entities", "relationships"}),
    "entity": frozenset({"name", "type"}),
    "relationship": frozenset({"source", "target", "type"}),
}


class _Object(dict[str, Any]):
    """An object of a plain answer in which a key was given twice: the last one counts, and it is told."""

    repeated: tuple[str, ...] = ()


_NAMED_FIELDS = 20  # unknown fields that a report names; the rest it counts together


@dataclass(frozen=True)
class Item:
    """One usable fact of an answer."""

    content: str
    entities: tuple[str, ...]
    relationships: tuple[tuple[str, str, str], ...]


@dataclass
class Answer:
    """The usable part of an answer.

    Attributes:
        items: The facts.
        types: The type of each entity by its name, in the order of declaration.
        dropped: What was not used.
    """

    items: list[Item] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    dropped: tuple[Dropped, ...] = ()

    def write_to(self, derivation: Derivation, cite: Callable[[str], Sequence[str]]) -> None:
        """Hand everything on; `cite` tells which messages a fact was read from."""
        ids = {name: derivation.entity_id(name, entity_type) for name, entity_type in self.types.items()}
        for item in self.items:
            derivation.add_fact(
                item.content, entity_ids=[ids[name] for name in item.entities], message_ids=cite(item.content)
            )
            for source, relation_type, target in item.relationships:
                derivation.add_relationship(ids[source], relation_type, ids[target])


def parsed_array(text: str) -> list[Any]:
    """The JSON array of a plain answer, which may stand in the first fenced block.

    Raises:
        ValueError: Not strict JSON, or no array.
    """
    answer = trimmed(text)
    fenced = _FENCED.search(answer)
    if fenced:
        answer = trimmed(fenced[1])
    try:
        value = json.loads(answer, parse_constant=_no_constant, object_pairs_hook=_object)
        check_depth(value)
    except RecursionError as error:
        raise ValueError("the answer is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"the answer is not JSON: {error}") from error
    if not isinstance(value, list):
        raise ValueError(f"expected a JSON array, got {_kind(value)}")
    return value


def held_array(value: Any) -> list[Any]:
    """The array in an answer that was held to a schema.

    Raises:
        ValueError: There is none, or nothing in it is a fact.
    """
    array = value.get("facts") if isinstance(value, Mapping) else value
    if not isinstance(array, list):
        raise ValueError('expected an object whose key "facts" holds an array')
    if array and not any(_content_of(item) for item in array):
        raise ValueError(f'none of the {len(array)} items has a text that is not empty under the key "content"')
    return array


def taken(array: Sequence[Any], *, most: int) -> Answer:
    """What can be used of an array of facts; the first `most` facts, and no declaration of the others."""
    tally: Counter[tuple[str, str]] = Counter()
    accepted: list[Mapping[str, Any]] = []
    for item in array:
        problem = _problem_of(item)
        if problem is not None:
            tally["fact", problem] += 1
        elif len(accepted) < most:
            accepted.append(item)
        else:
            tally["fact", f"more than {most} facts"] += 1
    answer = Answer()
    declared = [_declared(item, answer.types, tally) for item in accepted]
    for item, names in zip(accepted, declared, strict=True):
        relationships = _relationships(item, answer.types, tally)
        answer.items.append(Item(item["content"], tuple(names), tuple(relationships)))
    answer.dropped = _listed(tally)
    return answer


def _problem_of(item: Any) -> str | None:
    if not isinstance(item, Mapping):
        return f"{_kind(item)} in the place of a fact"
    if not _content_of(item):
        return "no text as content"
    return None if _is_storable(item["content"]) else "characters that cannot be stored"


def _content_of(item: Any) -> str:
    content = item.get("content") if isinstance(item, Mapping) else None
    return content if isinstance(content, str) else ""


def _declared(item: Mapping[str, Any], types: dict[str, str], tally: Counter[tuple[str, str]]) -> list[str]:
    """The usable names that an item declares; the first declaration of a name fixes its type."""
    _count_unknown(item, "fact", tally)
    names = []
    for entity in _entries(item, "entities", "entity", tally):
        name = entity.get("name")
        if not isinstance(name, str) or not name:
            tally["entity", "no text as name"] += 1
        elif not _is_storable(name):
            tally["entity", "characters that cannot be stored"] += 1
        else:
            _count_unknown(entity, "entity", tally)
            types.setdefault(name, _type_of(entity, tally))
            names.append(name)
    return names


def _type_of(entity: Mapping[str, Any], tally: Counter[tuple[str, str]]) -> str:
    entity_type = entity.get("type")
    if entity_type is None or entity_type == "":
        return _DEFAULT_TYPE
    if not isinstance(entity_type, str):
        tally["field", f"{_kind(entity_type)} as type of an entity, read as {_DEFAULT_TYPE}"] += 1
        return _DEFAULT_TYPE
    if not _is_key(entity_type):
        tally["field", f"an entity's type that cannot be a key, read as {_DEFAULT_TYPE}"] += 1
        return _DEFAULT_TYPE
    return entity_type


def _relationships(
    item: Mapping[str, Any], types: Mapping[str, str], tally: Counter[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    found = []
    for relationship in _entries(item, "relationships", "relationship", tally):
        parts = [relationship.get(name) for name in ("source", "type", "target")]
        texts = [part for part in parts if isinstance(part, str) and part]
        if len(texts) < len(parts):
            tally["relationship", "no text as source, target or type"] += 1
            continue
        source, relation_type, target = texts
        if source not in types or target not in types:
            tally["relationship", "an end that no fact declares as entity"] += 1
        elif not _is_key(relation_type):
            tally["relationship", "a type that cannot be a key"] += 1
        else:
            _count_unknown(relationship, "relationship", tally)
            found.append((source, relation_type, target))
    return found


def _entries(item: Mapping[str, Any], name: str, part: str, tally: Counter[tuple[str, str]]) -> list[Mapping[str, Any]]:
    value = item.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        tally["field", f"{_kind(value)} under {name!r}"] += 1
        return []
    maps = [entry for entry in value if isinstance(entry, Mapping)]
    if len(maps) < len(value):
        others = Counter(_kind(entry) for entry in value if not isinstance(entry, Mapping))
        for kind, count in others.items():
            article = "an" if part == "entity" else "a"
            tally[part, f"{kind} in the place of {article} {part}"] += count
    return maps


def _count_unknown(item: Mapping[str, Any], part: str, tally: Counter[tuple[str, str]]) -> None:
    for name in getattr(item, "repeated", ()):
        tally["field", f"{name[:40]!r} of a {part} but for its last value"] += 1
    for name in item:
        if name not in _FIELDS[part]:
            tally["field", f"unknown field {str(name)[:40]!r} of a {part}"] += 1


def _listed(tally: Counter[tuple[str, str]]) -> tuple[Dropped, ...]:
    listed: list[Dropped] = []
    unnamed = 0
    named = 0
    for (part, reason), count in tally.items():
        if reason.startswith("unknown field"):
            named += 1
            if named > _NAMED_FIELDS:
                unnamed += count
                continue
        listed.append(Dropped(part, reason, count))
    return (*listed, *([Dropped("field", "further unknown fields", unnamed)] if unnamed else []))


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
        _Object: "an object",
    }
    return names.get(type(value), type(value).__name__)


def _is_storable(text: str) -> bool:
    try:
        check_text(text)
    except ValueError:
        return False
    return True


def _is_key(text: str) -> bool:
    try:
        check_key(text)
    except ValueError:
        return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    counts = Counter(name for name, _ in pairs)
    told = _Object(found)
    told.repeated = tuple(name for name, count in counts.items() for _ in range(count - 1))
    return told


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
