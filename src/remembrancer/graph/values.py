"""Values on their way into and out of the graph.

Into: instants as UTC datetimes, vectors as float32, open maps and nothing else as JSON, provenance flat under its own
prefix. Out: instants come as text made inside Cypher, since the driver builds a datetime ten times slower.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from neo4j.vector import Vector

from remembrancer.records import Provenance
from remembrancer.records.fact import MAX_INTEGER
from remembrancer.records.vector import to_float32

Positions = list[list[Any]]

_EQUALS = 10  # as near as the last hit wanted, more would make each search dearer for a rare case


def as_vector(embedding: Sequence[float] | None) -> Vector | None:
    """The embedding as a driver vector of float32; as a list of doubles it would cost 25 times the time to send."""
    if embedding is None:
        return None
    return Vector(to_float32(embedding).tobytes(), "f32", byteorder=sys.byteorder)


def from_vector(vector: Vector | None) -> list[float] | None:
    """The numbers of a vector that came back."""
    return None if vector is None else np.asarray(vector.to_numpy()).tolist()


def as_json(value: Mapping[str, Any]) -> str:
    """An open map as text: ASCII, so that any character survives; without NaN or infinity."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def from_json(text: str | None) -> dict[str, Any]:
    """The open map that a text holds."""
    return json.loads(text) if text and text != "{}" else {}  # most are empty


def provenance_properties(provenance: Provenance | None) -> dict[str, Any]:
    """The provenance as properties of its own prefix, absent ones as null."""
    return {
        f"provenance_{name}": getattr(provenance, name) if provenance is not None else None
        for name in Provenance.model_fields
    }


def take_provenance(row: dict[str, Any]) -> dict[str, Any] | None:
    """Take the provenance out of a row, which has it as a map or flat; `None` when there is none."""
    if "provenance" in row:
        taken: dict[str, Any] | None = row.pop("provenance")
        return taken
    fields = {name: row.pop(f"provenance_{name}", None) for name in Provenance.model_fields}
    return fields if fields["source"] is not None else None


def asked(limit: int) -> int:
    """How many hits a vector index is asked for where `limit` are wanted.

    Of records as near as each other the index keeps any at its cut, so the cut is made behind it, in the order told.
    """
    return min(limit + _EQUALS, MAX_INTEGER)


def with_positions(ids: Sequence[str]) -> Positions:
    """Each id once, with the places at which the list names it: `["a", "b", "a"]` is `[["a", [0, 2]], ["b", [1]]]`."""
    places: dict[str, list[int]] = {}
    for place, record_id in enumerate(ids):
        places.setdefault(record_id, []).append(place)
    return [[record_id, listed] for record_id, listed in places.items()]


def namespace_token(namespace: str) -> str:
    """The namespace as one word of the full-text indexes.

    A digest in decimal that ends in a digit is one alphanumeric token to every analyzer; the namespace itself would
    be cut into words and match its neighbours.
    """
    digest = hashlib.sha256(namespace.encode("utf-8")).digest()
    return f"ns{int.from_bytes(digest[:16], 'big')}0"


def closed_token(namespace: str) -> str:
    """The same for closed and quarantined facts: another word, so that ordinary searches never meet them."""
    return f"{namespace_token(namespace)}1"


def standing(*, include_invalidated: bool, include_quarantined: bool = False) -> list[int]:
    """Which facts a search by vector may return: a range of what `cypher/fact/put.cypher` calls their standing."""
    return [-1 if include_invalidated else 0, 0 if not include_quarantined else 2 if include_invalidated else 1]


def text_key(text: str) -> str:
    """A digest under which a text of any length can be indexed."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
