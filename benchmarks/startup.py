"""Starting the local server with and without the start-up archive: alternately, until the first answered query.

Bytes that are fetched once are told too. The archive is made first when it is not there.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import world

from remembrancer.server import LocalServer, make_archive, status
from remembrancer.server.artifact import shipped_lock

WITH, WITHOUT = "use", "off"


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    told = parser.parse_args()
    archive = await make_archive()
    lock = shipped_lock()
    print(f"{len(lock.artifacts)} jars, {lock.total_size:,} bytes; archive of {archive.stat().st_size:,} bytes")
    times: dict[str, list[tuple[float, float]]] = {WITH: [], WITHOUT: []}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        await started(folder, WITH)  # the very first start of a folder makes the database
        for turn in range(told.rounds):
            for way in (WITH, WITHOUT) if turn % 2 else (WITHOUT, WITH):
                times[way].append(await started(folder, way))
    rows = []
    for way, name in ((WITHOUT, "without archive"), (WITH, "with archive")):
        seconds, cpu = (statistics.median(column) for column in zip(*times[way], strict=True))
        rows.append({"start": name, "seconds": seconds, "cpu seconds": cpu})
    rows.append({"start": "ratio"} | {key: rows[0][key] / rows[1][key] for key in ("seconds", "cpu seconds")})
    world.report(rows, told.out)


async def started(folder: str, way: str) -> tuple[float, float]:
    """Seconds until the server answers, and what the JVM took of the processors until then (Linux only, else 0)."""
    os.environ["REMEMBRANCER_START_ARCHIVE"] = way
    began = time.perf_counter()
    async with LocalServer.open(folder, linger=0.0):
        seconds = time.perf_counter() - began
        pid = (await status(folder)).server_pid
        cpu = processor_seconds(pid) if pid is not None and sys.platform == "linux" else 0.0
    while (await status(folder)).running:  # noqa: ASYNC110 - another process sets no event
        await asyncio.sleep(0.05)
    return seconds, cpu


def processor_seconds(pid: int) -> float:
    used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    world.run(main)
