"""Files as they are named on the command line; `-` is standard input or standard output, where a command can work
with one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

import typer

from remembrancer.cli.stopping import broken_off_by_a_signal
from remembrancer.records import InvalidInputError
from remembrancer.records.file import chunks, require_content

STANDARD: Final = "-"
STANDARD_INPUT: Final = "standard input"


def file_name(text: str | os.PathLike[str]) -> str:
    """A parser for the name of a file or a folder, or `-`: each parameter that takes one has it, or `named_file`.

    Raises:
        BadParameter: It is empty, which would be the current folder.
    """
    name = os.fspath(text)
    if not name:
        raise typer.BadParameter("expected a path, got an empty text")
    return name


def named_file(text: str | os.PathLike[str]) -> Path:
    """A parser for what has to be a file or a folder with a name.

    Raises:
        BadParameter: It is empty, or `-`.
    """
    name = file_name(text)
    if name == STANDARD:
        raise typer.BadParameter(
            "this command neither reads standard input nor writes to standard output: name a file or a folder"
        )
    return Path(name)


def called(name: str) -> str:
    """What a file to read is called in an error."""
    return STANDARD_INPUT if name == STANDARD else name


def standard_input() -> BinaryIO:
    """Stdin as bytes.

    Raises:
        InvalidInputError: Whoever started the process has closed it; names FILE.
    """
    if sys.stdin is None:
        raise InvalidInputError("FILE", f"{STANDARD_INPUT} is closed")
    return typer.get_binary_stream("stdin")


@contextmanager
def as_files(names: Sequence[str]) -> Iterator[list[Path]]:
    """Files to read more than once: what comes by standard input, or by a pipe that has a name, is kept to the end of
    the block in a file that is called so.

    Raises:
        InvalidInputError: Standard input is empty, closed, or named twice; or a pipe is empty.
    """
    if names.count(STANDARD) > 1:
        raise InvalidInputError("FILE", f"{STANDARD} is there twice, and standard input can be read once")
    with ExitStack() as stack:
        yield [Path(name) if _stays(name) else _kept(name, stack) for name in names]


def _stays(name: str) -> bool:
    try:
        return name != STANDARD and not Path(name).is_fifo()
    except OSError:
        return True  # to open it will tell


def _kept(name: str, stack: ExitStack) -> Path:
    folder = stack.enter_context(TemporaryDirectory(prefix="remembrancer-"))
    kept = Path(folder) / (STANDARD_INPUT if name == STANDARD else Path(name).name)
    with broken_off_by_a_signal(holds="nothing was stored"):  # nobody may write for hours
        try:
            with ExitStack() as opened:
                source = standard_input() if name == STANDARD else opened.enter_context(Path(name).open("rb"))
                target = opened.enter_context(kept.open("wb+"))
                for chunk in chunks(source):
                    target.write(chunk)
                target.seek(0)
                require_content(chunks(target), name=called(name), field="FILE")
        except OSError as error:
            raise InvalidInputError("FILE", f"cannot keep {called(name)}: {error.strerror or error}") from error
    return kept
