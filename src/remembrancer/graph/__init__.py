"""Neo4j: the store, the index and the retrieval that live in the database. The only package that imports its driver."""

from remembrancer.graph.connection import Database
from remembrancer.graph.index import Neo4jIndex
from remembrancer.graph.migrations import check_indexes, migrate, migrations, schema_state
from remembrancer.graph.store import Neo4jStore

__all__ = ["Database", "Neo4jIndex", "Neo4jStore", "check_indexes", "migrate", "migrations", "schema_state"]
