"""The process that works: `python -m tests.faults.client`, with what to do as JSON on its standard input.

Each acknowledged write is a line of its log, on the disk before the next one begins. Ends with 3 and the error's text
when the library says that a write was not done, or that nobody knows.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from tests.faults.work import EMBEDDER, WORKS, clock, too_large

from remembrancer import Memory
from remembrancer.records import RemembranceError


async def work(order: dict[str, str]) -> None:
    """Do the work that the order names."""
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def acknowledge(what: str) -> None:
        os.write(log, f"{what}\n".encode())
        os.fsync(log)

    auth = (order["user"], order["password"])
    async with Memory.connect(
        order["uri"], auth=auth, namespace=order["namespace"], embedder=EMBEDDER, warm=False, clock=clock()
    ) as memory:
        await WORKS[order["work"]].do(memory, acknowledge)
        if order["fault"] == "memory":
            await memory.store.write(too_large(), idempotency_key="too large")
            acknowledge("too large")


def main() -> int:
    """Work, and tell how it ended."""
    try:
        asyncio.run(work(json.load(sys.stdin)))
    except RemembranceError as error:
        print(f"{type(error).__name__}: {error}", flush=True)  # noqa: T201 - read by the parent
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
