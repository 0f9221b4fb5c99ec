"""The jars that make up the local Neo4j, as the lock beside this file lists them: names, sizes and SHA-256.

The lock is Maven's own resolution, frozen (`scripts/lock_neo4j_jars.py` makes it), so nothing is resolved on the user's
machine and a jar that differs by a byte is refused.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

NEO4J_VERSION = "2026.08.1"
BROWSER_ARTIFACT = "neo4j-browser"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar: Maven coordinates, and what its bytes must be."""

    group: str
    name: str
    version: str
    classifier: str | None
    sha256: str
    size: int

    @property
    def file_name(self) -> str:
        """The name of the jar, unique within the lock."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.name}-{self.version}{suffix}.jar"

    @property
    def url_path(self) -> str:
        """Where the jar lies below the base address of a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.name}/{self.version}/{self.file_name}"


@dataclass(frozen=True, slots=True)
class Lock:
    """All jars of one version of Neo4j, sorted by coordinates, and the digest of the text that lists them."""

    artifacts: tuple[Artifact, ...]
    digest: str

    @property
    def total_size(self) -> int:
        """Bytes of all jars together."""
        return sum(artifact.size for artifact in self.artifacts)


def parse_lock(text: str) -> Lock:
    """Read a lock: a line a jar, `<sha256> <bytes> <group:artifact:version[:classifier]>`; `#` opens a comment."""
    artifacts = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        sha256, size, coordinates = line.split()
        group, name, version, *rest = coordinates.split(":")
        artifacts.append(Artifact(group, name, version, rest[0] if rest else None, sha256, int(size)))
    return Lock(tuple(artifacts), hashlib.sha256(text.encode()).hexdigest())


def shipped_lock() -> Lock:
    """Read the lock that this version of the library was tested with."""
    return parse_lock((Path(__file__).parent / f"neo4j-{NEO4J_VERSION}.lock").read_text(encoding="utf-8"))
