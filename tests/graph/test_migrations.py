"""The schema: made once by any number of processes, never changed behind a library's back, checked on opening."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator

import pytest
from neo4j.exceptions import Neo4jError

from remembrancer.graph import Database, Neo4jStore, check_indexes, migrate, queries, schema_state
from remembrancer.graph import migrations as all_migrations
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    EmbeddingSpace,
    EmbeddingSpaceMismatchError,
    MigrationError,
    RecordBatch,
    RemembranceError,
)
from remembrancer.server import LocalServer
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import direction, fact, sample_id

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

CLOCK = FixedClock("2025-01-01T00:00:00Z")
SMALL = EmbeddingSpace(model="small", dimensions=4)
LARGE = EmbeddingSpace(model="large", dimensions=8)

OPENER = """
import asyncio, sys
from remembrancer.graph import Neo4jStore
from remembrancer.records import EmbeddingSpace

async def main():
    uri, user, password, namespace, model, dimensions = sys.argv[1:]
    space = EmbeddingSpace(model=model, dimensions=int(dimensions)) if model != "-" else None
    async with Neo4jStore.open(uri, auth=(user, password), namespace=namespace, space=space) as store:
        print(store._number)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
async def database(own_server: LocalServer) -> AsyncIterator[Database]:
    async with Database.open(own_server.bolt_uri, auth=(own_server.username, own_server.password)) as opened:
        yield opened


async def opened_elsewhere(server: LocalServer, namespace: str, space: EmbeddingSpace | None) -> str:
    """Open a store in another process; what it printed, or its error."""
    model, dimensions = (space.model, str(space.dimensions)) if space is not None else ("-", "0")
    arguments = [server.bolt_uri, server.username, server.password, namespace, model, dimensions]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OPENER, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-2000:]
    assert err == b""
    return out.decode().strip()


async def test_a_database_that_was_never_migrated_is_refused_when_it_may_not_be_changed(database: Database) -> None:
    assert await check_indexes(database) == ["the database was never migrated: run `remembrancer migrate`"]
    with pytest.raises(MigrationError, match=r"001_records.*remembrancer migrate.*migrate=True"):
        async with Neo4jStore.open(database=database, namespace="readonly", migrate=False):
            pass
    assert await schema_state(database) is None


async def test_eight_processes_open_an_empty_database_at_once(own_server: LocalServer, database: Database) -> None:
    names = [f"tenant {number}" for number in range(8)]
    assert await asyncio.gather(*(opened_elsewhere(own_server, name, None) for name in names)) == ["1"] * 8
    assert await check_indexes(database) == []
    state = await schema_state(database)
    assert state is not None
    assert state.applied == {migration.version: migration.checksum for migration in all_migrations()}


async def test_processes_that_open_new_spaces_at_once_agree_on_their_numbers(
    own_server: LocalServer, database: Database
) -> None:
    wanted = [SMALL, LARGE, SMALL, LARGE]
    numbers = await asyncio.gather(
        *(opened_elsewhere(own_server, f"spaced {place}", space) for place, space in enumerate(wanted))
    )
    assert (numbers[0], numbers[1]) in {("1", "2"), ("2", "1")}
    assert numbers[0::2] == [numbers[0]] * 2
    assert numbers[1::2] == [numbers[1]] * 2
    state = await schema_state(database)
    assert state is not None
    assert {space.model: str(number) for number, space in enumerate(state.spaces, 1)} == {
        "small": numbers[0],
        "large": numbers[1],
    }
    assert await check_indexes(database) == []


async def test_one_namespace_opened_with_two_spaces_at_once_belongs_to_one(database: Database) -> None:
    async def open_it(space: EmbeddingSpace) -> EmbeddingSpace | None:
        async with Neo4jStore.open(database=database, namespace="contested", space=space) as store:
            return store.space

    results = await asyncio.gather(*(open_it(s) for s in [SMALL, LARGE] * 4), return_exceptions=True)
    won = {result.model for result in results if isinstance(result, EmbeddingSpace)}
    lost = [result for result in results if isinstance(result, BaseException)]
    assert len(won) == 1
    assert len(lost) == 4
    assert all(isinstance(error, EmbeddingSpaceMismatchError) for error in lost)


async def test_two_spaces_live_side_by_side(database: Database) -> None:
    async with (
        Neo4jStore.open(database=database, namespace="in small", space=SMALL) as small,
        Neo4jStore.open(database=database, namespace="in large", space=LARGE) as large,
    ):
        await small.put_fact(fact(1, embedding=direction(0)))
        await large.put_fact(fact(1, embedding=(0, 0, 0, 0, *direction(0))))
        assert [hit.id for hit in await small.index.search_facts(direction(0))] == [sample_id("fact", 1)]
        assert await large.index.search_facts((*direction(0), 0, 0, 0, 0)) == []
        found = await large.index.search_facts((0, 0, 0, 0, *direction(0)))
        assert [hit.id for hit in found] == [sample_id("fact", 1)]
        with pytest.raises(EmbeddingDimensionMismatchError):
            await large.put_fact(fact(2, embedding=direction(0)))


@pytest.mark.parametrize(
    "other",
    [EmbeddingSpace(model="other", dimensions=4), EmbeddingSpace(model="small", dimensions=5)],
    ids=["model", "dimensions"],
)
async def test_another_space_than_it_was_filled_with_is_refused_naming_both(
    database: Database, other: EmbeddingSpace
) -> None:
    async with Neo4jStore.open(database=database, namespace="filled", space=SMALL) as store:
        await store.put_fact(fact(1, embedding=direction(0)))
    with pytest.raises(EmbeddingSpaceMismatchError) as raised:
        async with Neo4jStore.open(database=database, namespace="filled", space=other):
            pass
    for told in ("'filled'", "'small' (4 dimensions)", f"{other.model!r} ({other.dimensions} dimensions)"):
        assert told in str(raised.value)
    state = await schema_state(database)
    assert state is not None
    assert other not in state.spaces
    async with Neo4jStore.open(database=database, namespace="filled") as store:
        assert store.space == SMALL
        assert (await store.get_fact(sample_id("fact", 1))) is not None


async def test_a_namespace_without_a_space_gets_the_first_one_asked_for(database: Database) -> None:
    async with Neo4jStore.open(database=database, namespace="bare") as store:
        assert store.space is None
    async with Neo4jStore.open(database=database, namespace="bare", space=LARGE) as store:
        assert store.space == LARGE
    async with Neo4jStore.open(database=database, namespace="bare") as store:
        assert store.space == LARGE


@pytest.fixture
async def changed_schema(database: Database) -> AsyncIterator[list[str]]:
    """Statements to be run on the schema node; undone afterwards."""
    rows = await database.read("MATCH (s:Schema) RETURN s.versions AS versions, s.checksums AS checksums", {})
    yield []

    async def undo(transaction: object) -> None:
        await transaction.run("MATCH (s:Schema) SET s += $was", {"was": rows[0]})  # type: ignore[attr-defined]

    await database.write(undo)


async def set_schema(database: Database, **values: object) -> None:
    async def work(transaction: object) -> None:
        await transaction.run("MATCH (s:Schema) SET s += $values", {"values": values})  # type: ignore[attr-defined]

    await database.write(work)


@pytest.mark.usefixtures("changed_schema")
async def test_a_database_that_a_newer_library_migrated_is_refused(database: Database) -> None:
    known = max(migration.version for migration in all_migrations())
    await set_schema(database, versions=[1, 99], checksums=[all_migrations()[0].checksum, "x"])
    for allowed in (True, False):
        with pytest.raises(MigrationError, match=rf"version 99.*up to {known}") as raised:
            async with Neo4jStore.open(database=database, namespace="new", migrate=allowed):
                pass
        assert (raised.value.applied, raised.value.known) == (99, known)


@pytest.mark.usefixtures("changed_schema")
async def test_a_migration_that_was_another_one_is_refused(database: Database) -> None:
    known = [migration.version for migration in all_migrations()]
    await set_schema(database, versions=known, checksums=["other" for _ in known])
    with pytest.raises(MigrationError, match=r"migration 1 \(records\) differs") as raised:
        async with Neo4jStore.open(database=database, namespace="new"):
            pass
    assert (raised.value.applied, raised.value.known) == (max(known), max(known))


async def test_a_dropped_index_is_told_on_opening_and_made_again_by_migrating(database: Database) -> None:
    for name in ("fact_theme", "message_text"):
        await database.change_schema(f"DROP INDEX {name}")
    await database.change_schema("DROP CONSTRAINT tag_name")
    try:
        with pytest.raises(MigrationError) as raised:
            async with Neo4jStore.open(database=database, namespace="indexed"):
                pass
        for name in ("fact_theme", "message_text", "tag_name"):
            assert f"index {name} is missing: run `remembrancer migrate`" in str(raised.value)
        assert len(await check_indexes(database)) == 3
    finally:
        assert await migrate(database, clock=CLOCK) == ["fact_theme", "message_text", "tag_name"]
    assert await check_indexes(database) == []
    assert await migrate(database, clock=CLOCK) == []
    async with Neo4jStore.open(database=database, namespace="indexed") as store:
        await store.write(RecordBatch(facts=[fact(1)]))


@pytest.mark.parametrize(
    ("number", "dimensions", "quantization", "problem"),
    [
        (1, None, "SCALAR", "vector.quantization.type = SCALAR, expected NONE"),
        (1, 99, "NONE", "vector.dimensions = 99, expected"),
    ],
    ids=["quantized", "dimensions"],
)
async def test_a_vector_index_with_other_options_is_told_on_opening(
    database: Database, number: int, dimensions: int | None, quantization: str, problem: str
) -> None:
    state = await schema_state(database)
    assert state is not None
    space = state.spaces[number - 1]
    name = f"theme_embedding_{number}"
    await database.change_schema(f"DROP INDEX {name}")
    text = queries.load("schema.vector_indexes", number, dimensions or space.dimensions)
    statement = next(made for made in queries.statements(text) if f" {name} " in made)
    await database.change_schema(statement.replace("'NONE'", f"'{quantization}'"))
    other = state.spaces[2 - number]
    try:
        with pytest.raises(MigrationError, match=rf"index {name} has {problem}.*drop it and run"):
            async with Neo4jStore.open(database=database, namespace=f"in {space.model} again", space=space):
                pass
        assert any(problem in told for told in await check_indexes(database))
        async with Neo4jStore.open(database=database, namespace=f"in {other.model} again", space=other):
            pass  # nobody else's broken index is in its way
    finally:
        await database.change_schema(f"DROP INDEX {name}")
        assert await migrate(database, clock=CLOCK) == [name]
    assert await check_indexes(database) == []


async def test_an_index_over_other_properties_is_told(database: Database) -> None:
    await database.change_schema("DROP INDEX episode_conversation")
    await database.change_schema("CREATE INDEX episode_conversation FOR (n:Episode) ON (n.namespace, n.topic)")
    try:
        with pytest.raises(MigrationError, match=r"episode_conversation has properties = namespace, topic, expected"):
            async with Neo4jStore.open(database=database, namespace="indexed"):
                pass
    finally:
        await database.change_schema("DROP INDEX episode_conversation")
        await migrate(database, clock=CLOCK)


async def test_an_index_that_is_being_built_is_waited_for(database: Database) -> None:
    async with Neo4jStore.open(database=database, namespace="large enough") as store:
        for start in range(0, 4000, 2000):
            await store.write(RecordBatch(facts=[fact(start + n, content=f"word{n} " * 20) for n in range(2000)]))
    await database.change_schema("DROP INDEX fact_text")
    made = [statement for migration in all_migrations() for statement in migration.statements]
    await database.change_schema(next(statement for statement in made if " fact_text " in statement))
    async with Neo4jStore.open(database=database, namespace="large enough"):
        rows = await database.read("SHOW INDEXES YIELD name, state WHERE name = 'fact_text' RETURN state", {})
    assert rows == [{"state": "ONLINE"}]


READER_SPACE = EmbeddingSpace(model="reader", dimensions=4)


@pytest.mark.parametrize("space", [None, READER_SPACE])
async def test_who_may_only_read_can_open_a_namespace_in_which_nothing_was_written(
    neo4j_database: Database, space: EmbeddingSpace | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"test-{uuid.uuid4()}", space=READER_SPACE):
        pass  # the embedding space is there

    async def refuse(*_: object, **__: object) -> None:
        forbidden = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Security.Forbidden", message="no write rights")
        raise RemembranceError("Neo4j refused a statement") from forbidden

    monkeypatch.setattr(neo4j_database, "write", refuse)
    async with Neo4jStore.open(database=neo4j_database, namespace=f"test-{uuid.uuid4()}", space=space) as store:
        assert await store.find_facts() == []
        assert store.space == space


async def test_a_migration_makes_what_a_newer_library_searches_in_spaces_that_are_there(database: Database) -> None:
    async with Neo4jStore.open(database=database, namespace=f"in {SMALL.model} again", space=SMALL):
        state = await schema_state(database)
    assert state is not None
    name = f"tier_item_embedding_{state.spaces.index(SMALL) + 1}"
    await database.change_schema(f"DROP INDEX {name}")
    older = {version: checksum for version, checksum in state.applied.items() if version != 7}
    await set_schema(database, versions=list(older), checksums=list(older.values()))
    async with Neo4jStore.open(database=database, namespace=f"in {SMALL.model} again", space=SMALL) as store:
        assert await store.tiers.nearest(["semantic"], direction(0)) == []
    assert await check_indexes(database) == []


async def test_a_migration_makes_indexes_anew_whose_filters_it_changes(database: Database) -> None:
    namespace = f"in {SMALL.model} with other filters"
    held = [
        fact(1, embedding=direction(0)),
        fact(2, embedding=direction(0), invalidated_by="somebody"),
        fact(3, embedding=direction(0), tags=["quarantined"]),
        fact(4, embedding=direction(0), tags=["quarantined"], invalidated_by="somebody"),
    ]
    async with Neo4jStore.open(database=database, namespace=namespace, space=SMALL) as store:
        await store.write(RecordBatch(facts=held))
        state = await schema_state(database)
    assert state is not None
    number = state.spaces.index(SMALL) + 1
    name = f"fact_embedding_{number}"
    now = next(made for made in _of_space(number) if f" {name} " in made)
    await database.change_schema(f"DROP INDEX {name}")
    await database.change_schema("MATCH (f:Fact) REMOVE f.standing")
    await database.change_schema(now.replace(", n.standing", ""))
    older = {version: checksum for version, checksum in state.applied.items() if version != 10}
    await set_schema(database, versions=list(older), checksums=list(older.values()))
    async with Neo4jStore.open(database=database, namespace=namespace, space=SMALL) as store:
        for found, filters in (
            ([1], {"include_invalidated": False, "include_quarantined": False}),
            ([1, 2], {"include_quarantined": False}),
            ([1, 3], {"include_invalidated": False}),
            ([1, 2, 3, 4], {}),
        ):
            hits = await store.index.search_facts(direction(0), **filters)
            assert sorted(hit.id for hit in hits) == [sample_id("fact", each) for each in found]
    assert await check_indexes(database) == []


def _of_space(number: int) -> list[str]:
    return queries.statements(queries.load("schema.vector_indexes", number, SMALL.dimensions))
