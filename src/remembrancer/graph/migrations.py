"""Migrations and embedding spaces: the schema that the queries need, applied safely by any number of processes at once.

`IF NOT EXISTS` alone is not safe: two processes that create one index at once make one of them fail, and constraints
deadlock. So whoever changes the schema first locks the `Schema` node in an open transaction of its own session and
keeps it open while a second session runs the schema statements (data and schema cannot share a transaction). An index
that exists with other options is not noticed by `IF NOT EXISTS` either; `check_indexes` compares them.
"""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass

from neo4j import exceptions

from remembrancer._version import __version__
from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first, repeated
from remembrancer.records import Clock, EmbeddingSpace, EmbeddingSpaceMismatchError, MigrationError

logger = logging.getLogger(__name__)

_FILE = re.compile(r"(\d{3})_([a-z0-9_]+)\.cypher")
_SCHEMA_KEY = "CYPHER 25 CREATE CONSTRAINT schema_id IF NOT EXISTS FOR (n:Schema) REQUIRE n.id IS UNIQUE"
_EXISTS = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
_CREATED = re.compile(r"CREATE (?:VECTOR INDEX|FULLTEXT INDEX|INDEX|CONSTRAINT) (\w+) IF NOT EXISTS")
_VECTOR_NAME = re.compile(r"(message|episode|fact|theme|entity)_embedding_(\d+)")
_SCHEMA_PATIENCE = 60.0  # seconds for a schema statement that meets others
_INDEX_WAIT = 600  # seconds for indexes to be built over what is stored already


@dataclass(frozen=True)
class Migration:
    """One numbered file of schema statements; files only ever grow in number."""

    version: int
    name: str
    statements: tuple[str, ...]
    checksum: str


@dataclass(frozen=True)
class SchemaState:
    """What the database says of its schema.

    Attributes:
        applied: Checksums of the applied migrations, by version.
        spaces: Embedding spaces, the first having number 1.
    """

    applied: dict[int, str]
    spaces: tuple[EmbeddingSpace, ...]


def migrations() -> tuple[Migration, ...]:
    """All migrations that this library knows, by version."""
    found = []
    for file in queries.folder().joinpath("migrations").iterdir():
        if match := _FILE.fullmatch(file.name):
            text = file.read_text("utf-8")
            checksum = hashlib.sha256("\n".join(queries.statements(text)).encode()).hexdigest()
            found.append(Migration(int(match[1]), match[2], tuple(queries.statements(text)), checksum))
    return tuple(sorted(found, key=lambda migration: migration.version))


async def schema_state(database: Database) -> SchemaState | None:
    """What is applied; `None` when the database was never migrated."""
    rows = await database.read(queries.load("schema.read"), {})
    return _state(rows[0]) if rows else None


def _state(row: Row) -> SchemaState:
    spaces = zip(row["models"], row["dimensions"], strict=True)
    return SchemaState(
        applied=dict(zip(row["versions"], row["checksums"], strict=True)),
        spaces=tuple(EmbeddingSpace(model=model, dimensions=dimensions) for model, dimensions in spaces),
    )


def check_state(state: SchemaState | None) -> list[Migration]:
    """The migrations that are still to be applied.

    Raises:
        MigrationError: A newer library has migrated the database, or an applied migration was another one.
    """
    known = migrations()
    applied = state.applied if state is not None else {}
    newest = max((migration.version for migration in known), default=0)
    if applied and max(applied) > newest:
        raise MigrationError(
            f"a newer remembrancer has migrated this database to version {max(applied)}; this one ({__version__}) "
            f"knows versions up to {newest}: upgrade it",
            applied=max(applied),
            known=newest,
        )
    for migration in known:
        if applied.get(migration.version, migration.checksum) != migration.checksum:
            raise MigrationError(
                f"migration {migration.version} ({migration.name}) differs from the one that was applied here",
                applied=max(applied),
                known=newest,
            )
    return [migration for migration in known if migration.version not in applied]


async def migrate(database: Database, *, clock: Clock) -> list[str]:
    """Apply what is missing; the names of what this call applied, empty when another process was first.

    Raises:
        MigrationError: As `check_state`; or a statement failed, for example for want of rights.
    """
    if not check_state(await schema_state(database)):
        return []
    await _change(database, _SCHEMA_KEY)
    async with database.holding() as transaction:
        state = _state(first(await transaction.run(queries.load("schema.claim"), {"now": clock()})))
        missing = check_state(state)
        for migration in missing:
            logger.info("applying migration %03d_%s", migration.version, migration.name)
            for statement in migration.statements:
                await _change(database, statement)
        if missing:
            await _await_indexes(database)
            await _record(transaction, state, missing)
    return [f"{migration.version:03}_{migration.name}" for migration in missing]


async def _record(transaction: Transaction, state: SchemaState, missing: list[Migration]) -> None:
    applied = {**state.applied, **{migration.version: migration.checksum for migration in missing}}
    versions = sorted(applied)
    parameters = {
        "versions": versions,
        "checksums": [applied[version] for version in versions],
        "library_version": __version__,
    }
    await transaction.run(queries.load("schema.record_migrations"), parameters)


async def space_number(database: Database, space: EmbeddingSpace, *, clock: Clock) -> int:
    """The number of an embedding space, from 1; an unknown one gets the next number and its vector indexes.

    Raises:
        MigrationError: The space is new and its indexes could not be made.
    """
    state = await schema_state(database)
    if state is not None and space in state.spaces:
        return state.spaces.index(space) + 1
    async with database.holding() as transaction:
        state = _state(first(await transaction.run(queries.load("schema.claim"), {"now": clock()})))
        if space in state.spaces:
            return state.spaces.index(space) + 1
        spaces = (*state.spaces, space)
        logger.info("adding embedding space %d: %s, %d dimensions", len(spaces), space.model, space.dimensions)
        for statement in queries.statements(queries.load("schema.vector_indexes", len(spaces), space.dimensions)):
            await _change(database, statement)
        await _await_indexes(database)
        parameters = {"models": [s.model for s in spaces], "dimensions": [s.dimensions for s in spaces]}
        await transaction.run(queries.load("schema.record_spaces"), parameters)
    return len(spaces)


async def namespace_space(
    database: Database, namespace: str, space: EmbeddingSpace | None, *, clock: Clock
) -> tuple[int, EmbeddingSpace] | None:
    """The embedding space that a namespace belongs to, and its number; puts a new namespace into the one asked for.

    Raises:
        EmbeddingSpaceMismatchError: It belongs to another space than the one asked for; both are named.
    """
    rows = await database.read(queries.load("namespace.read"), {"namespace": namespace})
    number: int | None = rows[0]["space"] if rows else None
    if not rows or (number is None and space is not None):
        wanted = await space_number(database, space, clock=clock) if space is not None else None

        async def claim(transaction: Transaction) -> int | None:
            parameters = {"namespace": namespace, "space": wanted, "now": clock()}
            claimed: int | None = first(await transaction.run(queries.load("namespace.claim_space"), parameters))[
                "space"
            ]
            return claimed

        number = await database.write(claim)
    if number is None:
        return None
    state = await schema_state(database)
    if state is None or not 1 <= number <= len(state.spaces):
        raise MigrationError(
            f"namespace {namespace!r} names embedding space {number}, which this database does not have"
        )
    stored = state.spaces[number - 1]
    if space is not None and stored != space:
        raise EmbeddingSpaceMismatchError(
            namespace=namespace,
            expected_model=stored.model,
            expected=stored.dimensions,
            actual_model=space.model,
            actual=space.dimensions,
        )
    return number, stored


async def check_indexes(database: Database) -> list[str]:
    """What is wrong with the indexes that the queries need; empty when all is well.

    Compares names, states, dimensions, similarity and quantization, which `IF NOT EXISTS` hides.
    """
    state = await schema_state(database)
    if state is None:
        return ["the database was never migrated: run `remembrancer migrate`"]
    rows = await database.read("SHOW INDEXES YIELD name, state, options, properties, type", {})
    found = {row["name"]: row for row in rows}
    wanted = [name for migration in migrations() for s in migration.statements for name in _CREATED.findall(s)]
    for number, space in enumerate(state.spaces, 1):
        text = queries.load("schema.vector_indexes", number, space.dimensions)
        wanted += [name for s in queries.statements(text) for name in _CREATED.findall(s)]
    problems = [f"index {name} is missing: run `remembrancer migrate`" for name in wanted if name not in found]
    for name in wanted:
        if name in found:
            problems += _index_problems(found[name], state.spaces)
    return problems


def _index_problems(row: Row, spaces: tuple[EmbeddingSpace, ...]) -> list[str]:
    problems = []
    name = row["name"]
    if row["state"] != "ONLINE":
        problems.append(f"index {name} is {row['state'].lower()}")
    if match := _VECTOR_NAME.fullmatch(name):
        config = row["options"].get("indexConfig", {})
        expected: dict[str, object] = {
            "vector.dimensions": spaces[int(match[2]) - 1].dimensions,
            "vector.similarity_function": "COSINE",
            "vector.quantization.type": "NONE",
        }
        problems += [
            f"index {name} has {key} = {config.get(key)}, expected {value}: drop it and run `remembrancer migrate`"
            for key, value in expected.items()
            if str(config.get(key)).upper() != str(value).upper()
        ]
    return problems


async def _change(database: Database, statement: str) -> None:
    try:
        await repeated(lambda: database.change_schema(statement), patience=_SCHEMA_PATIENCE)
    except exceptions.ClientError as error:
        if error.code == _EXISTS:
            return
        raise MigrationError(f"a schema statement failed ({error.code}): {error.message}") from error
    except exceptions.TransientError as error:
        raise MigrationError(f"a schema statement failed again and again: {error.message}") from error


async def _await_indexes(database: Database) -> None:
    await database.read("CALL db.awaitIndexes($seconds)", {"seconds": _INDEX_WAIT})


async def prepare(database: Database, *, migrate_first: bool, clock: Clock) -> None:
    """Bring the schema up to date, or see that it is.

    Raises:
        MigrationError: Something is missing and `migrate_first` is false; or as `migrate`.
    """
    if migrate_first:
        await migrate(database, clock=clock)
        return
    missing = check_state(await schema_state(database))
    if missing:
        names = ", ".join(f"{migration.version:03}_{migration.name}" for migration in missing)
        raise MigrationError(
            f"the database lacks migrations ({names}): run `remembrancer migrate`, or connect with migrate=True"
        )


__all__ = [
    "Migration",
    "SchemaState",
    "check_indexes",
    "check_state",
    "migrate",
    "migrations",
    "namespace_space",
    "prepare",
    "schema_state",
]
