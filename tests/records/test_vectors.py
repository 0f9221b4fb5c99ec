"""Vectors: rounding to float32 at the door, what no index could find, and the cosine."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.records import EmbeddingDimensionMismatchError, Entity, InvalidInputError, Provenance, cosine
from remembrancer.records.vector import stored_vector

components = st.floats(-1e6, 1e6, allow_nan=False)
vectors = st.lists(components, max_size=6)


def entity(embedding: object) -> Entity:
    return Entity.model_validate(
        {
            "id": "e0000000-0000-4000-8000-000000000001",
            "name": "Ada",
            "entity_type": "person",
            "provenance": Provenance(source="human", created_at="2025-01-01"),
            "created_at": "2025-01-01",
            "updated_at": "2025-01-01",
            "embedding": embedding,
        }
    )


@pytest.mark.parametrize("given_as", [[1, 0.5], (1.0, 0.5), np.array([1.0, 0.5]), np.float32([1.0, 0.5])])
def test_an_embedding_may_be_any_sequence_of_numbers(given_as: object) -> None:
    assert entity(given_as).embedding == (1.0, 0.5)


def test_an_empty_embedding_is_there_and_only_none_is_absent() -> None:
    assert entity([]).embedding == ()
    assert entity(None).embedding is None


@pytest.mark.parametrize(
    "value",
    ["abc", b"abc", ["1"], [True], [None], [math.nan], [math.inf], {1.0, 2.0}, {1.0: 2.0}, 5, np.eye(2), [10**400]],
)
def test_what_is_no_list_of_finite_numbers_is_no_embedding(value: object) -> None:
    with pytest.raises(ValueError, match="embedding"):
        entity(value)


def test_a_stored_vector_is_what_float32_makes_of_it() -> None:
    assert stored_vector([0.1, 1 / 3], dimensions=2, field="embedding") == (
        float(np.float32(0.1)),
        float(np.float32(1 / 3)),
    )


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_storing_twice_changes_nothing_more(vector: list[float]) -> None:
    if any(vector):
        once = stored_vector(vector, dimensions=None, field="embedding")
        assert once == tuple(vector) == stored_vector(once, dimensions=None, field="embedding")


@pytest.mark.parametrize("vector", [[], [0.0, -0.0], [math.nan], [math.inf], [1e39], [-1e300], [1e-60]])
def test_what_no_index_could_find_is_refused(vector: list[float]) -> None:
    with pytest.raises(InvalidInputError, match=r"^facts\.0\.embedding: "):
        stored_vector(vector, dimensions=None, field="facts.0.embedding")


def test_another_length_than_the_space_has_is_told_with_both_lengths() -> None:
    with pytest.raises(EmbeddingDimensionMismatchError) as caught:
        stored_vector([1.0], dimensions=2, field="embedding")
    assert (caught.value.expected, caught.value.actual, caught.value.context) == (2, 1, "embedding")


@pytest.mark.parametrize(("one", "other"), [([], []), ([1.0], [1.0, 0.0]), ([0.0], [0.0]), ([1.0], [0.0]), ([], [1.0])])
def test_vectors_that_cannot_be_compared_have_cosine_zero(one: Sequence[float], other: Sequence[float]) -> None:
    assert cosine(one, other) == 0


@given(vectors, vectors)
def test_the_cosine_is_symmetric_and_within_rounding_of_minus_one_to_one(one: list[float], other: list[float]) -> None:
    assert cosine(one, other) == cosine(other, one)
    assert abs(cosine(one, other)) <= 1 + 1e-12


@given(vectors)
def test_a_vector_points_where_it_points(vector: list[float]) -> None:
    opposite = [-component for component in vector]
    expected = 1.0 if any(vector) else 0.0
    assert cosine(vector, vector) == pytest.approx(expected)
    assert cosine(vector, opposite) == pytest.approx(-expected)


@given(vectors, st.sampled_from([1e-280, 1e-100, 0.5, 3.0, 1e100, 1e290]))
def test_length_does_not_matter_however_large_or_small(vector: list[float], factor: float) -> None:
    steady = [round(component, 3) for component in vector]
    scaled = [component * factor for component in steady]
    other = [1.0] * len(vector)
    assert cosine(scaled, other) == pytest.approx(cosine(steady, other), abs=1e-9)


@given(st.lists(st.tuples(components, components), min_size=1, max_size=8))
def test_the_cosine_is_the_one_of_the_textbook(pairs: list[tuple[float, float]]) -> None:
    one, other = np.array(pairs).T
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    if lengths > 1e-100:
        assert cosine(one.tolist(), other.tolist()) == pytest.approx(float(one @ other / lengths), abs=1e-9)


def test_a_vector_of_another_length_is_a_value_error_as_all_bad_input() -> None:
    with pytest.raises(ValueError, match="expected a vector of 3 dimensions, got 1"):
        raise EmbeddingDimensionMismatchError(3, 1, "here")
