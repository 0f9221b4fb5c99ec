"""The hooks of an agent's nodes, blocking: the twin of `remembrancer.memory.agent`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from remembrancer.hierarchy.reflection import MIN_SENTENCE_LENGTH
from remembrancer.lifecycle.fact_writer import NewFact, WriterOptions, WrittenFacts
from remembrancer.lifecycle.quarantine import QuarantineReport
from remembrancer.memory.agent import ReflectedFacts
from remembrancer.ports.serving import Serving
from remembrancer.retrieval.agent import MemoryDirective, RetrievedMemory, RetrieverOptions
from remembrancer.sync.base import SyncMemoryBase


class SyncAgentHooks(SyncMemoryBase):
    """The methods of `SyncMemory` that an agent's runtime calls."""

    def served_to(self, run_id: str) -> Serving | None:
        """What was served to a run so far, as `Memory.served_to`."""
        return self.run(self._memory.served_to, run_id)

    def memory_retriever(
        self,
        query: MemoryDirective | Mapping[str, Any] | None,
        options: RetrieverOptions | Mapping[str, Any] | None = None,
    ) -> RetrievedMemory:
        """Remind a node of what it asks for, as `Memory.memory_retriever`."""
        return self.run(self._memory.memory_retriever, query, options)

    def memory_writer(
        self,
        facts: Iterable[NewFact | Mapping[str, Any]],
        options: WriterOptions | Mapping[str, Any] | None = None,
    ) -> WrittenFacts:
        """Write facts of a node, as `Memory.memory_writer`."""
        return self.run(self._memory.memory_writer, facts, options)

    def reflect(
        self,
        text: str,
        tags: Sequence[str] = (),
        run_id: str | None = None,
        node_id: str | None = None,
        *,
        iteration: int | None = None,
        idempotency_key: str | None = None,
        agent_id: str | None = None,
        admission: bool = False,
        min_sentence_length: int = MIN_SENTENCE_LENGTH,
        source_fact_ids: Sequence[str] = (),
    ) -> ReflectedFacts:
        """Distil a note into facts, as `Memory.reflect`."""
        return self.run(
            self._memory.reflect,
            text,
            tags,
            run_id,
            node_id,
            iteration=iteration,
            idempotency_key=idempotency_key,
            agent_id=agent_id,
            admission=admission,
            min_sentence_length=min_sentence_length,
            source_fact_ids=source_fact_ids,
        )

    def quarantine_run(self, run_id: str) -> QuarantineReport:
        """Hide what a run made, as `Memory.quarantine_run`."""
        return self.run(self._memory.quarantine_run, run_id)

    def release_run(self, run_id: str) -> QuarantineReport:
        """Show again what was hidden for a run, as `Memory.release_run`."""
        return self.run(self._memory.release_run, run_id)
