"""Errors: one root, sentences with the values in them, and the values as attributes."""

from __future__ import annotations

import inspect

import pytest

from remembrancer import records
from remembrancer.records import EmbeddingSpaceMismatchError, InvalidInputError, NotFoundError, RemembranceError, errors

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", ALL)
def test_every_error_has_the_one_root_and_is_public(kind: type[Exception]) -> None:
    assert issubclass(kind, RemembranceError)
    assert kind.__name__ in records.__all__
    assert kind.__doc__


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(InvalidInputError, ValueError)
    assert issubclass(NotFoundError, LookupError)


def test_the_message_holds_the_values() -> None:
    error = NotFoundError("fact", ["a", "b"], namespace="acme")
    assert str(error) == "no fact with id a, b in namespace 'acme'"
    assert (error.kind, error.missing, error.namespace) == ("fact", ("a", "b"), "acme")
    mismatch = EmbeddingSpaceMismatchError(
        namespace="acme", expected_model="minilm", expected=384, actual_model="hashing", actual=64
    )
    assert "minilm" in str(mismatch)
    assert (mismatch.expected, mismatch.actual, mismatch.actual_model) == (384, 64, "hashing")
