"""`bench`: how well the memory finds evidence, and the extractor reads, on data that the user brings along."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from remembrancer.bench.data import read_retrieval_set
from remembrancer.bench.extraction import run_extraction, write_readings
from remembrancer.bench.labels import read_extraction_set
from remembrancer.bench.outcome import write_run
from remembrancer.bench.retrieval import OWN, FactSource, MemoryOpener, facts_of, run_retrieval, steps_of
from remembrancer.cli.benchmark_report import (
    extraction_document,
    retrieval_document,
    tell_extraction,
    tell_retrieval,
)
from remembrancer.cli.connection import Address, Server, open_database
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.cli.standard_streams import named_file
from remembrancer.graph.namespaces import remove_namespace
from remembrancer.hierarchy import RuleBasedExtractor
from remembrancer.hierarchy.extraction.spacy import SpacyExtractor, load_pipeline
from remembrancer.memory import Memory
from remembrancer.ports import Embedder, Extractor
from remembrancer.providers.embedding import HashingEmbedder, MiniLMEmbedder, WordLlamaEmbedder
from remembrancer.records import InvalidInputError

RUN_FILE = f"{OWN}.jsonl"
REPORT_FILE = "report.json"
BASELINE_FOLDER = "baselines"


class BenchEmbedder(StrEnum):
    """What `--embedder` takes here: a model, for there is no namespace that could have one already."""

    MINILM = "minilm"
    WORDLLAMA = "wordllama"
    HASHING = "hashing"


_EMBEDDERS: dict[BenchEmbedder, Callable[[], Embedder]] = {
    BenchEmbedder.MINILM: MiniLMEmbedder,
    BenchEmbedder.WORDLLAMA: WordLlamaEmbedder,
    BenchEmbedder.HASHING: HashingEmbedder,
}
_RULES = "rules"
_SPACY = "spacy:"

DataOption = Annotated[
    Path, typer.Option("--data", metavar="FILE", parser=named_file, help="The data: one JSON document.")
]
OutOption = Annotated[
    Path,
    typer.Option("--out", metavar="FOLDER", parser=named_file, help="Where the runs go; made when it is not there."),
]


async def retrieval(
    server: Server,
    output: Output,
    data: DataOption,
    out: OutOption,
    embedder: Annotated[
        BenchEmbedder, typer.Option("--embedder", metavar="NAME", help="minilm, wordllama or hashing.")
    ] = BenchEmbedder.MINILM,
    facts: Annotated[
        FactSource | None,
        typer.Option(
            "--facts",
            metavar="SOURCE",
            help="none: messages alone; rules: the default extractor's; reference: those that came with the data. "
            "By default rules, and none when the data has facts of its own.",
        ),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Show messages whole, not their most telling sentences.")
    ] = False,
) -> ExitCode:
    """Measure how well recall finds the evidence for questions, beside flat baselines on the same vectors.

    Each conversation or corpus becomes a memory of its own, in a namespace named bench-... that is removed at the end.
    FOLDER gets remembrancer.jsonl, the baselines in baselines/, and report.json. Ends with 1 when nothing could be
    read from some episodes.
    """
    read = read_retrieval_set(data)
    source = facts_of(read, facts)
    _check_folder(out)
    model = _EMBEDDERS[embedder]()
    await model.embed(["."])  # A model that is not installed is better missed now.
    output.note(f"vectors by {model.model}, facts: {source}")
    async with server.reach(output) as address:
        with output.counting("Remembering and recalling", total=steps_of(read)) as progress:
            report = await run_retrieval(
                read, _opener(address), embedder=model, facts=source, whole=whole, progress=progress
            )
    for name, run in report.runs.items():
        write_run(out / RUN_FILE if name == OWN else out / BASELINE_FOLDER / f"{name}.jsonl", run)
    document = retrieval_document(read, report, embedder=model.model, whole=whole)
    _write_report(out, document)
    tell_retrieval(output, report)
    output.document(document)
    return ExitCode.FAILED if report.failed else ExitCode.FINE


async def extraction(
    output: Output,
    data: DataOption,
    out: OutOption,
    extractor: Annotated[
        str,
        typer.Option(
            "--extractor",
            metavar="NAME",
            help="rules, or spacy:NAME with the name of an installed spaCy pipeline or the path of its folder.",
        ),
    ] = _RULES,
) -> None:
    """Measure what an extractor reads from labelled sentences and passages, and what it makes up. Needs no server.

    FOLDER gets remembrancer.jsonl and report.json.
    """
    read = read_extraction_set(data)
    _check_folder(out)
    reader = _extractor(extractor)
    with output.counting("Reading", total=len(read.cases)) as progress:
        report = await run_extraction(read, reader, progress=progress)
    write_readings(out / RUN_FILE, report.readings)
    document = extraction_document(read, report, extractor=extractor)
    _write_report(out, document)
    tell_extraction(output, report)
    output.document(document)


def _extractor(name: str) -> Extractor:
    if name == _RULES:
        return RuleBasedExtractor()
    if name.startswith(_SPACY):
        return SpacyExtractor(load_pipeline(name.removeprefix(_SPACY)))
    raise InvalidInputError("--extractor", f"expected {_RULES} or {_SPACY}NAME, got {name!r}")


def _opener(address: Address) -> MemoryOpener:
    run = secrets.token_hex(4)

    @asynccontextmanager
    async def open_one(material_id: str, embedder: Embedder, extractor: Extractor | None) -> AsyncIterator[Memory]:
        namespace = f"bench-{run}-{material_id}"
        try:
            async with Memory.connect(
                address.uri,
                auth=address.auth,
                database=address.database,
                namespace=namespace,
                embedder=embedder,
                extractor=extractor,
            ) as memory:
                try:
                    yield memory
                finally:
                    await memory.clear()
        finally:
            async with open_database(address) as database:
                await remove_namespace(database, namespace)

    return open_one


def _check_folder(out: Path) -> None:
    """See that the run will be the only one directly in the folder, before it takes minutes to make.

    Raises:
        InvalidInputError: It is no folder, cannot be made, or holds another run.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        others = sorted(file.name for file in out.glob("*.jsonl") if file.name != RUN_FILE)
    except OSError as error:
        raise InvalidInputError("--out", f"{out} cannot be written: {error.strerror or error}") from error
    if others:
        raise InvalidInputError("--out", f"{out} holds another run, {others[0]}: give a folder without")


def _write_report(out: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    (out / REPORT_FILE).write_text(text, encoding="utf-8")
