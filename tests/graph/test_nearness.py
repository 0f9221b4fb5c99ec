"""Which vectors lie near one another: as if each were compared with each, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.graph.nearness import Nearness, Screen
from remembrancer.records import cosine

ANGLES = st.lists(st.sampled_from((0, 1, 2, 5, 9, 40, 41, 43, 90, 91, 180, 270)), min_size=1, max_size=30)


def vectors_at(angles: list[int], *, scale: float = 1.0) -> list[np.ndarray]:
    """Vectors in a plane, no two at quite the same angle, so that no two scores tie."""
    turned = [np.radians(angle + 0.37 * place**1.5 / 100) for place, angle in enumerate(angles)]
    return [scale * np.array([np.cos(one), np.sin(one), 0.0], dtype=np.float32) for one in turned]


def compared(vectors: list[np.ndarray], *, least: float, limit: int = 100, block: int = 7) -> Nearness:
    nearness = Nearness(len(vectors), least=least, limit=limit)
    blocks = [
        nearness.block(range(start, min(start + block, len(vectors))), vectors[start : start + block])
        for start in range(0, len(vectors), block)
    ]
    for one, other in itertools.combinations_with_replacement(blocks, 2):
        nearness.compare(one, other)
    return nearness


@given(angles=ANGLES, least=st.sampled_from((-0.5, 0.0, 0.7, 0.9, 0.9999)), block=st.integers(1, 9))
def test_what_is_clear_is_what_comparing_one_by_one_finds(angles: list[int], least: float, block: int) -> None:
    vectors = vectors_at(angles)
    nearness = compared(vectors, least=least, block=block)
    unclear, clear = set(nearness.unclear()), dict(nearness.clear())
    assert unclear.isdisjoint(clear)
    for place, vector in enumerate(vectors):
        scores = {n: cosine(vector.tolist(), one.tolist()) for n, one in enumerate(vectors) if n != place}
        expected = sorted((n for n in scores if scores[n] >= least), key=lambda n: -scores[n])
        if place not in unclear:
            assert [n for n, _ in clear.get(place, [])] == expected
            # In float32 a score near zero is exact only to what the vectors' length allows, not to its own size.
            assert [score for _, score in clear.get(place, [])] == pytest.approx(
                [scores[n] for n in expected], abs=1e-6
            )


@given(seed=st.integers(0, 10_000), dimensions=st.integers(1, 60), spread=st.sampled_from((0.0, 0.05, 0.5, 5.0)))
def test_a_screen_never_tells_of_two_vectors_that_they_are_less_near_than_they_are(
    seed: int, dimensions: int, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(3, dimensions))
    vectors = middles[rng.integers(0, 3, 40)] + spread * rng.normal(size=(40, dimensions))
    units = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    cut = Screen(units[:20], least=0.9).cut(units)
    assert np.all(cut @ cut.T >= units @ units.T - 1e-5)


@pytest.mark.parametrize("least", [0.5, 0.9])
def test_of_clustered_vectors_a_part_of_the_coordinates_is_enough_to_find_all_near_pairs(least: float) -> None:
    rng = np.random.default_rng(7)
    middles = rng.normal(size=(40, 128))
    vectors = (middles[rng.integers(0, 40, 1_500)] + 0.6 * rng.normal(size=(1_500, 128))).astype(np.float32)
    vectors[100:160] = vectors[:60] + 0.1 * vectors[100:160]
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert Screen(units, least=least).is_partial
    near = units @ units.T >= least
    expected = {(int(a), int(b)) for a, b in zip(*np.nonzero(near), strict=True) if a != b}
    found = dict(compared(list(vectors), least=least, limit=1_000, block=400).clear())
    unclear = set(compared(list(vectors), least=least, limit=1_000, block=400).unclear())
    assert {(one, two) for one, some in found.items() for two, _ in some} == {
        (one, two) for one, two in expected if one not in unclear
    }
    assert len(unclear) < len(found)


def test_more_vectors_than_one_product_takes_are_compared_all_the_same() -> None:
    noise = np.random.default_rng(1).normal(size=(2_300, 24)).astype(np.float32)
    for one, other in ((0, 2_299), (5, 900), (1_100, 1_101)):
        noise[other] = noise[one] + 0.05 * noise[other]
    found = dict(compared(list(noise), least=0.98, block=2_300).clear())
    assert {place: [near for near, _ in some] for place, some in found.items()} == {
        0: [2_299],
        2_299: [0],
        5: [900],
        900: [5],
        1_100: [1_101],
        1_101: [1_100],
    }


def test_near_ones_at_the_same_distance_are_left_to_the_index() -> None:
    nearness = compared([*vectors_at([0, 90]), *vectors_at([0])], least=0.9)
    assert dict(nearness.clear()).keys() == {0, 2}
    nearness = compared([np.array([1.0, 0.0])] * 3, least=0.9)
    assert (list(nearness.clear()), nearness.unclear()) == ([], [0, 1, 2])


def test_a_score_at_the_least_one_is_left_to_the_index() -> None:
    ones = [np.array([1.0, 0.0]), np.array([0.6, 0.8])]
    assert compared(ones, least=0.6).unclear() == compared(ones, least=0.600001).unclear() == [0, 1]
    assert compared(ones, least=0.6001).unclear() == []


def test_a_crowd_is_counted_and_not_listed() -> None:
    nearness = compared([np.array([1.0, n / 1_000]) for n in range(60)], least=0.9, limit=50, block=25)
    assert (list(nearness.clear()), nearness.unclear()) == ([], list(range(60)))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_length_does_not_matter(scale: float) -> None:
    near = dict(compared(vectors_at([0, 3, 90], scale=scale), least=0.9).clear())
    assert {place: [one for one, _ in some] for place, some in near.items()} == {0: [1], 1: [0]}


def test_no_vector_is_near_to_none() -> None:
    nearness = Nearness(0, least=0.9, limit=100)
    assert (list(nearness.clear()), nearness.unclear()) == ([], [])
