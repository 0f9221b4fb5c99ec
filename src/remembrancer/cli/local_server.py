"""The local server: `up`, `down`, `status`, `browser`."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from remembrancer.cli.connection import PathOption
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output, is_terminal
from remembrancer.cli.spelling import named
from remembrancer.records import InvalidInputError, ServerUnavailableError
from remembrancer.server import LocalServer, ServerStatus, default_path, serve_kit
from remembrancer.server import down as stop_server
from remembrancer.server import status as server_status
from remembrancer.server import up as start_server

_LICENCE = (
    "Neo4j Community and Neo4j Browser are under the GPLv3: fetched to this machine, run as a process of their own."
)
_KIT_PANEL = "Another Neo4j"
_USUAL_URI = "neo4j://localhost:7687"


@dataclass(frozen=True)
class Kit:
    """The options about the Browser of a Neo4j that is not the local server."""

    kit: Annotated[
        bool,
        typer.Option(
            "--kit",
            help="Serve style, guide and saved queries to the Browser of another Neo4j, until Ctrl-C.",
            rich_help_panel=_KIT_PANEL,
        ),
    ] = False
    uri: Annotated[
        str | None,
        typer.Option(
            "--uri",
            help=f"Address of that Neo4j, for drivers; by default NEO4J_URI, else {_USUAL_URI}.",
            rich_help_panel=_KIT_PANEL,
        ),
    ] = None
    username: Annotated[
        str,
        typer.Option("--username", envvar="NEO4J_USERNAME", help="Who to log in as.", rich_help_panel=_KIT_PANEL),
    ] = "neo4j"
    port: Annotated[
        int | None,
        typer.Option(
            "--port", help="Where to serve it on localhost; by default a free one.", rich_help_panel=_KIT_PANEL
        ),
    ] = None

    def check(self, path: Path | None, *, show_password: bool) -> None:
        """See that the options go together.

        Raises:
            InvalidInputError: One of them is about the other kind of server.
        """
        for name, given in (("--path", path is not None), ("--show-password", show_password)):
            if self.kit and given:
                raise InvalidInputError(name, "is about the local server, and --kit about another Neo4j: leave one out")
        for name, given in (("--uri", self.uri is not None), ("--port", self.port is not None)):
            if given and not self.kit:
                raise InvalidInputError(name, "goes with --kit, which is for the Browser of another Neo4j")


async def up(
    output: Output,
    path: PathOption = None,
    heap: Annotated[str | None, typer.Option("--heap", help="Memory of the server's JVM, such as 512m or 2g.")] = None,
    bolt_port: Annotated[int | None, typer.Option("--bolt-port", help="By default that of the last time.")] = None,
    http_port: Annotated[int | None, typer.Option("--http-port", help="By default that of the last time.")] = None,
    cut_damaged_log: Annotated[
        bool,
        typer.Option(
            "--cut-damaged-log", help="Start although the transaction log is damaged; loses what follows the damage."
        ),
    ] = False,
) -> None:
    """Start the local Neo4j, and let it run until `remembrancer down`. Fetches it the first time."""
    with output.downloading("Fetching Neo4j, once") as progress:
        found = await start_server(
            _folder(path),
            heap=heap,
            bolt_port=bolt_port,
            http_port=http_port,
            progress=progress,
            cut_damaged_log=cut_damaged_log,
        )
    _tell(output, found)
    output.text("", "It runs until `remembrancer down`. To look at it: `remembrancer browser`.", _LICENCE)


async def down(output: Output, path: PathOption = None) -> None:
    """Stop the local Neo4j, whoever uses it, and wait until it has stopped."""
    folder = _folder(path)
    was_running = await stop_server(folder)
    output.text(f"Stopped the server of {folder}." if was_running else f"No server was running for {folder}.")
    output.document({"path": str(folder), "was_running": was_running})


async def status(output: Output, path: PathOption = None) -> ExitCode:
    """Say whether the local Neo4j runs, and where. Ends with 3 when it does not."""
    found = await server_status(_folder(path))
    _tell(output, found)
    return ExitCode.FINE if found.running else ExitCode.UNAVAILABLE


async def browser(
    output: Output,
    path: PathOption = None,
    show_password: Annotated[
        bool, typer.Option("--show-password", help="Print the password even where stdout is not a terminal.")
    ] = False,
    open_it: Annotated[bool, typer.Option("--open/--no-open", help="Open it, or only print the address.")] = True,
    *,
    kit: Kit,
) -> None:
    """Open the local server's Neo4j Browser, with style, saved queries and guide in place.

    With --kit: serve these to the Browser of another Neo4j, such as one in a container, until Ctrl-C.
    """
    kit.check(path, show_password=show_password)
    if kit.kit:
        await _lend(kit, output, open_it=open_it)
        return
    folder = _folder(path)
    found = await server_status(folder)
    if not found.running:
        raise ServerUnavailableError(
            f"no server runs for {folder}: start it with `remembrancer up`; for the Browser of another Neo4j add --kit",
            address=str(folder),
        )
    async with LocalServer.open(folder) as server:
        shown = show_password or (is_terminal() and not output.json)
        answer: dict[str, Any] = {"url": server.browser_url, "username": server.username}
        answer |= {"password": server.password} if shown else {}
        credentials = server.path / "credentials.json"
        output.text(
            f"Browser   {server.browser_url}",
            f"User      {server.username}",
            f"Password  {server.password}" if shown else f"Password  in {credentials}, or with --show-password",
        )
        output.document({**answer, "credentials": str(credentials), "pinned": found.pinned})
        if not found.pinned:
            output.note("the server stops when its last user leaves; `remembrancer up` keeps it")
        if open_it:
            _open(server.browser_url, output)


async def _lend(kit: Kit, output: Output, *, open_it: bool) -> None:
    """Serve the kit until Ctrl-C, which ends it as it ends every command."""
    uri = kit.uri or os.environ.get("NEO4J_URI") or _USUAL_URI
    with named(uri="--uri" if kit.uri else "NEO4J_URI"), serve_kit(uri, username=kit.username, port=kit.port) as served:
        output.text(
            f"Open      {served.address}",
            f"Guide     {served.guide_command}",
            f"Style     {served.style_command}",
            f"Queries   {served.queries_url}, to be dropped onto Browser",
            "",
            "The first says how. All of them answer until Ctrl-C.",
        )
        output.document(
            {
                "url": served.address,
                "browser_url": served.browser_url,
                "guide_command": served.guide_command,
                "style_command": served.style_command,
                "queries_url": served.queries_url,
            }
        )
        sys.stdout.flush()  # whoever reads a pipe would wait for the end
        if open_it:
            _open(served.address, output)
        await asyncio.Event().wait()


def _open(address: str, output: Output) -> None:
    """Open an address for whoever sits at the terminal."""
    if is_terminal() and not output.json and not webbrowser.open(address):
        output.note("no browser could be opened here: open the address yourself")


def _folder(path: Path | None) -> Path:
    return (path if path is not None else default_path()).expanduser().absolute()


def _tell(output: Output, found: ServerStatus) -> None:
    output.document(found.model_dump(mode="json"))
    if not found.running:
        output.text(f"No server runs for {found.path}.")
        if found.unfinished is not None:
            output.text(
                f"A {found.unfinished} has stopped it and did not end yet. If that was killed, whatever opens the "
                "folder next mends what it left, such as `remembrancer up`; a server that was pinned then stays."
            )
        return
    state = "ready" if found.ready else "starting"
    kept = "until `remembrancer down`" if found.pinned else "until its last user leaves"
    output.text(
        f"Neo4j {found.version} is {state}, {kept}; {found.users} connected.",
        f"Folder    {found.path}",
        f"Bolt      {found.bolt_uri}",
        f"HTTP      {found.http_uri}",
        f"Processes {found.server_pid} (Neo4j), {found.supervisor_pid} (its supervisor)",
    )
