"""Write the lock of the jars that make up the local Neo4j, from Maven's own resolution.

    python scripts/lock_neo4j_jars.py            # needs `mvn` (3.8 or later) on the path and a network
    python scripts/lock_neo4j_jars.py --check    # resolve again and fail where the lock in the tree differs

To upgrade: change the versions below (and `NEO4J_VERSION` in `remembrancer.server.artifact`), run it, run the
server tests, commit the new lock. The lock holds names, sizes and hashes only; no jar is ever redistributed.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

NEO4J_VERSION = "2026.08.1"
BROWSER_VERSION = "5.24.0"
ROOTS = (
    ("org.neo4j.app", "neo4j-server", NEO4J_VERSION),
    ("org.neo4j", "neo4j", NEO4J_VERSION),
    ("org.neo4j.client", "neo4j-browser", BROWSER_VERSION),
)

# Tried without them: the server, Browser, the HTTP query API, every kind of index, dump, load, check and migrate all
# work. WMI4Java, jPowerShell and jProcesses look for processes on Windows, where this was not tried. Go no further:
# neo4j-fleet-management owns settings that must be set, jna and ipaddress are in use.
UNUSED = frozenset(
    {
        "FastInfoset",
        "WMI4Java",
        "asm-analysis",
        "asm-util",
        "hadoop-common",
        "jPowerShell",
        "jProcesses",
        "jaxb-runtime",
        "neo4j-push-to-cloud",
        "netty-codec-haproxy",
        "parquet-column",
        "parquet-common",
        "parquet-encoding",
        "parquet-floor",
        "parquet-format-structures",
        "parquet-hadoop",
        "parquet-jackson",
        "snappy-java",
        "stax-ex",
        "txw2",
    }
)

LOCK = Path(__file__).parent.parent / "src/remembrancer/server" / f"neo4j-{NEO4J_VERSION}.lock"

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>remembrancer</groupId><artifactId>lock</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def resolve() -> dict[str, Path]:
    """Ask Maven what the server needs at run time: coordinates to the jar in its repository."""
    with tempfile.TemporaryDirectory() as scratch:
        listing = Path(scratch) / "resolved.txt"
        pom = Path(scratch) / "pom.xml"
        pom.write_text(POM.format(dependencies="".join(DEPENDENCY.format(*root) for root in ROOTS)), encoding="utf-8")
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:list", "-DincludeScope=runtime"]
        command += ["-DoutputAbsoluteArtifactFilename=true", f"-DoutputFile={listing}"]
        subprocess.run(command, check=True)  # noqa: S603 - the command is spelled out above
        jars: dict[str, Path] = {}
        for line in listing.read_text(encoding="utf-8").splitlines():
            # group:artifact:jar[:classifier]:version:scope:file, and perhaps a note on the module after " -- "
            parts = line.strip().split(" -- ")[0].split(":", maxsplit=6)
            if len(parts) < 6 or parts[2] != "jar":
                continue
            has_classifier = not parts[5].startswith("/")
            classifier = f":{parts[3]}" if has_classifier else ""
            version, file = (parts[4], parts[6]) if has_classifier else (parts[3], ":".join(parts[5:]))
            jars[f"{parts[0]}:{parts[1]}:{version}{classifier}"] = Path(file)
        return jars


def lock_text(jars: dict[str, Path]) -> str:
    """Render the lock: a hash, a size and coordinates a line, sorted by coordinates."""
    found = {coordinates.split(":")[1] for coordinates in jars}
    if missing := UNUSED - found:
        raise SystemExit(f"the list of unused jars names what Maven does not resolve: {', '.join(sorted(missing))}")
    lines = [
        f"# The jars of Neo4j {NEO4J_VERSION} with Browser {BROWSER_VERSION}, made by scripts/lock_neo4j_jars.py.",
        "# <sha256> <bytes> <group:artifact:version[:classifier]>",
    ]
    for coordinates, file in sorted(jars.items()):
        if coordinates.split(":")[1] not in UNUSED:
            content = file.read_bytes()
            lines.append(f"{hashlib.sha256(content).hexdigest()} {len(content)} {coordinates}")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the lock, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the lock in the tree instead of writing it")
    check = parser.parse_args().check
    text = lock_text(resolve())
    if not check:
        LOCK.write_text(text, encoding="utf-8")
        return 0
    if LOCK.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{LOCK} differs from what Maven resolves now\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
