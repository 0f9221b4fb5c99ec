"""`export` and `import`: a whole namespace as a file, and memories of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from remembrancer.cli.connection import (
    NAMESPACE,
    EmbedderOption,
    NamespaceOption,
    Server,
    open_database,
    open_memory,
)
from remembrancer.cli.embedders import EmbedderName
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output, standard_output
from remembrancer.cli.spelling import named, renamed
from remembrancer.cli.standard_streams import STANDARD, as_files, called, file_name
from remembrancer.cli.stopping import broken_off_by_a_signal, holds_when_stopped
from remembrancer.graph import Neo4jStore
from remembrancer.lifecycle.foreign_import import ForeignReport, examine_foreign, import_foreign
from remembrancer.lifecycle.transfer_export import write_export
from remembrancer.lifecycle.transfer_import import examine_export, import_from
from remembrancer.lifecycle.transfer_lines import TransferReport
from remembrancer.records import InvalidInputError
from remembrancer.records.key import require_key

_CUT_OFF = "what went to standard output is cut off, and import refuses it; nothing has changed"


class ImportFormat(StrEnum):
    """What `--format` of `import` takes."""

    OWN = "remembrancer"
    MEM0 = "mem0"
    GRAPHITI = "graphiti"


async def export(
    server: Server,
    output: Output,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", parser=file_name, help="The file to write; it must not exist. - for standard output."
        ),
    ],
    namespace: NamespaceOption = NAMESPACE,
) -> ExitCode:
    """Write everything that a namespace holds to a file, as JSON Lines.

    Records with their embeddings, the audit trail, scored runs, verdicts of the gate and the notes of the durable
    tiers. import reads the file into another namespace, and an export of that one is the same file.

    To standard output go the lines alone, and everything else to stderr. What is cut off there, import refuses.
    """
    if file == STANDARD:
        return await _export_to_stdout(server, output, namespace=namespace)
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        with output.counting("Writing lines") as progress, named(path="FILE"):
            report = await memory.export_to(file, progress=progress)
    _tell(output, report, namespace=namespace)
    return ExitCode.FINE


async def _export_to_stdout(server: Server, output: Output, *, namespace: str) -> ExitCode:
    if output.json:
        raise InvalidInputError("--json", "with - as the file the records are on stdout: leave one of them out")
    holds_when_stopped(_CUT_OFF)
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        with output.counting("Writing lines") as progress, standard_output() as stdout:

            def write(line: bytes) -> None:
                with broken_off_by_a_signal(holds=_CUT_OFF):  # who reads may take hours
                    stdout.write(line)

            report = await write_export(memory.store, write, progress=progress)
    _tell(output.aside(), report, namespace=namespace)
    return ExitCode.FINE


async def take_in(
    server: Server,
    output: Output,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            parser=file_name,
            help="An export; of mem0 or Graphiti one or more. - for standard input.",
        ),
    ],
    namespace: NamespaceOption = NAMESPACE,
    of: Annotated[
        ImportFormat, typer.Option("--format", help="Whose files these are: remembrancer, mem0 or graphiti.")
    ] = ImportFormat.OWN,
    embedder: EmbedderOption = EmbedderName.AUTO,
    vectors_by: Annotated[
        str | None,
        typer.Option("--vectors-by", metavar="MODEL", help="The model that made a foreign file's embeddings."),
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out foreign records that are wrong.")] = False,
) -> ExitCode:
    """Read an export into an empty namespace, or memories of mem0 or Graphiti into any.

    Of an export no embedding model is needed: the vectors come with the file. The whole file is checked first; a
    damaged line is named. An import that was cut off is run again with the same file.
    """
    if of is not ImportFormat.OWN:
        if vectors_by is not None:
            require_key(vectors_by, field="--vectors-by")
        with as_files(files) as paths:
            with named(path="FILE"), broken_off_by_a_signal(holds="nothing was stored"):
                examined = examine_foreign(paths, format=of.value, skip_bad=skip_bad)
            async with open_memory(server, output, namespace=namespace, embedder=embedder, writes=True) as memory:
                with output.counting("Taking in records") as progress, named(path="FILE", paths="FILE"):
                    told = await import_foreign(
                        memory.store,
                        paths,
                        format=of.value,
                        embedder=memory.embedder,
                        vectors_by=vectors_by,
                        skip_bad=skip_bad,
                        progress=progress,
                        examined=examined,
                    )
        names = dict(zip(map(str, paths), files, strict=True))
        _tell_foreign(output, _as_typed(told, names), namespace=namespace)
        return ExitCode.FINE
    if len(files) != 1:
        raise typer.BadParameter("an export is one file.", param_hint="FILE")
    if skip_bad or vectors_by is not None:
        raise typer.BadParameter(
            "--skip-bad and --vectors-by are for files of mem0 and Graphiti.", param_hint="--format"
        )
    _tell(output, await _take_in_export(server, output, files, namespace=namespace), namespace=namespace)
    return ExitCode.FINE


async def _take_in_export(server: Server, output: Output, files: list[str], *, namespace: str) -> TransferReport:
    with as_files(files) as (file,):
        with named(path="FILE"), _lines_of(files[0]), broken_off_by_a_signal(holds="nothing was stored"):
            examined = examine_export(file)
        async with (
            server.reach(output) as address,
            open_database(address) as database,
            Neo4jStore.open(database=database, namespace=namespace, space=examined.header.space) as store,
        ):
            with output.counting("Storing lines") as progress, named(path="FILE"):
                return await import_from(store, file, progress=progress, examined=examined)


@contextmanager
def _lines_of(name: str) -> Iterator[None]:
    """A block whose errors about a line name the file as well."""
    try:
        yield
    except InvalidInputError as error:
        if not error.field.startswith("line "):
            raise
        raise renamed(error, f"{called(name)}, {error.field}") from error


def _as_typed(report: ForeignReport, names: Mapping[str, str]) -> ForeignReport:
    """The report with the files called as they were typed."""
    problems = tuple(one.model_copy(update={"file": names[one.file]}) for one in report.problems)
    return report.model_copy(update={"problems": problems})


def _tell_foreign(output: Output, report: ForeignReport, *, namespace: str) -> None:
    kinds = [kind for kind in report.created if report.created[kind] or report.known.get(kind)]
    rows = [[kind, f"{report.created[kind]:,}", f"{report.known.get(kind, 0):,}"] for kind in kinds]
    output.table("kind", "new", "known", rows=rows, numbers=("new", "known"))
    if report.left:
        output.text("", "Not carried:", *(f"  {name}: {count:,}" for name, count in report.left.items()))
    if report.bad:
        told = (f"  {one.file}, {one.place}: {one.problem}" for one in report.problems)
        output.text("", f"Left out as wrong: {report.bad:,}", *told)
    output.document({"namespace": namespace, **report.model_dump(mode="json")})


def _tell(output: Output, report: TransferReport, *, namespace: str) -> None:
    rows = [[kind, f"{count:,}"] for kind, count in report.counts.items()]
    output.table("kind", "lines", rows=rows, numbers=("lines",))
    output.text("", "Not carried:", *(f"  {one}" for one in report.not_carried))
    output.document({"namespace": namespace, **report.model_dump(mode="json")})


take_in.__name__ = "import"  # the name of the command, which is no name in Python
