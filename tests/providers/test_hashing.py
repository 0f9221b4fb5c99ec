from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records.errors import InvalidInputError

SCRIPT = """
import asyncio, json
from remembrancer.providers.embedding import HashingEmbedder
print(json.dumps(asyncio.run(HashingEmbedder().embed(["Priya deploys on Friday", "", "会議"]))))
"""


async def similarity(a: str, b: str) -> float:
    one, other = await HashingEmbedder(1024).embed([a, b])
    return sum(x * y for x, y in zip(one, other, strict=True))


def test_vectors_are_the_same_in_every_process() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]

    assert runs[0] == runs[1]


async def test_vectors_are_the_ones_of_this_version_of_the_space() -> None:
    (vector,) = await HashingEmbedder(16).embed(["Priya Raman joins Northwind"])

    assert [round(number, 4) for number in vector] == [
        -0.1998, -0.0999, 0.0999, 0.0, 0.0333, 0.2997, -0.0999, 0.0999,
        -0.1998, -0.0999, 0.0, -0.5993, 0.0, -0.6326, 0.0999, -0.0999,
    ], "the vectors changed: raise the number in HashingEmbedder.model"  # fmt: skip


async def test_inflected_words_meet_in_their_pieces() -> None:
    assert await similarity("deploying", "deployment") > 0.3
    assert abs(await similarity("automobile", "kitchen")) < 0.15


async def test_case_width_and_ligatures_make_no_difference() -> None:
    assert await similarity("ＲＥＬＥＡＳＥ ﬁle STRASSE", "release file straße") == pytest.approx(1.0, abs=1e-6)


async def test_words_in_writing_without_spaces_are_found_inside_a_sentence() -> None:
    assert await similarity("会議", "会議は火曜日に延期されました") > 0.2
    assert await similarity("会議", "猫が好きです") < 0.1


async def test_texts_with_nothing_to_read_are_all_alike() -> None:
    empty, blank, newline = await HashingEmbedder().embed(["", "   ", "\n\t"])

    assert empty == blank == newline


async def test_emoji_count_beside_words() -> None:
    assert await similarity("🎉 shipped", "🎉 done") > await similarity("🎉 shipped", "🐛 done") + 0.2


@pytest.mark.parametrize("dimensions", [0, -1, 15, 4097, 256.0, True, "256", None])
def test_dimensions_out_of_range_are_refused(dimensions: Any) -> None:
    with pytest.raises(InvalidInputError, match="dimensions"):
        HashingEmbedder(dimensions)


async def test_features_that_cancel_each_other_leave_no_zero_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    opposite = ((5, 1.0), (5 + (1 << 63), 1.0))
    monkeypatch.setattr("remembrancer.providers.embedding.hashing._remembered_features", lambda word: opposite)

    (vector,) = await HashingEmbedder(16).embed(["word"])

    assert vector == [1.0 if bucket == 5 else 0.0 for bucket in range(16)]
