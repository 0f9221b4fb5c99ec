"""What the optional packages behind `remembrancer[local]` are called, and what is said when they are missing."""

from __future__ import annotations

from remembrancer.records.errors import ServerUnavailableError


def missing_package(error: ModuleNotFoundError) -> ServerUnavailableError:
    """Turn a failed import of an optional package into what the user should install."""
    return ServerUnavailableError(
        f"the local Neo4j needs the package {error.name!r}: install remembrancer[local], or connect to a Neo4j of yours"
    )
