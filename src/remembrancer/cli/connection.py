"""Which Neo4j and which memory a command works on, and opening them.

With an address that Neo4j is used; without one the private one of a folder on this machine, which is started when it
does not run.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from remembrancer.cli.embedders import checked_name, embedder_to_read, embedder_to_write, letting_go_of
from remembrancer.cli.extractors import Reader
from remembrancer.cli.output import Output
from remembrancer.cli.spelling import named
from remembrancer.cli.standard_streams import named_file
from remembrancer.graph import Database
from remembrancer.graph.doctor import holds_records
from remembrancer.memory import DEFAULT_NAMESPACE, Memory
from remembrancer.ports import Embedder
from remembrancer.records import InvalidInputError
from remembrancer.records.key import require_key
from remembrancer.server import LocalServer, default_path

LOCAL_DATABASE = "neo4j"
PANEL = "Which Neo4j"

PathOption = Annotated[
    Path | None,
    typer.Option(
        "--path",
        metavar="PATH",
        parser=named_file,
        help="Folder of the local server's database; by default one among your application data.",
        rich_help_panel=PANEL,
    ),
]


def _checked_namespace(name: str) -> str:
    """A callback: a wrong name is told before a server is started for it."""
    try:
        return require_key(name, field="--namespace")
    except InvalidInputError as error:
        raise typer.BadParameter(error.problem) from error


NamespaceOption = Annotated[
    str,
    typer.Option(
        "--namespace", "-n", envvar="REMEMBRANCER_NAMESPACE", callback=_checked_namespace, help="Whose memory."
    ),
]
EmbedderOption = Annotated[
    str,
    typer.Option(
        "--embedder",
        metavar="NAME",
        callback=checked_name,
        help="What makes vectors: auto, minilm, wordllama, hashing, none, or openai:MODEL, a model behind OpenAI's "
        "interface at OPENAI_BASE_URL with OPENAI_API_KEY. auto: the model that the namespace was filled with; a new "
        "one gets minilm when it is installed, else wordllama, else none (words alone).",
    ),
]
NAMESPACE = DEFAULT_NAMESPACE


@dataclass(frozen=True)
class Address:
    """Where a Neo4j listens, and how to log in."""

    uri: str
    auth: tuple[str, str] | None
    database: str | None
    server: LocalServer | None = None


@dataclass(frozen=True)
class Server:
    """The options that say which Neo4j."""

    uri: Annotated[
        str | None,
        typer.Option(
            "--uri",
            help="Address of a Neo4j, such as neo4j://localhost:7687; by default NEO4J_URI. Without one the local "
            "server is used, and started when it does not run.",
            rich_help_panel=PANEL,
        ),
    ] = None
    username: Annotated[
        str, typer.Option("--username", envvar="NEO4J_USERNAME", help="Who to log in as.", rich_help_panel=PANEL)
    ] = "neo4j"
    password: Annotated[
        str | None,
        typer.Option(
            "--password",
            envvar="NEO4J_PASSWORD",
            help="Better given by the variable: others on this machine can read command lines.",
            rich_help_panel=PANEL,
        ),
    ] = None
    database: Annotated[
        str | None,
        typer.Option(
            "--database", envvar="NEO4J_DATABASE", help="By default the user's home database.", rich_help_panel=PANEL
        ),
    ] = None
    path: PathOption = None

    def address_given(self) -> str | None:
        """The address of the Neo4j to use; `None`: the local server. A folder named beats `NEO4J_URI`.

        Raises:
            InvalidInputError: Both an address and a folder are named.
        """
        if self.uri is not None and self.path is not None:
            raise InvalidInputError("--path", "names the local server, and --uri another one: give one of them")
        return self.uri if self.uri is not None or self.path is not None else os.environ.get("NEO4J_URI") or None

    @asynccontextmanager
    async def reach(self, output: Output, *, keep: bool = False) -> AsyncIterator[Address]:
        """Find the server, starting the local one when it is that; `keep` lets that one run on afterwards."""
        uri = self.address_given()
        if uri is not None:
            yield Address(uri, None if self.password is None else (self.username, self.password), self.database)
            return
        async with local_server(self.path, output, keep=keep) as server:
            yield Address(server.bolt_uri, (server.username, server.password), LOCAL_DATABASE, server)


@asynccontextmanager
async def local_server(path: Path | None, output: Output, *, keep: bool = False) -> AsyncIterator[LocalServer]:
    """Join the local server of a folder, or fetch and start it."""
    folder = path if path is not None else default_path()
    async with AsyncExitStack() as stack:
        with output.downloading("Fetching Neo4j, once") as progress:
            server = await stack.enter_async_context(LocalServer.open(folder, keep=keep, progress=progress))
        yield server


@asynccontextmanager
async def open_database(address: Address) -> AsyncIterator[Database]:
    """Connect to a server without opening a memory on it."""
    with named(auth="--password"):
        async with Database.open(address.uri, auth=address.auth, name=address.database) as database:
            yield database


@asynccontextmanager
async def open_memory(
    server: Server,
    output: Output,
    *,
    namespace: str,
    embedder: str | None,
    writes: bool = False,
    reader: Reader | None = None,
) -> AsyncIterator[Memory]:
    """Open a memory with the embedder that fits it, and say on stderr which that is.

    Args:
        server: Which Neo4j.
        output: Where notes and progress go.
        namespace: Whose memory.
        embedder: As the user named it; `None`: the command needs none.
        writes: Whether the command stores something: then migrations are applied, and a new namespace gets a model.
        reader: What reads facts from messages; by default rules.
    """
    async with server.reach(output) as address:
        chosen = await _chosen(address, namespace, embedder, writes=writes, output=output)
        async with (
            letting_go_of(chosen),
            memory_at(
                address,
                namespace=namespace,
                embedder=chosen,
                migrate=writes or address.server is not None,
                reader=reader,
            ) as memory,
        ):
            yield memory


@asynccontextmanager
async def memory_at(
    address: Address, *, namespace: str, embedder: Embedder | None, migrate: bool, reader: Reader | None = None
) -> AsyncIterator[Memory]:
    """Open a memory at an address."""
    opening = Memory.connect(
        address.uri,
        auth=address.auth,
        database=address.database,
        namespace=namespace,
        embedder=embedder,
        extractor=None if reader is None else reader.extractor,
        llm=None if reader is None else reader.llm,
        migrate=migrate,
        warm=False,  # a command asks once
    )
    with named(auth="--password"):
        async with opening as memory:
            yield memory


async def _chosen(
    address: Address, namespace: str, embedder: str | None, *, writes: bool, output: Output
) -> Embedder | None:
    async with open_database(address) as database:
        # A command that stores messages may fill an empty namespace; to any other its name may have been mistyped.
        if not (writes and embedder is not None) and not await holds_records(database, namespace):
            output.note(f"namespace {namespace!r} holds no messages and no facts")
        if embedder is None:
            return None
        choose = embedder_to_write if writes else embedder_to_read
        choice = await choose(embedder, database, namespace)
    output.note(choice.reason)
    return choice.embedder
