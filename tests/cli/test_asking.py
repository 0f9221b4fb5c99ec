"""Whoever is asked can say no by one Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

ASKS = """
import asyncio
from remembrancer.cli.asking import agreed
from remembrancer.cli.output import Output

async def ask():
    agreed(Output(), "Erase?", yes=False)

asyncio.run(ask())
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_one_interrupt_ends_a_question() -> None:
    controller, terminal = os.openpty()
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKS], stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    )
    os.close(terminal)
    shown = b""
    while b"Erase?" not in shown:
        shown += os.read(controller, 1000)
    time.sleep(0.5)  # to be sure that it waits for the answer
    asking.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # the terminal is gone with its last user
        while os.read(controller, 1000):
            pass
    assert asking.wait(timeout=60) != 0
    os.close(controller)
