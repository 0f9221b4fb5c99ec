"""Taking a whole namespace away, which no memory does by itself."""

from __future__ import annotations

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Transaction


async def remove_namespace(database: Database, namespace: str) -> None:
    """Remove a namespace that has been cleared and that nobody will open again; one that is not there is no error.

    Raises:
        ServerUnavailableError: The database could not be reached.
    """

    async def work(transaction: Transaction) -> None:
        await transaction.run(queries.load("namespace.remove"), {"namespace": namespace})

    await database.write(work)
