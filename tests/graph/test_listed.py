"""The lists in which a retrieval sends records leave no field of them out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from remembrancer.graph import listed
from remembrancer.records import Entity, Episode, Fact, Message, Provenance, Relationship, Theme


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (Entity, listed.ENTITY),
        (Relationship, listed.RELATIONSHIP),
        (Message, listed.MESSAGE),
        (Episode, listed.EPISODE),
        (Fact, listed.FACT),
        (Theme, listed.THEME),
        (Provenance, listed.PROVENANCE),
    ],
)
def test_a_list_holds_every_field_but_the_vector(record: type[BaseModel], fields: Sequence[str]) -> None:
    assert sorted(fields) == sorted(set(record.model_fields) - {"embedding"})
