"""The state of a database: `migrate` and `doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_database
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output, moment
from remembrancer.graph import migrate as apply_migrations
from remembrancer.graph import migrations
from remembrancer.graph.doctor import Examination, Finding, examine
from remembrancer.records import system_clock


async def migrate(server: Server, output: Output) -> None:
    """Bring the database's schema up to date. Running it again changes nothing."""
    async with server.reach(output) as address, open_database(address) as database:
        applied = await apply_migrations(database, clock=system_clock)
    known = [f"{migration.version:03}_{migration.name}" for migration in migrations()]
    output.text(*(f"applied {name}" for name in applied))
    output.text(f"The schema is up to date: {', '.join(known)}.")
    output.document({"applied": applied, "known": known})


async def doctor(
    server: Server,
    output: Output,
    namespace: NamespaceOption = NAMESPACE,
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare records with each other, too; reads the whole namespace.")
    ] = False,
) -> ExitCode:
    """Examine a database and a namespace, without changing them. Ends with 1 when something is wrong."""
    async with server.reach(output) as address, open_database(address) as database:
        found = await examine(database, namespace, deep=deep)
    output.document({**found.model_dump(mode="json"), "is_well": found.is_well})
    _tell_database(output, found)
    _tell_namespace(output, found)
    _tell_findings(output, found)
    return ExitCode.FINE if found.is_well else ExitCode.FAILED


def _tell_database(output: Output, found: Examination) -> None:
    spaces = [f"{number} {space.model} ({space.dimensions})" for number, space in enumerate(found.spaces, 1)]
    output.text(
        f"Server      Neo4j {found.version} {found.edition}, database {found.database}",
        f"Migrations  {', '.join(found.migrations_applied) or 'none'}; known: {', '.join(found.migrations_known)}",
        f"Spaces      {', '.join(spaces) or 'none'}",
    )


def _tell_namespace(output: Output, found: Examination) -> None:
    usage = found.usage
    uses = f"{usage.facts} facts used {usage.uses} times"
    uses += f", last {moment(usage.last_at)}" if usage.last_at else ""
    output.text(
        f"Namespace   {found.namespace}, {'no vectors' if found.space is None else f'vectors by {found.space.model}'}",
        f"Usage       {uses}" if usage.is_counted else f"Usage       not counted, the database is read-only; {uses}",
        "",
    )
    output.table(
        "kind", "stored", "closed", "named only", "with vector",
        rows=[
            [one.kind, str(one.stored), str(one.closed), str(one.placeholders), str(one.embedded)]
            for one in found.counts
        ],
        numbers=("stored", "closed", "named only", "with vector"),
    )  # fmt: skip


def _tell_findings(output: Output, found: Examination) -> None:
    output.text("")
    for finding in found.findings:
        output.text(f"{'wrong' if finding.is_wrong else 'note '}  {_sentence(finding)}")
        output.text(*(f"         {example}" for example in finding.examples))
        if finding.examples and finding.total > len(finding.examples):
            output.text(f"         and {finding.total - len(finding.examples)} more")
    if found.is_well:
        output.text("All is well." if found.is_deep else "All is well. --deep compares the records with each other.")


def _sentence(finding: Finding) -> str:
    return finding.summary if finding.total == 1 and not finding.examples else f"{finding.total} {finding.summary}"
