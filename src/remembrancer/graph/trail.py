"""The audit trail in Neo4j, read: each answer is one statement and one wire trip."""

from __future__ import annotations

from typing import Any

from remembrancer.graph import queries
from remembrancer.graph import records as rows
from remembrancer.graph.connection import Database, Row, first
from remembrancer.graph.passes import MADE_FROM
from remembrancer.graph.values import from_vector
from remembrancer.records import AuditEntry, Pass
from remembrancer.records.history import Evidence, History, Mark, Replacement, Step, history_of


class GraphTrail:
    """Reads what passes left behind in one namespace."""

    def __init__(self, database: Database, namespace: str, *, number: int, dimensions: int) -> None:
        self._database = database
        self._namespace = namespace
        self._number = number
        self._dimensions = dimensions

    async def _read(self, name: str, **parameters: Any) -> list[Row]:
        text = queries.load(name, self._number, self._dimensions)
        return await self._database.read(text, {"namespace": self._namespace, **parameters})

    async def get_pass(self, pass_id: str) -> Pass | None:
        """The pass, or `None`."""
        found = await self._read("pass.get", id=pass_id)
        return Pass.model_validate(found[0]["pass"]) if found else None

    async def list_passes(self, *, limit: int, offset: int) -> list[Pass]:
        """Passes, latest first."""
        found = await self._read("pass.list", limit=limit, offset=offset)
        return [Pass.model_validate(row["pass"]) for row in found]

    async def pass_entries(self, pass_id: str, *, limit: int, offset: int) -> list[AuditEntry]:
        """What a pass did to each record."""
        found = await self._read("pass.entries", pass_id=pass_id, limit=limit, offset=offset)
        return [_entry(row["entry"]) for row in found]

    async def record_entries(self, record_id: str) -> list[tuple[Pass, AuditEntry]]:
        """What passes did to a record, oldest first."""
        found = await self._read("pass.of_record", record_id=record_id)
        return [(Pass.model_validate(row["pass"]), _entry(row["entry"])) for row in found]

    async def history(self, record_id: str) -> History:
        """What is known of an id."""
        row = first(await self._read("pass.history", record_id=record_id))
        return history_of(
            record_id,
            marks=[Mark.model_validate(one) for one in row["marks"]],
            steps=[Step.model_validate(one) for one in row["steps"]],
            newer=[Replacement.model_validate(one) for one in row["newer"]],
            older=[Replacement.model_validate(one) for one in row["older"]],
        )

    async def why(self, record_id: str, *, limit: int) -> Evidence | None:
        """What a stored record rests on."""
        found = await self._read("pass.why", record_id=record_id, limit=limit)
        if not found:
            return None
        row = found[0]
        record = MADE_FROM[row["kind"]](row["record"])
        return Evidence(
            record_id=record_id,
            record_kind=row["kind"],
            record=record,
            provenance=record.provenance,
            messages=[rows.message_from(one) for one in row["messages"]],
            episodes=[rows.episode_from(one) for one in row["episodes"]],
            facts=[rows.fact_from(one) for one in row["facts"]],
            fact_count=row["fact_count"],
            replaces=[Replacement.model_validate(one) for one in row["older"]],
        )


def _entry(row: Row) -> AuditEntry:
    lists = {name: row[name] or () for name in ("fields", "refers_to")}
    return AuditEntry.model_validate({**row, **lists, "embedding": from_vector(row["embedding"])})
