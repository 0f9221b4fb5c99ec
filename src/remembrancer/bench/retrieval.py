"""The retrieval benchmark: memories are filled, asked, scored and left to their owner to remove.

Everything goes through the public doors of the library: `Memory.ingest`, `Memory.recall`, and the port of extractors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum

from remembrancer.bench.baselines import BASELINES, answer_flat
from remembrancer.bench.data import Material, RetrievalSet
from remembrancer.bench.facts import NoExtractor, ReferenceExtractor
from remembrancer.bench.outcome import DEPTH, Item, Run
from remembrancer.bench.scoring import Scores, score_run
from remembrancer.bench.vectors import RememberingEmbedder
from remembrancer.memory import Memory
from remembrancer.ports import Embedder, Extractor
from remembrancer.records import InvalidInputError
from remembrancer.retrieval.recall import Recall

OWN = "remembrancer"
"""The name of the library's own run among the baselines."""


class FactSource(StrEnum):
    """Where the facts of a memory come from: nowhere, the library's default extractor, or the data."""

    NONE = "none"
    RULES = "rules"
    REFERENCE = "reference"


MemoryOpener = Callable[[str, Embedder, Extractor | None], AbstractAsyncContextManager[Memory]]
"""Opens an empty memory for the material of this id, which is nobody else's, and removes what is in it at the end."""

Progress = Callable[[int], None]


@dataclass(frozen=True)
class RetrievalReport:
    """What a run gave.

    Attributes:
        facts: Where they came from.
        runs: The answers, the library's own under `OWN`, then those of the baselines.
        scores: Of each run, by group of questions.
        stored: How many records of each kind the memories held, all together.
        failed: Episodes from which nothing could be read.
        ingest_seconds: Filling all memories, embedding included.
        recall_seconds: Each recall; questions had been embedded before.
    """

    facts: FactSource
    runs: Mapping[str, Run]
    scores: Mapping[str, Mapping[str, Scores]]
    stored: Mapping[str, int]
    failed: int
    ingest_seconds: float
    recall_seconds: tuple[float, ...]


@dataclass
class _Tally:
    progress: Progress
    done: int = 0
    stored: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    ingest_seconds: float = 0.0
    recall_seconds: list[float] = field(default_factory=list)

    def advance(self, steps: int) -> None:
        self.done += steps
        self.progress(self.done)


def steps_of(data: RetrievalSet) -> int:
    """How many steps a run will tell of: messages taken in and questions asked."""
    return len(data.sources) + len(data.questions)


def facts_of(data: RetrievalSet, asked: FactSource | None) -> FactSource:
    """Where facts come from: as asked; unasked from rules, and from nowhere when the data has facts of its own.

    Raises:
        InvalidInputError: The data's own facts are asked for, and it has none.
    """
    if asked is None:
        return FactSource.NONE if data.has_facts else FactSource.RULES
    if asked is FactSource.REFERENCE and not data.has_facts:
        raise InvalidInputError("facts", f"{data.name!r} has no facts of its own")
    return asked


async def run_retrieval(
    data: RetrievalSet,
    open_memory: MemoryOpener,
    *,
    embedder: Embedder,
    facts: FactSource | None = None,
    whole: bool = False,
    progress: Progress = lambda _: None,
) -> RetrievalReport:
    """Fill a memory with each conversation or corpus, ask its questions, and score the answers.

    Args:
        data: What to ask.
        open_memory: Opens the memories, one after the other.
        embedder: For the memories and for the baselines; each text is embedded once.
        facts: Where facts come from; see `facts_of`.
        whole: Show messages whole, not their most telling sentences.
        progress: Told how many of `steps_of` are done.

    Raises:
        InvalidInputError: Reference facts are asked for, and the data has none.
        ServerUnavailableError: The database could not be reached.
    """
    source = facts_of(data, facts)
    remembering = RememberingEmbedder(embedder)
    tally = _Tally(progress)
    runs: dict[str, dict[str, list[Item]]] = {name: {} for name in (OWN, *BASELINES)}
    for material in data.materials:
        async with open_memory(material.id, remembering, _extractor(source, material)) as memory:
            await _fill(memory, material, tally)
            runs[OWN].update(await _ask(memory, material, remembering, tally, whole=whole))
        for name, answers in (await answer_flat(material, kind=data.kind, embedder=remembering)).items():
            runs[name].update(answers)
    return RetrievalReport(
        facts=source,
        runs=runs,
        scores={name: score_run(data, run) for name, run in runs.items()},
        stored=tally.stored,
        failed=tally.failed,
        ingest_seconds=tally.ingest_seconds,
        recall_seconds=tuple(tally.recall_seconds),
    )


def _extractor(source: FactSource, material: Material) -> Extractor | None:
    if source is FactSource.RULES:
        return None
    return ReferenceExtractor(material) if source is FactSource.REFERENCE else NoExtractor()


async def _fill(memory: Memory, material: Material, tally: _Tally) -> None:
    before = tally.done
    started = time.perf_counter()
    report = await memory.ingest(
        [source.message for source in material.sources], progress=lambda read: tally.progress(before + read)
    )
    tally.ingest_seconds += time.perf_counter() - started
    tally.advance(len(material.sources))
    tally.failed += len(report.failed)
    for sign, by_kind in ((1, report.created), (-1, report.removed)):
        for kind, ids in by_kind.items():
            tally.stored[kind] = tally.stored.get(kind, 0) + sign * len(ids)


async def _ask(
    memory: Memory, material: Material, embedder: RememberingEmbedder, tally: _Tally, *, whole: bool
) -> dict[str, list[Item]]:
    # Two turns alike in speaker, words and time are one message, which then stands for both.
    sources_of: dict[str, list[str]] = {}
    for source in material.sources:
        sources_of.setdefault(source.message.id, []).append(source.id)
    await embedder.embed([question.text for question in material.questions])
    answers = {}
    for question in material.questions:
        started = time.perf_counter()
        found = await memory.recall(question.text, limit=DEPTH, whole_messages=whole)
        tally.recall_seconds.append(time.perf_counter() - started)
        answers[question.id] = _items(found, sources_of)
        tally.advance(1)
    return answers


def _items(found: Recall, sources_of: Mapping[str, list[str]]) -> list[Item]:
    return [
        Item(tuple(source_id for message_id in hit.source_ids for source_id in sources_of[message_id]), line)
        for hit, line in zip(found.hits, found.lines(), strict=True)
    ]
