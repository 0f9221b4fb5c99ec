"""Golden cases: worked examples, with the right answer, that every implementation must reproduce.

They lie in JSON files, one an area, under `data/`, or under the folder that the environment variable
`REMEMBRANCER_GOLDEN` names (laid out alike: `cycgraph/<area>.json`, `knowledge/<area>.json`). A test module names its
file in `AREA`; each of its tests that takes `case` then runs once a case, with the case's id as test id. A module
whose file is not there is skipped. `fixtures` holds what the file's cases share.

    AREA = "cycgraph/segmenter"

    async def test_the_golden_case(case: Case) -> None:
        assert await ANSWERS[case.fn](case) == case.expected

`golden` fills stores from a module's fixtures, each fixture once a module.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from remembrancer.records import (
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    Provenance,
    RecordBatch,
    Relationship,
    Theme,
)
from remembrancer.testing import IndexedStore, OpenStore

ROOT = Path(os.environ.get("REMEMBRANCER_GOLDEN") or Path(__file__).parent / "data")


@dataclass(frozen=True)
class Case:
    """One worked example.

    Attributes:
        id: Unique within its area.
        fields: All that the file says of it; `case["graph"]` reads one.
    """

    id: str
    fields: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.fields.get(name, default)

    @property
    def fn(self) -> str:
        """What is called; empty where an area has only one thing to call."""
        return str(self.fields.get("fn", ""))

    @property
    def input(self) -> Any:
        return self.fields["input"]

    @property
    def expected(self) -> Any:
        """The right answer: `fixed` where the recorded one is known to be wrong."""
        for name in ("fixed", "output", "expect"):
            if name in self.fields:
                return self.fields[name]
        raise KeyError(f"case {self.id} has no answer")

    @property
    def error(self) -> str | None:
        """Name of the error that is the right answer, `None` when there is a value."""
        if "fixed" in self.fields:
            return None
        return self.fields.get("fixed_error", self.fields.get("error"))


@functools.cache
def _content(area: str) -> Mapping[str, Any] | None:
    path = ROOT / f"{area}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def cases(area: str) -> list[Case]:
    """The cases of an area in the file's order; none when its file is not there."""
    content = _content(area)
    if content is None:
        return []
    return [Case(str(fields.get("id", fields.get("n"))), fields) for fields in content["cases"]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    area = getattr(metafunc.module, "AREA", None)
    if area is None or "case" not in metafunc.fixturenames:
        return
    found = cases(area)
    if not found:
        missing = pytest.mark.skip(reason=f"no golden cases at {ROOT / area}.json")
        metafunc.parametrize("case", [pytest.param(None, marks=missing, id="missing")])
        return
    metafunc.parametrize("case", found, ids=[case.id for case in found])


@pytest.fixture
def fixtures(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """What the cases of the module's area share, by name."""
    content = _content(request.module.AREA)
    return content.get("fixtures", {}) if content is not None else {}


@pytest.fixture
def recut() -> Callable[[str, str, int], str]:
    """Turns a recorded cut of a text to a length into the right one.

    The recorded answers count UTF-16 units, so a character beyond the Basic Multilingual Plane takes two and may be
    cut in half. The rule is to count characters. Only texts that have such characters are cut anew.
    """

    def cut(recorded: str, text: str, length: int) -> str:
        units = text.encode("utf-16-le", "surrogatepass")[: 2 * length]
        assert recorded == units.decode("utf-16-le", "surrogatepass")
        return text[:length] if any(ord(character) > 0xFFFF for character in text) else recorded

    return cut


DIMENSIONS = 16
"""Vectors of all fixtures are padded with zeros to this length, which leaves every cosine as it is."""

_MADE = "2025-01-01T00:00:00.000Z"
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "entities": {"created_at": _MADE, "updated_at": _MADE},
    "relationships": {},
    "episodes": {"messages": []},
    "facts": {},
    "themes": {},
}
_MODELS = {"entities": Entity, "relationships": Relationship, "episodes": Episode, "facts": Fact, "themes": Theme}


def snake_case(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under the names that they have in Python."""
    return {re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name): value for name, value in options.items()}


def padded(vector: Sequence[float], dimensions: int = DIMENSIONS) -> list[float]:
    """The vector with zeros up to the length."""
    return [*map(float, vector), *[0.0] * (dimensions - len(vector))]


def record(kind: str, fields: Mapping[str, Any], *, pad: bool = True) -> Any:
    """A record of a fixture, what it leaves out filled in, its vector padded."""
    whole = {"provenance": Provenance(source="agent", created_at=_MADE), **_DEFAULTS[kind], **fields}
    if pad and whole.get("embedding") is not None:
        whole["embedding"] = padded(whole["embedding"])
    return _MODELS[kind].model_validate(whole)


class GoldenStores:
    """Opens one store a fixture, and fills it when it is first asked for."""

    snake_case = staticmethod(snake_case)
    padded = staticmethod(padded)
    record = staticmethod(record)

    def __init__(self, open_store: OpenStore) -> None:
        self.open_store = open_store
        self._filled: dict[tuple[str, int | None], IndexedStore] = {}

    async def filled(self, name: str, fixture: Mapping[str, Any], *, dimensions: int | None = None) -> IndexedStore:
        """The store of a fixture; with `dimensions` its vectors are as long as they are, not padded."""
        if (name, dimensions) not in self._filled:
            space = EmbeddingSpace(model="golden", dimensions=dimensions or DIMENSIONS)
            store = await self.open_store(space=space)
            records = {
                kind: [record(kind, fields, pad=dimensions is None) for fields in fixture.get(kind, [])]
                for kind in _MODELS
            }
            await store.write(RecordBatch(**records))
            self._filled[name, dimensions] = store
        return self._filled[name, dimensions]


@pytest.fixture(scope="module")
def golden(open_shared_store: OpenStore) -> GoldenStores:
    """Stores filled from the module's fixtures."""
    return GoldenStores(open_shared_store)
