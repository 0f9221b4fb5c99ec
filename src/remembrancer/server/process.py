"""Processes of this machine by their ids, which are given away again once a process has gone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

ProcessId = Annotated[int, Field(gt=1, lt=2**31)]
"""Of a process that a file of ours names; 1 is the one that the system starts first, which is never ours."""

PROCESSES: Final = Path("/proc")


def runs_with(process: int, argument: str) -> bool:
    """Whether a process lives that has this among the arguments of its command line. POSIX alone.

    An id alone proves nothing, so whoever is about to end a process asks for an argument that only ours has.
    """
    sought = os.fsencode(argument)
    if (PROCESSES / "self" / "cmdline").exists():  # of Linux, where a slim image may lack `ps`
        try:
            return sought in (PROCESSES / str(process) / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
    answer = subprocess.run(  # noqa: S603 - no shell, and the only argument is a number
        ["ps", "-ww", "-o", "command=", "-p", str(process)],  # noqa: S607 - of macOS, where every system has it
        capture_output=True,
        check=False,
    )
    return sought in answer.stdout  # it does not tell where an argument ends
