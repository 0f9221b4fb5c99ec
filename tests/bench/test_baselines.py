"""The flat methods: what each ranks by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from remembrancer.bench import BASELINES, Material, read_retrieval_set
from remembrancer.bench.baselines import Bm25, answer_flat
from remembrancer.providers.embedding import HashingEmbedder


class OneWay:
    """Everything points the same way, so that only words tell texts apart."""

    model = "one-way"
    dimensions = 2

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]


@pytest.fixture
def material(write, conversations) -> Material:  # type: ignore[no-untyped-def]
    return read_retrieval_set(write(conversations)).materials[0]


def test_bm25_agrees_with_its_formula() -> None:
    scores = Bm25(["kayak kayak rope", "rope"]).scores("kayaks")
    rarity = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert scores[0] == pytest.approx(rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)))
    assert scores[1] == 0.0


def test_bm25_of_nothing_finds_nothing() -> None:
    assert Bm25([]).scores("kayak").tolist() == []
    assert Bm25(["the", ""]).scores("the of").tolist() == [0.0, 0.0]


async def test_every_baseline_answers_every_question_with_turns_as_they_were_said(material: Material) -> None:
    answers = await answer_flat(material, kind="conversations", embedder=HashingEmbedder())
    assert tuple(answers) == BASELINES
    for by_question in answers.values():
        assert list(by_question) == ["7/Q1", "7/Q2"]
        assert by_question["7/Q1"][0].source_ids == ("7/1:1",)
        assert by_question["7/Q1"][0].text.startswith("[2 May 2024] Nils: ")


async def test_where_vectors_say_nothing_the_mixtures_go_by_words(material: Material) -> None:
    answers = await answer_flat(material, kind="conversations", embedder=OneWay())
    first = {name: by_question["7/Q2"][0].source_ids for name, by_question in answers.items()}
    assert first["bm25"] == first["rrf"] == first["hybrid"] == ("7/2:1",)


async def test_no_more_items_are_given_than_asked_for(material: Material) -> None:
    answers = await answer_flat(material, kind="conversations", embedder=HashingEmbedder(), depth=2)
    assert {len(items) for by_question in answers.values() for items in by_question.values()} == {2}
