"""A run on a server that is somebody else's leaves it as it was."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from tests import guest
from tests.recorder import Recorder

from remembrancer.graph import Neo4jStore
from remembrancer.records import EmbeddingSpace, RecordBatch
from remembrancer.testing.samples import fact

pytestmark = pytest.mark.neo4j


async def test_what_a_run_made_is_erased_and_what_was_there_stays(
    neo4j_server: tuple[str, tuple[str, str]], neo4j_database: Any, tmp_path: Path
) -> None:
    theirs, ours = (f"test-{uuid.uuid4()}" for _ in range(2))
    async with Neo4jStore.open(database=neo4j_database, namespace=theirs) as store:
        await store.write(RecordBatch(facts=[fact(1)]))
    host = guest.Guest(*neo4j_server, database=None, folder=tmp_path)
    host.arrive()
    assert theirs in guest.refused(tmp_path)

    space = EmbeddingSpace(model=f"model-{ours}", dimensions=16)
    async with Neo4jStore.open(database=neo4j_database, namespace=ours, space=space) as store:
        await store.write(RecordBatch(facts=[fact(1)]))
    assert host.leave() != []  # nobody has said yet that the namespace is the run's
    guest.note(tmp_path, [ours])
    assert host.leave() == []
    async with Neo4jStore.open(database=neo4j_database, namespace=theirs) as store:
        assert await store.get_facts([fact(1).id])


def test_a_namespace_that_was_there_before_is_refused() -> None:
    recorder = Recorder()
    recorder.refused = frozenset({"theirs"})
    with pytest.raises(AssertionError, match="'theirs' was on the server before"):
        recorder.note("MATCH (f:Fact {namespace: $namespace}) RETURN f", {"namespace": "theirs"})
    assert not recorder.texts
