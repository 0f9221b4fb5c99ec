"""`backup` and `restore-backup`: the whole database of the local server as one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from remembrancer.cli.connection import PathOption
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.cli.standard_streams import named_file
from remembrancer.server import Backup, default_path
from remembrancer.server import backup as make_backup
from remembrancer.server import restore_backup as bring_back

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", parser=named_file, help="The backup.")]


async def backup(
    output: Output,
    file: FileArgument,
    path: PathOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> ExitCode:
    """Write the whole database of the local server, all namespaces, to one file.

    The server is stopped for it, and nobody else may use it. The copy is loaded and checked before the file gets its
    name. It holds no password.
    """
    folder = path if path is not None else default_path()
    _tell(output, await make_backup(folder, file, force=force), f"Backed up {folder} to {file}", path=folder, file=file)
    return ExitCode.FINE


async def restore_backup(
    output: Output,
    file: FileArgument,
    path: PathOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the database that the folder has.")] = False,
) -> ExitCode:
    """Make the local server's database from a backup.

    It is checked before it takes its place. Killed at any moment, the folder has what it had before, or all of the
    backup.
    """
    folder = path if path is not None else default_path()
    _tell(output, await bring_back(file, folder, force=force), f"Restored {folder} from {file}", path=folder, file=file)
    return ExitCode.FINE


def _tell(output: Output, made: Backup, what: str, *, path: Path, file: Path) -> None:
    output.text(f"{what}: made {made.made_at:%Y-%m-%d %H:%M} UTC with Neo4j {made.neo4j}, {made.bytes:,} bytes.")
    output.document({"path": str(path), "file": str(file), **made.model_dump(mode="json")})


restore_backup.__name__ = "restore-backup"  # the name of the command, which is no name in Python
