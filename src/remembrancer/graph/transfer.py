"""Carrying a namespace in Neo4j: pages by key, and puts that may be repeated. See `remembrancer.ports.transfer`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.graph.ledger import Neo4jLedger, pass_properties, verdict_properties
from remembrancer.graph.passes import entry_row
from remembrancer.graph.serving import serving_from
from remembrancer.graph.spaces import SpaceGuard
from remembrancer.graph.values import as_json, as_vector, from_json, from_vector
from remembrancer.ports.serving import MAX_RUNS, Serving
from remembrancer.ports.transfer import Transfer
from remembrancer.records import AuditEntry, Clock, GatePass, Pass, Receipt, RecordKind, RunOutcome
from remembrancer.records.history import Replacement
from remembrancer.records.instant import require_instant
from remembrancer.records.tier import Tier, TierItem


class Neo4jTransfer(Transfer):
    """Carries one namespace; made by the store, as `store.transfer`.

    Args:
        database: Where the records live; its schema is up to date.
        namespace: Whose memory.
        number: Number of the namespace's embedding space.
        dimensions: Length of its vectors.
        guard: Keeps to that space.
        ledger: The namespace's.
        clock: Tells when an import was begun.
    """

    def __init__(
        self,
        database: Database,
        namespace: str,
        *,
        number: int,
        dimensions: int,
        guard: SpaceGuard,
        ledger: Neo4jLedger,
        clock: Clock,
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._number = number
        self._dimensions = dimensions
        self._guard = guard
        self._ledger = ledger
        self._clock = clock

    def _statement(self, name: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        text = queries.load(name, self._number, self._dimensions)
        return text, {"namespace": self._namespace, **parameters}

    async def _read(self, name: str, **parameters: Any) -> list[Row]:
        return await self._database.read(*self._statement(name, parameters))

    async def _write(self, *statements: tuple[str, dict[str, Any]], items: Sequence[TierItem] = ()) -> list[Row]:
        async def work(transaction: Transaction) -> list[Row]:
            pending = await self._guard.entered(transaction)
            rows: list[Row] = []
            for name, parameters in statements:
                rows = await transaction.run(*self._statement(name, parameters))
            await self._guard.outdate(transaction, pending, items=items)
            return rows

        return await self._database.write(work)

    def _now(self) -> dt.datetime:
        return require_instant(self._clock(), field="clock")

    async def begin(self, marker: str) -> bool:
        """Begin an import, or go on with it."""
        may_go_on: bool = first(await self._write(("transfer.begin", {"marker": marker, "now": self._now()})))[
            "may_go_on"
        ]
        return may_go_on

    async def finish(self, marker: str) -> None:
        """The import is complete."""
        await self._write(("transfer.finish", {"marker": marker}))

    async def record_ids(self, kind: RecordKind, *, after: str, limit: int) -> list[str]:
        """Ids of stored records, in order."""
        return [row["id"] for row in await self._read("transfer.record_ids", kind=kind, after=after, limit=limit)]

    async def message_stamps(self, ids: Sequence[str]) -> dict[str, dt.datetime]:
        """When messages were learnt, by id."""
        found = await self._read("transfer.message_stamps", ids=list(ids))
        return {row["id"]: require_instant(row["recorded_at"], field="recorded_at") for row in found}

    async def put_message_stamps(self, stamps: Mapping[str, dt.datetime]) -> None:
        """Set when stored messages were learnt."""
        rows = [{"id": message_id, "recorded_at": stamps[message_id]} for message_id in sorted(stamps)]
        await self._write(("transfer.put_message_stamps", {"rows": rows}))

    async def derivations(self, *, after: str, limit: int) -> list[tuple[str, list[str]]]:
        """Derived facts, and those from which each was made."""
        found = await self._read("transfer.derivations", after=after, limit=limit)
        return [(row["id"], row["sources"]) for row in found]

    async def replacements(self, kind: RecordKind, *, after: str, limit: int) -> list[Replacement]:
        """Audit edges at `limit` replaced facts or entities."""
        found = await self._read("transfer.replacements", kind=kind, after=after, limit=limit)
        return [Replacement.model_validate(row["replacement"]) for row in found]

    async def put_replacements(self, replacements: Sequence[Replacement]) -> None:
        """Write audit edges."""
        edges: dict[str, list[Row]] = {"fact": [], "entity": []}
        for one in sorted(replacements, key=lambda edge: (edge.older_id, edge.newer_id)):
            row = {name: getattr(one, name) for name in ("at", "reason", "pass_id", "undone_by")}
            edges[one.record_kind].append({"newer": one.newer_id, "older": one.older_id, **row})
        await self._write(("transfer.put_replacements", {"facts": edges["fact"], "entities": edges["entity"]}))

    async def put_passes(self, passes: Sequence[Pass]) -> None:
        """Write passes as they are."""
        rows = [{"id": one.id, "properties": one.model_dump(exclude={"id"})} for one in passes]
        await self._write(("transfer.put_passes", {"rows": sorted(rows, key=lambda row: str(row["id"]))}))

    async def put_entries(self, pass_id: str, entries: Sequence[AuditEntry], *, start: int) -> None:
        """Write what a pass did."""
        rows = [entry_row(position, entry) for position, entry in enumerate(entries, start)]
        await self._write(("transfer.put_entries", {"pass_id": pass_id, "rows": rows}))

    async def runs(self, *, after: int, limit: int) -> list[tuple[int, RunOutcome]]:
        """Scored runs with their places."""
        found = await self._read("transfer.runs", after=after, limit=limit)
        return [
            (row["place"], RunOutcome.model_validate({**row["run"], "holdout": dict(row["run"]["holdout"])}))
            for row in found
        ]

    async def gate_passes(self, *, after: int, limit: int) -> list[tuple[int, GatePass]]:
        """Passes of the gate with their places."""
        passes: list[tuple[int, GatePass]] = []
        for row in await self._read("transfer.gate_passes", after=after, limit=limit):
            found = await self._ledger.get_gate_pass(row["id"])
            if found is not None:
                passes.append((row["place"], found))
        return passes

    async def put_gate_passes(self, passes: Sequence[tuple[int, GatePass]]) -> None:
        """Write passes of the gate at their places."""
        for place, one in passes:
            properties = pass_properties(one, now=self._now(), sequence=place)
            common = {"decided_at": properties["decided_at"], "sequence": place}
            rows: list[Row] = [
                {"id": decision.fact_id, "verdict": verdict_properties(decision, position=position, **common)}
                for position, decision in enumerate(one.decisions)
            ]
            given = {"pass_id": one.id, "place": place, "pass": properties, "rows": sorted(rows, key=_row_id)}
            await self._write(("transfer.put_gate_pass", given))

    async def servings(self, *, after: int, limit: int) -> list[tuple[int, Serving]]:
        """What was served to runs."""
        found = await self._read("transfer.servings", after=after, limit=limit)
        return [(row["place"], serving_from(row["run_id"], row)) for row in found]

    async def put_servings(self, servings: Sequence[Serving]) -> None:
        """Write what was served to runs."""
        statements: list[tuple[str, dict[str, Any]]] = []
        for one in servings:
            columns = {
                "fact_ids": [served.fact_id for served in one.facts],
                "served": [served.is_served for served in one.facts],
                "chances": [served.chance for served in one.facts],
            }
            statements.append(("serving.open", {"run_id": one.run_id, "most": MAX_RUNS}))
            statements.append(("serving.put", {"run_id": one.run_id, "at": self._now(), **columns}))
        await self._write(*statements)

    async def receipts(self, *, after: str, limit: int) -> list[tuple[str, Receipt]]:
        """Idempotency keys, and the receipts of their writes."""
        found = await self._read("transfer.receipts", after=after, limit=limit)
        return [(row["key"], Receipt.model_validate_json(row["receipt"])) for row in found]

    async def put_receipts(self, receipts: Sequence[tuple[str, Receipt]]) -> None:
        """Write receipts."""
        now = self._now()
        rows = [{"key": key, "now": now, "result": receipt.model_dump_json()} for key, receipt in _by_key(receipts)]
        await self._write(*(("write.once", row) for row in rows))

    async def tier_items(self, tier: Tier, *, scope: str, after: str, limit: int) -> list[TierItem]:
        """Items of a durable tier."""
        found = await self._read("transfer.tier_items", tier=tier, scope=scope, after=after, limit=limit)
        return [_item(row["item"]) for row in found]

    async def put_tier_items(self, items: Sequence[TierItem]) -> None:
        """Write items as they are."""
        rows = [_item_row(item) for item in items]
        ordered = sorted(rows, key=lambda row: (row["tier"], row["scope"], row["id"]))
        await self._write(("transfer.put_tier_items", {"rows": ordered}), items=items)


def _by_key(receipts: Sequence[tuple[str, Receipt]]) -> list[tuple[str, Receipt]]:
    return sorted(receipts, key=lambda one: one[0])


def _row_id(row: Row) -> str:
    return str(row["id"])


def _item(row: Row) -> TierItem:
    metadata = row["metadata"]
    return TierItem.model_validate(
        {
            **row,
            "scope": row["scope"] or None,
            "metadata": None if metadata is None else from_json(metadata),
            "embedding": from_vector(row["embedding"]),
        }
    )


def _item_row(item: TierItem) -> Row:
    properties = {
        "text": item.text,
        "metadata": None if item.metadata is None else as_json(item.metadata),
        "remembered_at": item.remembered_at,
        "uses": item.uses,
    }
    return {
        "tier": item.tier,
        "scope": item.scope or "",
        "id": item.id,
        "properties": properties,
        "embedding": as_vector(item.embedding),
    }
