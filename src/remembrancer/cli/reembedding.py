"""`reembed`: another embedding model for a whole namespace."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, memory_at
from remembrancer.cli.embedders import EmbedderName, checked_name, embedder_asked_for, letting_go_of
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.lifecycle.reembedding import MAX_BATCH, ReembedReport


async def reembed(
    server: Server,
    output: Output,
    embedder: Annotated[
        str,
        typer.Option(
            "--embedder",
            metavar="NAME",
            callback=checked_name,
            help="The new model: minilm, wordllama, hashing, or openai:MODEL, a model behind OpenAI's interface at "
            "OPENAI_BASE_URL with OPENAI_API_KEY.",
        ),
    ],
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, max=MAX_BATCH, help="How many records are embedded at once.")
    ] = 100,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only try the model, and say how many vectors would be made.")
    ] = False,
    namespace: NamespaceOption = NAMESPACE,
) -> ExitCode:
    """Make all vectors of a namespace anew with another model, and move over to it.

    Reads go on meanwhile, by the old vectors until the end; so do writes. Broken off, it is run again with the same
    model and goes on. Named the model that the namespace has, it gives up what was begun.
    """
    if embedder == EmbedderName.AUTO:
        raise typer.BadParameter("say which model: auto is the one that the namespace has.", param_hint="--embedder")
    choice = await embedder_asked_for(embedder)
    output.note(choice.reason)
    if choice.embedder is None:
        raise typer.BadParameter("a namespace cannot be re-embedded without a model.", param_hint="--embedder")
    async with (
        letting_go_of(choice.embedder),
        server.reach(output) as address,
        memory_at(address, namespace=namespace, embedder=None, migrate=True) as memory,
    ):
        with output.counting("Making vectors") as progress:
            report = await memory.reembed(
                embedder=choice.embedder, batch_size=batch_size, progress=progress, dry_run=dry_run
            )
    _tell(output, report, namespace=namespace)
    return ExitCode.FINE


def _tell(output: Output, report: ReembedReport, *, namespace: str) -> None:
    rows = [
        [kind, f"{count:,}", f"{report.without.get(kind, 0):,}"]
        for kind, count in report.embedded.items()
        if count or report.without.get(kind)
    ]
    output.table("kind", "vectors", "without", rows=rows, numbers=("vectors", "without"))
    output.text(*(f"{one.kind} {one.id}: {one.reason}" for one in report.skipped))
    where = f"{report.next_space.model} ({report.next_space.dimensions} dimensions)"
    if report.is_dry_run:
        output.text(f"Nothing was written. {namespace} would move to {where}.")
    elif report.switched:
        output.text(f"{namespace} has moved to {where}; {report.removed:,} old vectors were removed.")
    else:
        output.text(f"{namespace} is in {where} already; {report.removed:,} vectors of others were removed.")
    output.document({"namespace": namespace, **report.model_dump(mode="json")})
