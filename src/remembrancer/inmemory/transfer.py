"""Carrying a namespace in memory: pages by key, and puts that may be repeated. See `remembrancer.ports.transfer`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from itertools import islice
from typing import TypeVar

from remembrancer.inmemory.graph import KINDS, RecordGraph
from remembrancer.inmemory.tiers import InMemoryTiers
from remembrancer.ports.serving import Serving
from remembrancer.ports.transfer import Transfer
from remembrancer.records import AuditEntry, GatePass, Pass, Receipt, RecordKind, RunOutcome
from remembrancer.records.history import Replacement
from remembrancer.records.tier import Tier, TierItem

T = TypeVar("T")


class InMemoryTransfer(Transfer):
    """Carries one namespace; made by the store, as `store.transfer`.

    Args:
        graph: The records.
        receipts: Of writes, by idempotency key.
        tiers: The durable tiers.
    """

    def __init__(self, graph: RecordGraph, receipts: MutableMapping[str, Receipt], tiers: InMemoryTiers) -> None:
        self._graph = graph
        self._receipts = receipts
        self._tiers = tiers
        self._begun: str | None = None

    def forget(self) -> None:
        """Nothing is under way any more; for a store that is cleared."""
        self._begun = None

    def _is_empty(self) -> bool:
        graph = self._graph
        held = (graph.trail.passes, graph.runs, graph.gate_passes, graph.servings, graph.derivations, self._receipts)
        return not (any(held) or any(graph.listed(kind) for kind in KINDS) or self._tiers.items)

    async def begin(self, marker: str) -> bool:
        """Begin an import, or go on with it."""
        if marker != self._begun and not self._is_empty():
            return False
        self._begun = marker
        return True

    async def finish(self, marker: str) -> None:
        """The import is complete."""
        if marker == self._begun:
            self._begun = None

    async def record_ids(self, kind: RecordKind, *, after: str, limit: int) -> list[str]:
        """Ids of stored records, in order."""
        ids = [record_id for record_id in self._graph.listed(kind) if record_id > after]
        if kind == "message":
            ids = [record_id for record_id in ids if not self._graph.named_by((kind, record_id), "episode")]
        return sorted(ids)[:limit]

    async def message_stamps(self, ids: Sequence[str]) -> dict[str, dt.datetime]:
        """When messages were learnt, by id."""
        known = self._graph.message_recorded_at
        return {one: known[one] for one in ids if one in known and one in self._graph.messages}

    async def put_message_stamps(self, stamps: Mapping[str, dt.datetime]) -> None:
        """Set when stored messages were learnt."""
        self._graph.message_recorded_at.update({one: at for one, at in stamps.items() if one in self._graph.messages})

    async def derivations(self, *, after: str, limit: int) -> list[tuple[str, list[str]]]:
        """Derived facts, and those from which each was made."""
        made = ((one, sorted(sources)) for one, sources in sorted(self._graph.derivations.items()) if sources)
        return _page((pair for pair in made if pair[0] > after), limit)

    async def replacements(self, kind: RecordKind, *, after: str, limit: int) -> list[Replacement]:
        """Audit edges at `limit` replaced facts or entities."""
        edges = [
            one for one in self._graph.trail.replacements.values() if one.record_kind == kind and one.older_id > after
        ]
        older = set(sorted({one.older_id for one in edges})[:limit])
        chosen = (one for one in edges if one.older_id in older)
        return sorted(chosen, key=lambda one: (one.older_id, one.newer_id, one.pass_id or ""))

    async def put_replacements(self, replacements: Sequence[Replacement]) -> None:
        """Write audit edges."""
        for one in replacements:
            self._graph.trail.put_replacement(one)

    async def put_passes(self, passes: Sequence[Pass]) -> None:
        """Write passes as they are."""
        for one in passes:
            self._graph.trail.put_pass(one)

    async def put_entries(self, pass_id: str, entries: Sequence[AuditEntry], *, start: int) -> None:
        """Write what a pass did."""
        self._graph.trail.put_entries(pass_id, entries, start=start)

    async def runs(self, *, after: int, limit: int) -> list[tuple[int, RunOutcome]]:
        """Scored runs with their places."""
        page = _numbered(self._graph.runs.values(), after, limit)
        return [(place, run.model_copy(update={"holdout": dict(sorted(run.holdout.items()))})) for place, run in page]

    async def gate_passes(self, *, after: int, limit: int) -> list[tuple[int, GatePass]]:
        """Passes of the gate with their places."""
        page = _numbered(self._graph.gate_passes.values(), after, limit)
        return [(place, one.model_copy(deep=True)) for place, one in page]

    async def put_gate_passes(self, passes: Sequence[tuple[int, GatePass]]) -> None:
        """Write passes of the gate; they come in the order of their places."""
        for _, one in passes:
            self._graph.add_gate_pass(one.model_copy(deep=True))

    async def servings(self, *, after: int, limit: int) -> list[tuple[int, Serving]]:
        """What was served to runs."""
        return _numbered(self._graph.servings.values(), after, limit)

    async def put_servings(self, servings: Sequence[Serving]) -> None:
        """Write what was served to runs."""
        self._graph.servings.update({one.run_id: one for one in servings})

    async def receipts(self, *, after: str, limit: int) -> list[tuple[str, Receipt]]:
        """Idempotency keys, and the receipts of their writes."""
        keys = _page(sorted(key for key in self._receipts if key > after), limit)
        return [(key, self._receipts[key].model_copy(deep=True)) for key in keys]

    async def put_receipts(self, receipts: Sequence[tuple[str, Receipt]]) -> None:
        """Write receipts."""
        for key, receipt in receipts:
            self._receipts.setdefault(key, receipt.model_copy(deep=True))

    async def tier_items(self, tier: Tier, *, scope: str, after: str, limit: int) -> list[TierItem]:
        """Items of a durable tier."""
        items = [one for one in self._tiers.items if one.tier == tier and (one.scope or "", one.id) > (scope, after)]
        return _page(sorted(items, key=lambda one: (one.scope or "", one.id)), limit)

    async def put_tier_items(self, items: Sequence[TierItem]) -> None:
        """Write items as they are."""
        self._tiers.replace(items)


def _page(items: Iterable[T], limit: int) -> list[T]:
    return list(islice(items, limit))


def _numbered(items: Iterable[T], after: int, limit: int) -> list[tuple[int, T]]:
    return list(islice(enumerate(items, 1), after, after + limit))
