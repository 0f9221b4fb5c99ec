"""Runs in memory: what was served to each, and what each made."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from remembrancer.inmemory.graph import RecordGraph
from remembrancer.ports.serving import MAX_RUNS, RunReach, Serving, served_facts
from remembrancer.records.key import require_key

logger = logging.getLogger(__name__)


class RunRegister:
    """The part of a store in memory that knows runs; see `remembrancer.ports.serving.TracksRuns`."""

    _graph: RecordGraph

    async def serve_run(
        self, run_id: str, fact_ids: Sequence[str], *, holdout: Mapping[str, float] | None = None
    ) -> Serving:
        """Add to what was served to a run."""
        wanted = require_key(run_id, field="run_id")
        more = served_facts(fact_ids, holdout)
        servings = self._graph.servings
        serving = servings.get(wanted, Serving(run_id=wanted)).extended(more)
        is_new = wanted not in servings
        servings[wanted] = serving
        if is_new and len(servings) > MAX_RUNS:
            forgotten = next(iter(servings))
            del servings[forgotten]
            logger.warning("the register of runs is full: 1 run that was opened first is forgotten")
        return serving

    async def get_serving(self, run_id: str) -> Serving | None:
        """What was served to a run; `None`: it is not in the register."""
        return self._graph.servings.get(require_key(run_id, field="run_id"))

    async def run_reach(self, run_id: str) -> RunReach:
        """What a run made, closed and quarantined records too."""
        wanted = require_key(run_id, field="run_id")
        reached = set(self._made_by(wanted))
        pending = list(reached)
        while pending:
            fresh = set(self._made_from(pending.pop())) - reached
            reached |= fresh
            pending += fresh
        edges = (one.id for one in self._graph.relationships.values() if one.provenance.run_id == wanted)
        return RunReach(fact_ids=sorted(reached), relationship_ids=sorted(edges))

    def _made_by(self, run_id: str) -> Iterator[str]:
        graph = self._graph
        yield from (fact.id for fact in graph.facts.values() if fact.provenance.run_id == run_id)
        for message in graph.messages.values():
            if message.provenance is not None and message.provenance.run_id == run_id:
                yield from graph.named_by(("message", message.id), "fact")
                for episode_id in graph.named_by(("message", message.id), "episode"):
                    facts = graph.named_by(("episode", episode_id), "fact")
                    yield from (fact_id for fact_id in facts if not graph.facts[fact_id].source_message_ids)
        for episode in graph.episodes.values():
            if episode.provenance.run_id == run_id:
                yield from graph.named_by(("episode", episode.id), "fact")

    def _made_from(self, fact_id: str) -> Iterator[str]:
        yield from self._graph.derived_from(fact_id)
        for replacement in self._graph.trail.newer(fact_id):
            made_by = self._graph.trail.passes.get(replacement.pass_id or "")
            is_merged = made_by is not None and made_by.kind == "consolidation"
            if is_merged and replacement.older_id == fact_id and replacement.undone_by is None:
                yield replacement.newer_id
