"""`ingest`: messages of a file go into the memory."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from remembrancer.cli.connection import NAMESPACE, EmbedderOption, NamespaceOption, Server, open_memory
from remembrancer.cli.embedders import EmbedderName
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.extractors import Extracting, Reader
from remembrancer.cli.message_file import ExportOptions, FileFormat, Messages, messages_in
from remembrancer.cli.output import Output
from remembrancer.cli.standard_streams import file_name
from remembrancer.hierarchy.exports import Branches, Export
from remembrancer.hierarchy.ingestion import IngestReport
from remembrancer.memory import Memory
from remembrancer.records import InvalidInputError, RecordKind
from remembrancer.records.key import require_key

_SHOWN_FAILURES = 20
AdmissionOption = Annotated[
    bool,
    typer.Option("--admission", help="Leave out facts that are stored already, or come back after eviction."),
]
_KINDS: tuple[RecordKind, ...] = ("message", "episode", "fact", "theme", "entity", "relationship")


async def ingest(
    server: Server,
    output: Output,
    extracting: Extracting,
    file: Annotated[
        str, typer.Argument(metavar="FILE", parser=file_name, help="JSON Lines, JSON, or an export; - for stdin.")
    ],
    namespace: NamespaceOption = NAMESPACE,
    embedder: EmbedderOption = EmbedderName.AUTO,
    file_format: Annotated[
        FileFormat, typer.Option("--format", help="auto: by the file's ending, else by what it begins with.")
    ] = FileFormat.AUTO,
    branches: Annotated[
        Branches,
        typer.Option("--branches", help="Of an export: the branch of a conversation that was shown last, or all."),
    ] = Branches.CURRENT,
    speaker: Annotated[
        str | None, typer.Option("--speaker", help="Of an export: the name of the person whose it is.")
    ] = None,
    admission: AdmissionOption = False,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="The same key with the same messages writes nothing a second time."),
    ] = None,
) -> ExitCode:
    """Take the messages of a file in.

    A message has role, content and timestamp, and may have speaker, conversation, metadata and id. Messages that are
    stored already change nothing, so an ingest that stopped is simply run again.

    A file is checked whole before anything is written, whether JSON (a list, or an object with such a list as
    `messages`) or JSON Lines. From stdin JSON Lines are read as a stream, once there is a first: a bad line stops the
    ingest, and what came before it may be stored.

    Facts are read by rules, or by a language model: --llm-model qwen3:8b --llm-url http://localhost:11434/v1. Episodes
    that it does not read in time or within the budget are read by rules; retry-extraction reads them again. Ends with
    1 when there are such, or some from which nothing could be read.

    An export of ChatGPT or Claude (conversations.json), or of Gemini by Google Takeout (MyActivity.json), is read
    whole, also from the ZIP archive that it comes in. Pictures, calls of tools and what else is no text are skipped,
    and told.
    """
    if idempotency_key is not None:
        require_key(idempotency_key, field="--idempotency-key")
    read: list[Export] = []
    options = ExportOptions(branches=branches, speaker=speaker, told=read.append)
    with messages_in(file, file_format=file_format, exports=options) as messages:
        async with (
            extracting.opened(output) as reader,
            open_memory(server, output, namespace=namespace, embedder=embedder, writes=True, reader=reader) as memory,
        ):
            report = await _take_in(memory, messages, output, idempotency_key=idempotency_key, admission=admission)
            document = document_of(report, memory, reader)
    for export in read:
        _tell_export(output, export)
    _tell(output, report)
    output.document({**document, **({"export": _export_document(read[0])} if read else {})})
    return exit_code_of_report(report)


async def _take_in(
    memory: Memory, messages: Messages, output: Output, *, idempotency_key: str | None, admission: bool
) -> IngestReport:
    stored = 0
    total = len(messages) if isinstance(messages, list) else None
    with output.counting("Reading messages", total=total) as progress:

        def count(read: int) -> None:
            nonlocal stored
            stored = read
            progress(read)

        try:
            return await memory.ingest(messages, idempotency_key=idempotency_key, admission=admission, progress=count)
        except InvalidInputError:
            if stored:
                output.note(f"the first {stored} messages are stored: mend the file and run it again")
            raise


def _tell_export(output: Output, export: Export) -> None:
    skipped = ", ".join(f"{number} {reason}" for reason, number in export.skipped_by_reason.items())
    output.text(f"An export of {export.format}: {len(export.messages)} messages. Skipped: {skipped or 'nothing'}.")
    if export.estimated_times:
        output.text(f"{export.estimated_times} messages had no time and got that of the message before.")


def _export_document(export: Export) -> dict[str, object]:
    return {
        "format": export.format.value,
        "messages": len(export.messages),
        "estimated_times": export.estimated_times,
        "skipped": [{"place": one.place, "reason": one.reason} for one in export.skipped],
    }


def document_of(report: IngestReport, memory: Memory, reader: Reader) -> dict[str, Any]:
    """What a command that read messages tells as JSON."""
    return {
        "namespace": memory.namespace,
        "embedder": memory.embedder.model if memory.embedder is not None else None,
        "extractor": reader.name,
        "counts": report.counts,
        **report.model_dump(mode="json"),
    }


def exit_code_of_report(report: IngestReport) -> ExitCode:
    """How a command ends that read messages: fine when all were read as asked."""
    return ExitCode.FAILED if report.failed or report.fell_back else ExitCode.FINE


def _tell(output: Output, report: IngestReport) -> None:
    output.text(f"{report.messages_read} messages read, {len(report.duplicates)} of them stored before.")
    if report.replayed_batches:
        output.text(f"{report.replayed_batches} of {report.batches} batches were written by an earlier call.")
    tell_records(output, report)
    tell_refused(output, report)
    tell_reading(output, report)


def tell_records(output: Output, report: IngestReport) -> None:
    """How many records of each kind are new, changed and gone."""
    rows = [
        [kind, *(str(len(by_kind.get(kind, ()))) for by_kind in (report.created, report.changed, report.removed))]
        for kind in _KINDS
    ]
    output.table("kind", "new", "changed", "removed", rows=rows, numbers=("new", "changed", "removed"))


def tell_refused(output: Output, report: IngestReport) -> None:
    """The facts that were left out, and why."""
    if not report.refused:
        return
    output.text("", f"{len(report.refused)} facts were left out, since they are stored or were evicted:")
    rows = [[one.reason, one.content, f"{one.similarity:.2f}", one.matched_id] for one in report.refused]
    output.table("why", "fact", "similarity", "to", rows=rows[:_SHOWN_FAILURES], numbers=("similarity",))
    _tell_more(output, len(rows))


def tell_reading(output: Output, report: IngestReport) -> None:
    """What could not be read as asked, what was not taken, and what the model was used for."""
    for told, episodes in (
        ("Nothing could be read from {} episodes; their messages are stored:", report.failed),
        ("{} episodes were read in a simpler way than asked for:", report.fell_back),
    ):
        if episodes:
            output.text("", told.format(len(episodes)))
            output.text(*(f"  {one.episode_id}  {one.reason}" for one in episodes[:_SHOWN_FAILURES]))
            _tell_more(output, len(episodes))
    if report.failed or report.fell_back:
        output.text("`remembrancer retry-extraction` reads them again: give it server, namespace, and what reads.")
    if report.dropped:
        output.text("", "Of what was read this was not taken:")
        counted = Counter[tuple[str, str]]()
        for lost in report.dropped:
            counted[lost.part, lost.reason] += lost.count
        output.text(*(f"  {count} {part}: {reason}" for (part, reason), count in counted.most_common()))
    if report.model_calls:
        output.text("", f"The model was called {report.model_calls} times, {report.model_tokens:,} tokens.")


def _tell_more(output: Output, count: int) -> None:
    if count > _SHOWN_FAILURES:
        output.text(f"  and {count - _SHOWN_FAILURES} more; --json names all")
