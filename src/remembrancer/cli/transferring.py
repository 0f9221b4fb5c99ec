"""`export` and `import`: a whole namespace as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_database, open_memory
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.graph import Neo4jStore
from remembrancer.lifecycle.transfer_import import header_of, import_from
from remembrancer.lifecycle.transfer_lines import TransferReport


async def export(
    server: Server,
    output: Output,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")],
    namespace: NamespaceOption = NAMESPACE,
) -> ExitCode:
    """Write everything that a namespace holds to a file, as JSON Lines.

    Records with their embeddings, the audit trail, scored runs, verdicts of the gate and the notes of the durable
    tiers. import reads the file into another namespace, and an export of that one is the same file.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        with output.counting("Writing lines") as progress:
            report = await memory.export_to(file, progress=progress)
    _tell(output, report, namespace=namespace)
    return ExitCode.FINE


async def take_in(
    server: Server,
    output: Output,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export.")],
    namespace: NamespaceOption = NAMESPACE,
) -> ExitCode:
    """Read an export into an empty namespace.

    No embedding model is needed: the vectors come with the file. The whole file is checked first; a damaged line is
    named. An import that was cut off is run again with the same file.
    """
    space = header_of(file).space
    async with (
        server.reach(output) as address,
        open_database(address) as database,
        Neo4jStore.open(database=database, namespace=namespace, space=space) as store,
    ):
        with output.counting("Storing lines") as progress:
            report = await import_from(store, file, progress=progress)
    _tell(output, report, namespace=namespace)
    return ExitCode.FINE


def _tell(output: Output, report: TransferReport, *, namespace: str) -> None:
    rows = [[kind, f"{count:,}"] for kind, count in report.counts.items()]
    output.table("kind", "lines", rows=rows, numbers=("lines",))
    output.text("", "Not carried:", *(f"  {one}" for one in report.not_carried))
    output.document({"namespace": namespace, **report.model_dump(mode="json")})


take_in.__name__ = "import"  # the name of the command, which is no name in Python
