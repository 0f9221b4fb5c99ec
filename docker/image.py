"""Builds a stand-in for Neo4j's image from packages, where the official one cannot be pulled: `python image.py NAME`.

One layer, without a base image: a static busybox, the C libraries that Java loads, the Java and the jars that the
local server uses, and an entry point. For tests only.
"""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import IO

from remembrancer.server.distribution import install
from remembrancer.server.java import find_java

HOME = "var/lib/neo4j"
JAVA = "opt/java"
USER = 7474
C_LIBRARY = re.compile(r"(/\S*/(?:ld-linux|lib(?:c|m|dl|rt|pthread|gcc_s|stdc\+\+|z)\.so)\S*) \(0x")
CHANGES = (
    'ENTRYPOINT ["/entrypoint.sh"]',
    'CMD ["neo4j"]',
    f"ENV PATH=/{JAVA}/bin:/bin NEO4J_HOME=/{HOME} LANG=C.UTF-8",
    f"WORKDIR /{HOME}",
    "VOLUME /data /logs",
    "EXPOSE 7474 7687",
)


def add_folder(layer: tarfile.TarFile, name: str, *, owner: int = 0, mode: int = 0o755) -> None:
    """Put an empty folder into the layer."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, mode, owner, owner
    layer.addfile(entry)


def add_link(layer: tarfile.TarFile, name: str, target: str) -> None:
    """Put a symbolic link into the layer."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    layer.addfile(entry)


def add_text(layer: tarfile.TarFile, name: str, text: str) -> None:
    """Put a small file into the layer."""
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    layer.addfile(entry, io.BytesIO(text.encode()))


def add_file(layer: tarfile.TarFile, name: str, source: Path, *, mode: int | None = None) -> None:
    """Put a file of this machine into the layer, owned by root."""
    entry = layer.gettarinfo(str(source.resolve()), name)
    entry.uid = entry.gid = 0
    entry.mode = mode or entry.mode | 0o444
    with source.open("rb") as content:
        layer.addfile(entry, content)


def libraries(java: Path) -> list[Path]:
    """The C libraries that this Java's programs and libraries load."""
    found: set[str] = set()
    for binary in [java / "bin" / "java", *java.rglob("*.so")]:
        listing = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False)  # noqa: S603, S607
        found.update(C_LIBRARY.findall(listing.stdout))
    return [Path(name) for name in sorted(found)]


def write_layer(stream: IO[bytes], jars: tuple[Path, ...], java: Path, busybox: Path) -> None:
    """Write the image's only layer."""
    with tarfile.open(fileobj=stream, mode="w|") as layer:
        add_file(layer, "bin/busybox", busybox, mode=0o755)
        applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout  # noqa: S603
        for applet in set(applets.split()) - {"busybox"}:
            add_link(layer, f"bin/{applet}", "busybox")
        add_text(layer, "etc/passwd", f"root:x:0:0::/:/bin/sh\nneo4j:x:{USER}:{USER}::/{HOME}:/bin/sh\n")
        add_text(layer, "etc/group", f"root:x:0:\nneo4j:x:{USER}:\n")
        add_folder(layer, "tmp", mode=0o1777)
        for name in ("data", "logs", HOME, *(f"{HOME}/{part}" for part in ("conf", "import", "plugins", "run"))):
            add_folder(layer, name, owner=USER)
        for name in ("data", "logs"):
            add_link(layer, f"{HOME}/{name}", f"/{name}")
        for path in java.rglob("*"):
            if path.is_file():
                add_file(layer, f"{JAVA}/{path.relative_to(java)}", path)
        for library in libraries(java):
            add_file(layer, str(library).lstrip("/"), library, mode=0o755)
        for jar in jars:
            add_file(layer, f"{HOME}/lib/{jar.name}", jar, mode=0o644)
        add_file(layer, "entrypoint.sh", Path(__file__).with_name("entrypoint.sh"), mode=0o755)


def main(name: str) -> None:
    """Build the image under a name."""
    busybox = shutil.which("busybox")
    if busybox is None:
        sys.exit("image.py: no busybox: install busybox-static")
    java = find_java().executable.resolve().parent.parent
    jars = asyncio.run(install()).jars
    command = ["docker", "import", *(word for change in CHANGES for word in ("--change", change)), "-", name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as importing:  # noqa: S603
        assert importing.stdin is not None  # noqa: S101 - asked for above
        write_layer(importing.stdin, jars, java, Path(busybox))
    if importing.returncode:
        sys.exit("image.py: docker import failed")


if __name__ == "__main__":
    main(sys.argv[1])
