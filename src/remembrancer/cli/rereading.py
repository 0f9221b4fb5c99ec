"""`retry-extraction`: what could not be read as it was asked, or only by rules, is read again."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.asking import DryRunOption
from remembrancer.cli.connection import NAMESPACE, EmbedderOption, NamespaceOption, Server, open_memory
from remembrancer.cli.embedders import EmbedderName
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.extractors import Extracting
from remembrancer.cli.ingesting import (
    AdmissionOption,
    document_of,
    exit_code_of_report,
    tell_reading,
    tell_records,
    tell_refused,
)
from remembrancer.cli.output import Output
from remembrancer.hierarchy.ingestion import IngestReport
from remembrancer.ports import MemoryStore
from remembrancer.records import InvalidInputError

_PAGE = 100


async def retry_extraction(
    server: Server,
    output: Output,
    extracting: Extracting,
    namespace: NamespaceOption = NAMESPACE,
    embedder: EmbedderOption = EmbedderName.AUTO,
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, help="The most episodes to try; left out: all.")
    ] = None,
    admission: AdmissionOption = False,
    dry_run: DryRunOption = False,
) -> ExitCode:
    """Read the messages again from which nothing could be read, or only by rules in a model's place.

    They are stored, and their episodes say which they are. What is read now takes the place of what the rules had read.
    Each episode is one transaction, so that it may be broken off. Say what is to read, since whatever reads them now
    counts as having read them. Ends with 1 when some could not be read this time either.
    """
    if dry_run:
        async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
            await _tell_unread(memory.store, output, limit=limit)
        return ExitCode.FINE
    if extracting.name is None:
        raise InvalidInputError("--extractor", "say what is to read, such as --llm-model NAME or --extractor rules")
    async with (
        extracting.opened(output) as reader,
        open_memory(server, output, namespace=namespace, embedder=embedder, writes=True, reader=reader) as memory,
    ):
        with output.counting("Reading messages") as progress:
            report = await memory.retry_extraction(limit=limit, admission=admission, progress=progress)
        document = document_of(report, memory, reader)
    _tell(output, report)
    output.document(document)
    return exit_code_of_report(report)


retry_extraction.__name__ = "retry-extraction"  # the name of the command, which is no name in Python


async def _tell_unread(store: MemoryStore, output: Output, *, limit: int | None) -> None:
    episodes = messages = 0
    after: str | None = None
    while limit is None or episodes < limit:
        size = _PAGE if limit is None else min(_PAGE, limit - episodes)
        page = await store.find_unread_episodes(after=after, limit=size)
        if not page:
            break
        episodes += len(page)
        messages += sum(len(one.unread_message_ids) for one in page)
        after = page[-1].id
    output.text(f"{messages} messages of {episodes} episodes are to be read again. Nothing was written.")
    output.document(
        {"namespace": store.namespace, "dry_run": True, "unread_episodes": episodes, "unread_messages": messages}
    )


def _tell(output: Output, report: IngestReport) -> None:
    if not report.messages_read:
        output.text("There is nothing to be read again.")
        return
    output.text(f"{report.messages_read} messages read again.")
    tell_records(output, report)
    tell_refused(output, report)
    tell_reading(output, report)
