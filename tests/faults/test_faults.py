"""Ten rounds of faults, and ten kills: nothing that was acknowledged is lost, there by halves or doubled.

More of them: `python -m tests.faults --rounds 100 --seed 1 --out summary.json`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.proxy import COMMIT, Frames
from tests.faults.rounds import run_rounds


@pytest.mark.neo4j
@pytest.mark.long
async def test_ten_rounds_of_faults_leave_every_memory_well(tmp_path: Path) -> None:
    summary = await run_rounds(tmp_path, rounds=10, seed=7)
    assert [problem for row in summary["rows"] for problem in row["problems"]] == []
    assert {name: summary["total"][name] for name in ("lost", "half", "doubled", "broken")} == dict.fromkeys(
        ("lost", "half", "doubled", "broken"), 0
    )
    assert summary["total"]["faults"] >= 8


@pytest.mark.neo4j
@pytest.mark.long
async def test_ten_kills_of_clients_leave_every_memory_well(tmp_path: Path) -> None:
    summary = await run_rounds(tmp_path, rounds=4, seed=5, least_kills=10, faults=["kill client"], at_once=4)
    assert [problem for row in summary["rows"] for problem in row["problems"]] == []
    assert {name: summary["total"][name] for name in ("lost", "half", "doubled", "broken")} == dict.fromkeys(
        ("lost", "half", "doubled", "broken"), 0
    )
    assert sum(summary["kills"].values()) >= 10


def test_messages_are_told_apart_wherever_they_are_cut() -> None:
    message = b"\x00\x02\xb0" + bytes([COMMIT]) + b"\x00\x00"
    sent = b"p" * 20 + message * 3
    for size in (1, 2, 5, len(sent)):
        frames, kinds = Frames(), []
        frames.answered(b"\x00\x00\x04\x05")
        for start in range(0, len(sent), size):
            kinds += frames.sent(sent[start : start + size])
        assert kinds == [COMMIT] * 3
