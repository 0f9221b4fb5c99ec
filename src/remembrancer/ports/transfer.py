"""What it takes to carry a whole namespace from one store to another, besides reading and putting records.

Everything here may be done again and then changes nothing, so that an import that was cut off is simply run again.
Pages are asked for by the key after which they begin.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from remembrancer.ports.serving import Serving
from remembrancer.records import AuditEntry, GatePass, Pass, Receipt, RecordKind, RunOutcome
from remembrancer.records.history import Replacement
from remembrancer.records.tier import Tier, TierItem


class Transfer(Protocol):
    """The parts of one namespace that no other port reads or writes whole."""

    async def begin(self, marker: str) -> bool:
        """Begin an import, or go on with it; `False`: the namespace holds something that this one did not bring.

        Args:
            marker: Names the import by what it brings.
        """
        ...

    async def finish(self, marker: str) -> None:
        """The import is complete; from here on the namespace is like any other."""
        ...

    async def record_ids(self, kind: RecordKind, *, after: str, limit: int) -> list[str]:
        """Ids of stored records, in order; of messages those alone that are in no episode."""
        ...

    async def message_stamps(self, ids: Sequence[str]) -> dict[str, dt.datetime]:
        """When messages were learnt, by id."""
        ...

    async def put_message_stamps(self, stamps: Mapping[str, dt.datetime]) -> None:
        """Set when stored messages were learnt."""
        ...

    async def derivations(self, *, after: str, limit: int) -> list[tuple[str, list[str]]]:
        """Derived facts in order of id, and those from which each was made, likewise."""
        ...

    async def replacements(self, kind: RecordKind, *, after: str, limit: int) -> list[Replacement]:
        """Audit edges at `limit` replaced facts or entities, in the order of older id, newer id and pass."""
        ...

    async def put_replacements(self, replacements: Sequence[Replacement]) -> None:
        """Write audit edges of facts and entities."""
        ...

    async def put_passes(self, passes: Sequence[Pass]) -> None:
        """Write passes as they are, changing no record."""
        ...

    async def put_entries(self, pass_id: str, entries: Sequence[AuditEntry], *, start: int) -> None:
        """Write what a pass did, from a place in its plan on."""
        ...

    async def runs(self, *, after: int, limit: int) -> list[tuple[int, RunOutcome]]:
        """Scored runs with their places, from 1, in the order in which they were recorded first."""
        ...

    async def gate_passes(self, *, after: int, limit: int) -> list[tuple[int, GatePass]]:
        """Passes of the gate with their places, from 1, in order."""
        ...

    async def put_gate_passes(self, passes: Sequence[tuple[int, GatePass]]) -> None:
        """Write passes of the gate at their places; the facts stay as they are."""
        ...

    async def servings(self, *, after: int, limit: int) -> list[tuple[int, Serving]]:
        """What was served to runs, with places that grow, in the order in which they were opened."""
        ...

    async def put_servings(self, servings: Sequence[Serving]) -> None:
        """Write what was served to runs, each in place of what is known."""
        ...

    async def receipts(self, *, after: str, limit: int) -> list[tuple[str, Receipt]]:
        """Idempotency keys in order, and the receipts of the writes that had them."""
        ...

    async def put_receipts(self, receipts: Sequence[tuple[str, Receipt]]) -> None:
        """Write receipts."""
        ...

    async def tier_items(self, tier: Tier, *, scope: str, after: str, limit: int) -> list[TierItem]:
        """Items of a durable tier in the order of scope and id; items without a scope come first, and are in `""`."""
        ...

    async def put_tier_items(self, items: Sequence[TierItem]) -> None:
        """Write items as they are, their uses too."""
        ...


@runtime_checkable
class Transfers(Protocol):
    """A store whose namespace can be exported and imported whole."""

    @property
    def transfer(self) -> Transfer:
        """Carries what other ports do not."""
        ...
