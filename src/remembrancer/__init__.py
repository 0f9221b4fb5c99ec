"""A temporal memory for AI agents that lives in Neo4j.

Names are loaded when they are first used: importing the package opens nothing, reads no environment and loads neither
the driver nor numpy nor an HTTP client. What is not listed here lives in the package of its own kind:
`remembrancer.records`, `remembrancer.retrieval`, `remembrancer.hierarchy`, `remembrancer.providers.embedding`,
`remembrancer.server`, `remembrancer.testing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer._version import __version__
    from remembrancer.hierarchy.ingestion import IngestReport
    from remembrancer.memory import Memory
    from remembrancer.records import (
        Entity,
        Episode,
        Fact,
        InvalidInputError,
        MemoryQuery,
        Message,
        Provenance,
        Relationship,
        RemembranceError,
        ServerUnavailableError,
        Theme,
    )
    from remembrancer.retrieval.recall import Recall
    from remembrancer.sync import SyncMemory

__all__ = [
    "Entity",
    "Episode",
    "Fact",
    "IngestReport",
    "InvalidInputError",
    "Memory",
    "MemoryQuery",
    "Message",
    "Provenance",
    "Recall",
    "Relationship",
    "RemembranceError",
    "ServerUnavailableError",
    "SyncMemory",
    "Theme",
    "__version__",
]

_HOMES = {
    "IngestReport": "hierarchy.ingestion",
    "Memory": "memory",
    "Recall": "retrieval.recall",
    "SyncMemory": "sync",
    "__version__": "_version",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'records')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
