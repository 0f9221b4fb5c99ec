"""The command line. Needs the extra `cli`; importing this package loads neither typer nor rich."""

from __future__ import annotations

import sys

from remembrancer.cli.early import (
    end_if_stdout_fails,
    error_document,
    fill_closed_streams,
    wants_json,
    watch_from_the_start,
)

__all__ = ["main"]


def main() -> None:
    """Run the command line on the arguments of this process; the entry point `remembrancer`."""
    fill_closed_streams()
    watch_from_the_start()
    try:
        from remembrancer.cli.application import application
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("rich", "typer"):
            raise
        message = f'the command line needs the package {missing!r}: pip install "remembrancer[cli]"'
        if wants_json(sys.argv[1:]):
            sys.stdout.write(error_document("MissingPackageError", message))
        sys.exit(message)
    try:
        application()
    except OSError:
        end_if_stdout_fails()
        raise
