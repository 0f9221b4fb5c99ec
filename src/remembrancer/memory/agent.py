"""The hooks of an agent's nodes: what they are reminded of, what they write, and taking a run back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from remembrancer.hierarchy.reflection import MIN_SENTENCE_LENGTH, DroppedSentence, reflect
from remembrancer.lifecycle.fact_writer import (
    FactWriter,
    NewFact,
    WriterOptions,
    WrittenFacts,
    checked_writer_options,
)
from remembrancer.lifecycle.quarantine import QuarantineReport, quarantine_run, release_run
from remembrancer.memory.serving import ServingMemory
from remembrancer.ports.arguments import keys, text
from remembrancer.records.base import Listed
from remembrancer.retrieval.agent import (
    MemoryDirective,
    RetrievedMemory,
    RetrieverOptions,
    checked_options,
    retrieve_for_agent,
)


class ReflectedFacts(WrittenFacts):
    """What a reflection wrote.

    Attributes:
        dropped: Sentences that were not kept, and why; not told again of a reflection that is replayed.
        fell_back: Why the language model was not used though there is one.
    """

    dropped: Listed[DroppedSentence] = ()
    fell_back: str | None = None


class AgentHooks(ServingMemory):
    """The methods of `Memory` that an agent's runtime calls."""

    async def memory_retriever(
        self,
        query: MemoryDirective | Mapping[str, Any] | None,
        options: RetrieverOptions | Mapping[str, Any] | None = None,
    ) -> RetrievedMemory:
        """Remind a node of what it asks for; `to_section()` of the answer stands before the run's own state.

        Args:
            query: `None`: nothing is looked up. `{}`: the run's goal is the text. `{"tags": [...]}`: facts with one of
                these. `{"entity_ids": [...]}`: the graph around them. `{"text": ...}`: what is similar, by words where
                there is no embedder.
            options: `max_facts` (20), `goal`, `run_id` (to record what is served, so that `record_outcome` knows it),
                `min_similarity` (0.5), `max_hops` (2), `valid_at` (now).

        Raises:
            InvalidInputError: An argument is wrong or unknown; names it.
            ServerUnavailableError: The database or the embedder could not be reached.
        """
        wanted = checked_options(options)
        register = self._register_for(wanted.run_id)
        found = await retrieve_for_agent(
            self.store, self.index, query, wanted, embedder=self.embedder, clock=self._clock
        )
        if query is not None:
            await self._serve(register, wanted.run_id, (fact.id for fact in found.facts))
        for fact in found.facts:
            self._echoes.remember(fact.content, fact_id=fact.id)
        return found

    async def memory_writer(
        self,
        facts: Iterable[NewFact | Mapping[str, Any]],
        options: WriterOptions | Mapping[str, Any] | None = None,
    ) -> WrittenFacts:
        """Write facts of a node in one transaction, once per idempotency key.

        Args:
            facts: Each `content`, and perhaps `tags`, `provenance`, `valid_from`, `valid_until`, `entity_ids`,
                `source_fact_ids`. A fact with sources is trusted no more than the least of them, and hidden with it.
            options: `idempotency_key`, or `run_id`, `node_id` and `iteration`, which make it; the same key again
                writes nothing and gives the first ids. `agent_id`; `admission` refuses duplicates and evicted facts,
                and says so.

        Raises:
            InvalidInputError: An argument is wrong or unknown; names it. Nothing was written.
            NotFoundError: A source fact is not stored. Nothing was written.
            ServerUnavailableError: The database or the embedder could not be reached.
        """
        return await self._writer().write(facts, options)

    async def reflect(
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
        """Distil a note into facts, by the language model where the memory has one, else sentence by sentence.

        Args:
            text: The note.
            tags: Of every fact.
            run_id: The run that wrote it.
            node_id: The node.
            iteration: How often the node has run; with run and node it makes the idempotency key.
            idempotency_key: Instead of these. The same key again asks no model, writes nothing and gives the first ids.
            agent_id: The agent.
            admission: Refuse duplicates and evicted facts.
            min_sentence_length: Sentences with fewer characters are dropped by the rules, 0 or more.
            source_fact_ids: Facts that the note was made from.

        Raises:
            InvalidInputError: An argument is wrong; names it. Nothing was written.
            NotFoundError: A source fact is not stored. Nothing was written.
            ServerUnavailableError: The database or the embedder could not be reached.
        """
        note, labels = _checked_note(text, tags)
        given = {
            "idempotency_key": idempotency_key,
            "run_id": run_id,
            "node_id": node_id,
            "iteration": iteration,
            "agent_id": agent_id,
            "admission": admission,
        }
        options = checked_writer_options(given)
        writer = self._writer()
        if (earlier := await writer.replayed(options)) is not None:
            return ReflectedFacts(**dict(earlier))
        reflection = await reflect(note, model=self._llm, min_sentence_length=min_sentence_length)
        facts = [{"content": one, "tags": labels, "source_fact_ids": source_fact_ids} for one in reflection.lessons]
        written = await writer.write(facts, options)
        return ReflectedFacts(**dict(written), dropped=reflection.dropped, fell_back=reflection.fell_back)

    async def quarantine_run(self, run_id: str) -> QuarantineReport:
        """Hide the facts and relationships of a run, and all that was made from them, in one transaction.

        See `remembrancer.lifecycle.quarantine`. `release_run` shows them again; `undo` of the pass does too.

        Args:
            run_id: The run, as provenance names it.

        Raises:
            InvalidInputError: Not a run id.
            PlanOutdatedError: Others kept changing the same records. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        return await quarantine_run(self.store, run_id, clock=self._clock)

    async def release_run(self, run_id: str) -> QuarantineReport:
        """Show again what was hidden for a run, as it was before; what another run hides too stays hidden.

        Args:
            run_id: The run.

        Raises:
            InvalidInputError: Not a run id.
            PlanOutdatedError: Others kept changing the same records. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        return await release_run(self.store, run_id, clock=self._clock)

    def _writer(self) -> FactWriter:
        return FactWriter(self.store, self.index, embedder=self.embedder, clock=self._clock)


def _checked_note(note: object, tags: object) -> tuple[str, tuple[str, ...]]:
    return text(note, field="text"), keys(tags, field="tags")
