"""`ingest`: messages of a file go into the memory."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.connection import NAMESPACE, EmbedderOption, NamespaceOption, Server, open_memory
from remembrancer.cli.embedders import EmbedderName
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.message_file import ExportOptions, FileFormat, Messages, messages_in
from remembrancer.cli.output import Output
from remembrancer.hierarchy.exports import Branches, Export
from remembrancer.hierarchy.ingestion import IngestReport
from remembrancer.memory import Memory
from remembrancer.records import InvalidInputError, RecordKind

_SHOWN_FAILURES = 20
_KINDS: tuple[RecordKind, ...] = ("message", "episode", "fact", "theme", "entity", "relationship")


async def ingest(
    server: Server,
    output: Output,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines, JSON, or an export; - for stdin.")],
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
    admission: Annotated[
        bool,
        typer.Option("--admission", help="Leave out facts that are stored already, or come back after eviction."),
    ] = False,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="The same key with the same messages writes nothing a second time."),
    ] = None,
) -> ExitCode:
    """Take the messages of a file in.

    A message has role, content and timestamp, and may have speaker, conversation, metadata and id. Messages that are
    stored already change nothing, so an ingest that stopped is simply run again.

    JSON (a list, or an object with such a list as `messages`) is checked whole before anything is written. JSON Lines
    are read as a stream: a bad line stops the ingest, and what came before it may be stored. Ends with 1 when nothing
    could be read from some episodes.

    An export of ChatGPT or Claude (conversations.json), or of Gemini by Google Takeout (MyActivity.json), is read
    whole, also from the ZIP archive that it comes in. Pictures, calls of tools and what else is no text are skipped,
    and told.
    """
    read: list[Export] = []
    options = ExportOptions(branches=branches, speaker=speaker, told=read.append)
    with messages_in(file, file_format=file_format, exports=options) as messages:
        async with open_memory(server, output, namespace=namespace, embedder=embedder, writes=True) as memory:
            report = await _take_in(memory, messages, output, idempotency_key=idempotency_key, admission=admission)
            model = memory.embedder.model if memory.embedder is not None else None
    for export in read:
        _tell_export(output, export)
    _tell(output, report)
    output.document(
        {
            "namespace": namespace,
            "embedder": model,
            "counts": report.counts,
            **report.model_dump(mode="json"),
            **({"export": _export_document(read[0])} if read else {}),
        }
    )
    return ExitCode.FAILED if report.failed else ExitCode.FINE


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


def _tell(output: Output, report: IngestReport) -> None:
    rows = [
        [kind, *(str(len(by_kind.get(kind, ()))) for by_kind in (report.created, report.changed, report.removed))]
        for kind in _KINDS
    ]
    output.text(f"{report.messages_read} messages read, {len(report.duplicates)} of them stored before.")
    if report.replayed_batches:
        output.text(f"{report.replayed_batches} of {report.batches} batches were written by an earlier call.")
    output.table("kind", "new", "changed", "removed", rows=rows, numbers=("new", "changed", "removed"))
    if report.refused:
        output.text("", f"{len(report.refused)} facts were left out, since they are stored or were evicted:")
        rows = [[one.reason, one.content, f"{one.similarity:.2f}", one.matched_id] for one in report.refused]
        output.table("why", "fact", "similarity", "to", rows=rows[:_SHOWN_FAILURES], numbers=("similarity",))
        if len(rows) > _SHOWN_FAILURES:
            output.text(f"  and {len(rows) - _SHOWN_FAILURES} more; --json names all")
    if report.failed:
        output.text("", f"Nothing could be read from {len(report.failed)} episodes; their messages are stored:")
        output.text(*(f"  {failed.episode_id}  {failed.reason}" for failed in report.failed[:_SHOWN_FAILURES]))
        if len(report.failed) > _SHOWN_FAILURES:
            output.text(f"  and {len(report.failed) - _SHOWN_FAILURES} more; --json names all")
