"""Embeddings: float32 numbers, one length per embedding space, never zero, NaN or infinite once stored.

Absent and empty differ: an empty embedding is there, only `None` is missing. Records accept any length, since a
record may exist before its space is known; stores refuse what an index could not hold.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from remembrancer.records.base import check_ordered
from remembrancer.records.errors import EmbeddingDimensionMismatchError, InvalidInputError

SIMILARITY_TOLERANCE = 1e-6
"""How far below a least similarity a score still passes: what rounding to float32 can take away."""


def _listed(value: object) -> object:
    # numpy arrays and the driver's vectors know how to become plain numbers; nothing else is converted.
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else check_ordered(value)


Number = Annotated[float, Field(allow_inf_nan=False)]
if TYPE_CHECKING:
    Embedding = Sequence[float]
else:
    Embedding = Annotated[tuple[Number, ...], Field(strict=False), BeforeValidator(_listed)]
"""A field that holds an embedding: any sequence of finite numbers, a numpy array among them."""


def to_float32(vector: Sequence[float]) -> array[float]:
    """The vector in single precision, as both stores keep it."""
    return array("f", vector)


def stored_vector(vector: Sequence[float], *, dimensions: int | None, field: str) -> tuple[float, ...]:
    """Round a vector to what a store keeps, refusing what no index could find again.

    Args:
        vector: The numbers.
        dimensions: Length of the embedding space; `None` accepts any length but zero.
        field: Names the vector in an error.

    Raises:
        EmbeddingDimensionMismatchError: Another length than `dimensions`.
        InvalidInputError: Empty, all zero, NaN or infinite (also after rounding to float32).
    """
    if dimensions is not None and len(vector) != dimensions:
        raise EmbeddingDimensionMismatchError(dimensions, len(vector), field)
    if not len(vector):
        raise InvalidInputError(field, "an empty vector cannot be searched; leave the embedding out instead")
    rounded = to_float32(vector)
    if not all(map(math.isfinite, rounded)):
        raise InvalidInputError(field, "a vector with NaN or infinity in float32 cannot be searched")
    if not any(rounded):
        raise InvalidInputError(field, "a vector of zeros has no direction and cannot be searched")
    # One that is in float32 already is handed back itself: thousands of copies would fill the memory.
    kept = tuple(rounded)
    return vector if isinstance(vector, tuple) and kept == vector else kept


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine of the angle between two vectors, -1 to 1; 0 when lengths differ, or one is empty or all zero."""
    if len(a) != len(b) or not len(a):
        return 0.0
    # Scaled first: squares of large components overflow, those of small ones vanish.
    scale_a, scale_b = max(map(abs, a)), max(map(abs, b))
    if scale_a == 0 or scale_b == 0:
        return 0.0
    dot = squares_a = squares_b = 0.0
    for left, right in zip(a, b, strict=True):
        x, y = left / scale_a, right / scale_b
        dot += x * y
        squares_a += x * x
        squares_b += y * y
    norms = math.sqrt(squares_a) * math.sqrt(squares_b)
    return dot / norms if norms else 0.0
