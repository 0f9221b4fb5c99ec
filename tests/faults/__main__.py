"""Rounds of faults, and a table of what became of them: `python -m tests.faults --rounds 100 --seed 1`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.faults.rounds import FAULTS, run_rounds

_COLUMNS = ("rounds", "faults", "acknowledged", "refused", "lost", "half", "doubled", "broken")


def table(summary: dict[str, Any]) -> str:
    """The summary as a table of Markdown."""
    lines = [f"| fault | work | {' | '.join(_COLUMNS)} |", f"|---|---|{'---|' * len(_COLUMNS)}"]
    rows = [*summary["rows"], {"fault": "all", "work": "", **summary["total"]}]
    lines += [f"| {row['fault']} | {row['work']} | {' | '.join(str(row[name]) for name in _COLUMNS)} |" for row in rows]
    return "\n".join(lines)


def main() -> int:
    """Run the rounds; 1 when anything was lost, by halves, doubled or broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--kills", type=int, default=0, help="go on until so many processes were killed")
    parser.add_argument("--seconds", type=float, default=None, help="begin no round after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None, help="where to write the summary as JSON")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS, help="only these")
    parser.add_argument(
        "--at-once", type=int, default=1, help="rounds beside one another, none of which kills the server"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        summary = asyncio.run(
            run_rounds(
                Path(folder),
                rounds=given.rounds,
                seed=given.seed,
                least_kills=given.kills,
                seconds=given.seconds,
                faults=given.faults,
                at_once=given.at_once,
                told=lambda line: print(line, flush=True),  # noqa: T201 - a program for people
            )
        )
    print(table(summary), "kills:", summary["kills"], sep="\n")  # noqa: T201
    if given.out is not None:
        given.out.write_text(json.dumps(summary, indent=1) + "\n")
    return int(any(summary["total"][name] for name in ("lost", "half", "doubled", "broken")))


if __name__ == "__main__":
    sys.exit(main())
