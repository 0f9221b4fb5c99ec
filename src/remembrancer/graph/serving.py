"""Runs in Neo4j: what was served to each, as a node of its own, and what each made, by indexes on the run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.ports.serving import MAX_RUNS, RunReach, ServedFact, Serving, served_facts
from remembrancer.records import Clock, Receipt
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_key

logger = logging.getLogger(__name__)


class _Store(Protocol):
    database: Database
    _clock: Clock

    @property
    def namespace(self) -> str: ...

    async def _read(self, name: str, **parameters: Any) -> list[Row]: ...


class RunRegister:
    """The part of a store in Neo4j that knows runs; fulfils `remembrancer.ports.serving.TracksRuns`."""

    async def serve_run(
        self: _Store, run_id: str, fact_ids: Sequence[str], *, holdout: Mapping[str, float] | None = None
    ) -> Serving:
        """Add to what was served to a run, in one transaction."""
        wanted = require_key(run_id, field="run_id")
        more = served_facts(fact_ids, holdout)
        common = {"namespace": self.namespace, "run_id": wanted}
        at = require_instant(self._clock(), field="clock")

        async def work(transaction: Transaction) -> tuple[Serving, int]:
            opened = first(await transaction.run(queries.load("serving.open"), {**common, "most": MAX_RUNS}))
            serving = serving_from(wanted, opened).extended(more)
            columns = {
                "fact_ids": [one.fact_id for one in serving.facts],
                "served": [one.is_served for one in serving.facts],
                "chances": [one.chance for one in serving.facts],
            }
            await transaction.run(queries.load("serving.put"), {**common, **columns, "at": at})
            return serving, opened["forgotten"]

        serving, forgotten = await self.database.write(work)
        if forgotten:
            logger.warning("the register of runs is full: %d that were opened first are forgotten", forgotten)
        return serving

    async def get_serving(self: _Store, run_id: str) -> Serving | None:
        """What was served to a run; `None`: it is not in the register."""
        wanted = require_key(run_id, field="run_id")
        for row in await self._read("serving.get", run_id=wanted):
            return serving_from(wanted, row)
        return None

    async def run_reach(self: _Store, run_id: str) -> RunReach:
        """What a run made: one statement, and one more for each step that facts were derived from facts."""
        wanted = require_key(run_id, field="run_id")
        made = first(await self._read("run.reach", run_id=wanted))
        reached, latest = set(made["facts"]), made["facts"]
        while latest:
            derived = first(await self._read("run.derived", facts=latest))["derived"]
            latest = [fact_id for fact_id in derived if fact_id not in reached]
            reached.update(latest)
        return RunReach(fact_ids=sorted(reached), relationship_ids=made["relationships"])

    async def find_receipt(self: _Store, idempotency_key: str) -> Receipt | None:
        """The receipt of the write that had this key, or `None`."""
        key = require_key(idempotency_key, field="idempotency_key")
        for row in await self._read("write.find", key=key):
            return Receipt.model_validate_json(row["result"]).model_copy(update={"replayed": True})
        return None


def serving_from(run_id: str, row: Mapping[str, Any]) -> Serving:
    """The serving of a row of columns."""
    columns = zip(row["fact_ids"], row["served"], row["chances"], strict=True)
    facts = [ServedFact(fact_id=one, is_served=is_served, chance=chance) for one, is_served, chance in columns]
    return Serving(run_id=run_id, facts=facts)
