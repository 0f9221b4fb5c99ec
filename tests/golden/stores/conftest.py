"""Stores filled from golden fixtures, each fixture once a module, and the records that they are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
