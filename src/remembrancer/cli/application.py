"""All commands, as typer runs them."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer._version import __version__
from remembrancer.cli.backing_up import backup, restore_backup
from remembrancer.cli.benchmarking import extraction, retrieval
from remembrancer.cli.checkup import doctor, migrate
from remembrancer.cli.command import Coroutine, as_command
from remembrancer.cli.compacting import compact
from remembrancer.cli.consolidating import consolidate
from remembrancer.cli.demonstration import demo
from remembrancer.cli.exit_code import EXPLAINED
from remembrancer.cli.forgetting import forget, restore, undo
from remembrancer.cli.gate_simulation import gate_commands
from remembrancer.cli.gating import ledger_commands
from remembrancer.cli.ingesting import ingest
from remembrancer.cli.local_server import browser, down, status, up
from remembrancer.cli.past import history, passes, why
from remembrancer.cli.recalling import recall
from remembrancer.cli.reembedding import reembed
from remembrancer.cli.rereading import retry_extraction
from remembrancer.cli.resolving import conflicts, resolve
from remembrancer.cli.showing import show
from remembrancer.cli.transferring import export, take_in
from remembrancer.cli.usage import AllCommands

_SERVER = "The local server"
_DATABASE = "The database"
_MEMORY = "The memory"
_LESSONS = "Lessons"
_MEASURING = "Measuring"
_COMMANDS: tuple[tuple[str, Coroutine], ...] = (
    (_MEMORY, ingest),
    (_MEMORY, retry_extraction),
    (_MEMORY, recall),
    (_MEMORY, show),
    (_MEMORY, consolidate),
    (_MEMORY, resolve),
    (_MEMORY, conflicts),
    (_MEMORY, history),
    (_MEMORY, why),
    (_MEMORY, passes),
    (_MEMORY, restore),
    (_MEMORY, undo),
    (_MEMORY, forget),
    (_MEMORY, export),
    (_MEMORY, take_in),
    (_MEMORY, demo),
    (_SERVER, up),
    (_SERVER, down),
    (_SERVER, status),
    (_SERVER, browser),
    (_SERVER, compact),
    (_SERVER, backup),
    (_SERVER, restore_backup),
    (_DATABASE, reembed),
    (_DATABASE, migrate),
    (_DATABASE, doctor),
)

application = typer.Typer(
    name="remembrancer",
    cls=AllCommands,
    help="A temporal memory for AI agents that lives in Neo4j.",
    epilog=EXPLAINED,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, coroutine in _COMMANDS:
    application.command(coroutine.__name__, epilog=EXPLAINED, rich_help_panel=panel)(as_command(coroutine))

application.add_typer(gate_commands, rich_help_panel=_LESSONS)
application.add_typer(ledger_commands, rich_help_panel=_LESSONS)

bench = typer.Typer(
    name="bench",
    help="Measure retrieval and extraction, on data that you bring along.",
    epilog=EXPLAINED,
    no_args_is_help=True,
)
for coroutine in (retrieval, extraction):
    bench.command(coroutine.__name__, epilog=EXPLAINED)(as_command(coroutine))
application.add_typer(bench, rich_help_panel=_MEASURING)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"remembrancer {__version__}")
        raise typer.Exit


@application.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and end.")
    ] = False,
) -> None:
    """A temporal memory for AI agents that lives in Neo4j."""
