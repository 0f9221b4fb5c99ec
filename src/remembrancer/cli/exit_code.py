"""What the exit code of a command says."""

from __future__ import annotations

from enum import IntEnum

from remembrancer.records import (
    EmbeddingSpaceMismatchError,
    InvalidInputError,
    NotFoundError,
    RemembranceError,
    ServerUnavailableError,
)


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    FAILED = 1
    USAGE = 2
    UNAVAILABLE = 3
    NOT_FOUND = 4


EXPLAINED = (
    "Exit codes: 0 fine; 1 something failed, in part or as a whole; 2 wrong usage or bad input; "
    "3 no server to be had; 4 not found; 130 and 143 stopped by Ctrl-C and by SIGTERM."
)

_BY_ERROR: tuple[tuple[type[RemembranceError], ExitCode], ...] = (
    (InvalidInputError, ExitCode.USAGE),
    (EmbeddingSpaceMismatchError, ExitCode.USAGE),
    (ServerUnavailableError, ExitCode.UNAVAILABLE),
    (NotFoundError, ExitCode.NOT_FOUND),
)


def exit_code_of(error: RemembranceError) -> ExitCode:
    """The code with which a command ends that raised this."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), ExitCode.FAILED)
