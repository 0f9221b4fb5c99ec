"""Which namespaces there are, and taking one away: what no memory does by itself."""

from __future__ import annotations

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Transaction
from remembrancer.records import InvalidInputError


async def remove_namespace(database: Database, namespace: str) -> None:
    """Remove a namespace that has been cleared and that nobody will open again; one that is not there is no error.

    Raises:
        ServerUnavailableError: The database could not be reached.
    """

    async def work(transaction: Transaction) -> None:
        await transaction.run(queries.load("namespace.remove"), {"namespace": namespace})

    await database.write(work)


async def namespaces_of(database: Database) -> list[str]:
    """Every namespace that the database has anything of, sorted; reads all of it.

    Raises:
        InvalidInputError: It also holds nodes that this library did not write.
        ServerUnavailableError: The database could not be reached.
    """
    found = await database.read(queries.load("doctor.contents"), {})
    foreign = sum(row["nodes"] for row in found if not isinstance(row["namespace"], str))
    if foreign:
        raise InvalidInputError("path", f"the database also holds {foreign:,} nodes that are of no memory")
    return [row["namespace"] for row in found]
