"""Scores of an extraction run: what was found of the labels, and what was made up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from remembrancer.bench.labels import Case, ExtractionSet, LabelledEdge
from remembrancer.bench.text import word_stem

MEASURES = ("entity recall", "entity type", "edge recall", "edge direction", "edge precision", "safe cases")
"""What is counted.

`entity type` is counted among the entities found whose type is labelled, `edge direction` among the edges found that
have one; `edge precision` on sentences alone, among the affirmative edges read; `safe cases` are those traps from which
nothing forbidden was read.
"""

_DENYING = frozenset(
    "not never no cease stop former formerly left leave end ended quit without".split()  # noqa: SIM905 - words
)
_SHORTEST_PART = 3  # characters of a name that may be found within another
_SHORTEST_STEM = 4  # characters of a stem that another may begin with
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class ReadEntity:
    """An entity as it was read."""

    name: str
    type: str


@dataclass(frozen=True)
class ReadEdge:
    """An edge as it was read, its ends by name."""

    source: str
    type: str
    target: str

    @property
    def is_affirmative(self) -> bool:
        """Whether it says that something is so; `left` or `no_longer_works_at` say that it is not."""
        return not _DENYING.intersection(_WORD.findall(self.type.lower()))

    def __str__(self) -> str:
        return f"{self.source} -{self.type}-> {self.target}"


@dataclass(frozen=True)
class Reading:
    """What was read from one case."""

    entities: tuple[ReadEntity, ...] = ()
    edges: tuple[ReadEdge, ...] = ()


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    hits: int
    of: int

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; `None` of nothing."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True)
class Marks:
    """Scores of a whole run: of everything and by category, and each edge that was made up, as `case: edge`."""

    overall: Mapping[str, Share]
    by_category: Mapping[str, Mapping[str, Share]]
    made_up: tuple[str, ...]


def mark(data: ExtractionSet, readings: Mapping[str, Reading]) -> Marks:
    """Compare what was read with the labels; a case that is missing counts as read empty."""
    tallies: dict[str, Counter[tuple[str, bool]]] = {"": Counter()}
    made_up = []
    for case in data.cases:
        reading = readings.get(case.id, Reading())
        wrong = _made_up(case, reading)
        made_up += [f"{case.id}: {edge}" for edge in wrong]
        marks = [*_entity_marks(case, reading), *_edge_marks(case, reading)]
        if case.is_trap:
            marks.append(("safe cases", not wrong))
        tallies[""].update(marks)
        tallies.setdefault(case.category, Counter()).update(marks)
    return Marks(
        overall=_shares(tallies[""]),
        by_category={category: _shares(tally) for category, tally in tallies.items() if category},
        made_up=tuple(made_up),
    )


def _shares(tally: Counter[tuple[str, bool]]) -> dict[str, Share]:
    return {measure: Share(tally[measure, True], tally[measure, True] + tally[measure, False]) for measure in MEASURES}


def _entity_marks(case: Case, reading: Reading) -> Iterable[tuple[str, bool]]:
    for wanted in case.entities:
        found = next(
            (one for one in reading.entities if _is_called(one.name, wanted.forms, within=case.kind == "passage")), None
        )
        yield "entity recall", found is not None
        if found is not None and wanted.type:
            yield "entity type", found.type.lower() == wanted.type


def _edge_marks(case: Case, reading: Reading) -> Iterable[tuple[str, bool]]:
    affirmative = [edge for edge in reading.edges if edge.is_affirmative]
    right: set[int] = set()
    for wanted in case.relationships:
        ways = [_way(edge, wanted, case, within=case.kind == "passage") for edge in affirmative]
        found = {way for way in ways if way is not None}
        yield "edge recall", bool(found)
        if found and wanted.directed:
            yield "edge direction", "forth" in found
        right |= {place for place, way in enumerate(ways) if way == "forth" or (way == "back" and not wanted.directed)}
    if case.kind == "sentence":
        yield from (("edge precision", place in right) for place in range(len(affirmative)))


def _made_up(case: Case, reading: Reading) -> list[ReadEdge]:
    return [
        edge
        for edge in reading.edges
        if edge.is_affirmative
        and (
            case.forbid_all_relationships
            or any(_way(edge, wrong, case, within=True) is not None for wrong in case.forbidden)
        )
    ]


def _way(edge: ReadEdge, wanted: LabelledEdge, case: Case, *, within: bool) -> str | None:
    """Whether an edge says what is labelled, and which way round."""
    if not _says(edge.type, wanted.verbs):
        return None
    a, b = _every_form(case, wanted.a), _every_form(case, wanted.b)
    if _is_called(edge.source, a, within=within) and _is_called(edge.target, b, within=within):
        return "forth"
    if _is_called(edge.source, b, within=within) and _is_called(edge.target, a, within=within):
        return "back"
    return None


def _every_form(case: Case, names: Sequence[str]) -> list[str]:
    """The names, and the other forms of the entities that go by one of them."""
    asked = {name.lower() for name in names}
    return [
        *names,
        *(form for one in case.entities if asked & {form.lower() for form in one.forms} for form in one.forms),
    ]


def _is_called(name: str, forms: Iterable[str], *, within: bool) -> bool:
    plain = _plain(name)
    for form in map(_plain, forms):
        if plain.removeprefix("the ") == form.removeprefix("the "):
            return True
        if within and min(len(plain), len(form)) >= _SHORTEST_PART and (form in plain or plain in form):
            return True
    return False


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def _says(relation: str, verbs: Iterable[str]) -> bool:
    said = _stems(relation)
    return any(_is_one(word, _stems(verb)[0]) for verb in verbs for word in said)


def _is_one(word: str, head: str) -> bool:
    shorter, longer = sorted((word, head), key=len)
    return word == head or (len(shorter) >= _SHORTEST_STEM and longer.startswith(shorter))


def _stems(words: str) -> list[str]:
    return [word_stem(word) for word in _WORD.findall(words.lower())]
