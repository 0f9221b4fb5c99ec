"""Entities of one name, and what hangs on them, found inside Neo4j: ids come out, and of those that matter alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from remembrancer.graph.connection import Row
from remembrancer.records.key import require_ids

_AT_ONCE = 5_000


class _Reading(Protocol):
    async def _read(self, name: str, **parameters: Any) -> list[Row]: ...


class NamesakeSearch:
    """The part of a store in Neo4j that finds namesakes; fulfils `remembrancer.ports.pushdown.GathersNamesakes`."""

    async def namesakes(self: _Reading) -> list[list[str]]:
        """Ids of the live entities that share normalised name and type; one statement."""
        return [list(row["ids"]) for row in await self._read("resolution.namesakes")]

    async def fact_ids_naming(self: _Reading, entity_ids: Collection[str]) -> list[str]:
        """Ids of the facts that name one of these, in order; some thousand entities a statement."""
        return await _ids(self, "resolution.facts_naming", "ids", require_ids(entity_ids, field="entity_ids"))

    async def relationship_ids_at(self: _Reading, entity_ids: Collection[str]) -> list[str]:
        """Ids of the relationships at one of these, in order; some thousand entities a statement."""
        return await _ids(self, "resolution.edges_at", "ids", require_ids(entity_ids, field="entity_ids"))

    async def relationship_ids_between(self: _Reading, ends: Collection[tuple[str, str, str]]) -> list[str]:
        """Ids of the live relationships with one of these ends and types, in order; some thousand a statement."""
        return await _ids(self, "resolution.edges_between", "ends", [list(one) for one in ends])


async def _ids(store: _Reading, query: str, parameter: str, values: Sequence[Any]) -> list[str]:
    found: set[str] = set()
    for start in range(0, len(values), _AT_ONCE):
        rows = await store._read(query, **{parameter: list(values[start : start + _AT_ONCE])})
        found.update(row["id"] for row in rows)
    return sorted(found)
