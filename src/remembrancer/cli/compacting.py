"""`compact`: the local server's store made anew, so that no file holds what was erased."""

from __future__ import annotations

from pathlib import Path

from remembrancer.cli.connection import PathOption, Server
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.memory.compaction import Compaction
from remembrancer.memory.compaction import compact as compact_store
from remembrancer.records import InvalidInputError
from remembrancer.server import default_path


async def compact(output: Output, path: PathOption = None) -> ExitCode:
    """Make the local server's store anew, so that no file holds what was erased.

    All namespaces are exported, imported into a fresh store and compared. Nobody else may use the server meanwhile.
    Killed at any moment, it leaves the old store or the new one, whole.
    """
    done = await compacted(output, path)
    output.document(done.model_dump(mode="json"))
    return ExitCode.FINE


async def compacted(output: Output, path: Path | None) -> Compaction:
    """Compact the store of a folder, and say what came of it."""
    done = await compact_store(path if path is not None else default_path(), step=output.note)
    output.text(
        f"Compacted {done.path}: {len(done.namespaces)} namespaces, {done.lines:,} lines; "
        f"{done.bytes_before:,} bytes before, {done.bytes_after:,} after."
    )
    return done


def check_local(server: Server) -> None:
    """See that a command works on the local server, whose files this process can reach.

    Raises:
        InvalidInputError: It works on another one.
    """
    if server.address_given() is not None:
        raise InvalidInputError("--compact", "only the local server can be compacted: leave out --uri and NEO4J_URI")
