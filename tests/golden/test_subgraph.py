from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remembrancer.retrieval import extract_subgraph

AREA = "cycgraph/subgraph"


async def test_the_golden_walk(case: Any, golden: Any, fixtures: Mapping[str, Any]) -> None:
    store = await golden.filled(case["graph"], fixtures[case["graph"]])
    subgraph = await extract_subgraph(store, case.input["seeds"], **golden.snake_case(case.input["options"]))
    found = {
        "entity_ids": [entity.id for entity in subgraph.entities],
        "relationship_ids": [edge.id for edge in subgraph.relationships],
    }
    assert found == case.expected
