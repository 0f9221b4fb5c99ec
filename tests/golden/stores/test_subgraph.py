from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from remembrancer.retrieval import extract_subgraph, extract_subgraph_plain

AREA = "cycgraph/subgraph"


@pytest.mark.parametrize("extract", [extract_subgraph, extract_subgraph_plain])
async def test_the_golden_walk(case: Any, golden: Any, fixtures: Mapping[str, Any], extract: Any) -> None:
    store = await golden.filled(case["graph"], fixtures[case["graph"]])
    subgraph = await extract(store, case.input["seeds"], **golden.snake_case(case.input["options"]))
    found = {
        "entity_ids": [entity.id for entity in subgraph.entities],
        "relationship_ids": [edge.id for edge in subgraph.relationships],
    }
    assert found == case.expected
