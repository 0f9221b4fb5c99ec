"""The start-up archive: Neo4j's classes as the JVM had them after one start, so that later starts need not load them.

It is the AOT cache of Java 25 (JEP 483 and 515). One belongs to exactly these jars, this Java and these options; the
name of its file is a digest of them. It is made once, by a run of the server on a scratch folder (`training`), and
saves time only: a start whose archive is missing, damaged or of another machine goes the plain way.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from remembrancer.records.errors import InvalidInputError
from remembrancer.server.distribution import Distribution
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.java import Java

logger = logging.getLogger(__name__)

VARIABLE: Final = "REMEMBRANCER_START_ARCHIVE"
CHOICES: Final = ("auto", "use", "off")
KEPT: Final = 3
"""The most archives that are kept for one version of Neo4j, of about 210 MB each; the least lately used go first."""

_REFUSED = re.compile(r"\[error\s*\]\[(aot|cds)")
_CONSOLE_BYTES = 20_000  # the JVM complains about its archive before it prints anything else


@dataclass(frozen=True, slots=True)
class StartArchive:
    """The archive of one way to start the server; the file need not exist.

    Attributes:
        file: Where it is, or would be.
    """

    file: Path

    @classmethod
    def of(
        cls, distribution: Distribution, java: Java, class_path: Sequence[Path], options: Sequence[str]
    ) -> StartArchive:
        """Name the archive of a class path, a Java and options of the JVM; any difference in them is another one."""
        digest = hashlib.sha256()
        for file in (java.executable.resolve(), *class_path):
            found = file.stat()  # the JVM compares sizes and times of the jars too
            digest.update(f"{file}\n{found.st_size} {found.st_mtime_ns}\n".encode())
        for text in (java.version, *options):
            digest.update(f"{text}\n".encode())
        return cls(archives_folder(distribution) / f"{digest.hexdigest()[:32]}.aot")

    @property
    def lock(self) -> Path:
        """Held by who makes an archive: one at a time in a cache folder."""
        return self.file.parent / "making.lock"

    @property
    def failed(self) -> Path:
        """A mark that making it did not work, so that not every start tries it anew."""
        return self.file.with_suffix(".failed")

    def java_arguments(self) -> list[str]:
        """What makes the JVM use it; nothing when there is none. The checksums cost next to nothing, and a JVM that
        maps a damaged archive unchecked crashes."""
        try:
            os.utime(self.file)  # the time of its last use, by which archives are removed
        except OSError:
            return []
        return [f"-XX:AOTCache={self.file}", "-XX:+VerifySharedSpaces"]


def archives_folder(distribution: Distribution) -> Path:
    """Where archives are kept, beside the jars; it may be removed at any time."""
    return distribution.folder / "archives"


def archive_choice() -> str:
    """How archives are used, by `REMEMBRANCER_START_ARCHIVE`.

    `auto`, the default: use one, and make it in the background after a start that had none. `use`: use one that is
    there, make none. `off`: neither.

    Raises:
        InvalidInputError: It is something else.
    """
    chosen = os.environ.get(VARIABLE, "auto")
    if chosen not in CHOICES:
        raise InvalidInputError(VARIABLE, f"must be one of {', '.join(CHOICES)}, got {chosen!r}")
    return chosen


def make_in_background(options: Sequence[str]) -> None:
    """Start a process that makes the archive of these options and ends; nobody waits for it."""
    if os.name != "posix":  # untried elsewhere: there `make_archive` is called by hand
        return
    logger.info("making a start-up archive in the background; %s=use keeps that from happening", VARIABLE)
    process = subprocess.Popen(  # noqa: S603 - our own module, run by this very Python
        [sys.executable, "-P", "-m", "remembrancer.server.training", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Someone has to take note of its end, or a long-lived user keeps a dead process in the process table.
    threading.Thread(target=process.wait, name="remembrancer-training", daemon=True).start()


def remove_archives(distribution: Distribution, *, keep: int = 0) -> int:
    """Remove all but the most lately used archives; returns how many went. A running server keeps what it has mapped.

    Args:
        distribution: Whose archives.
        keep: How many stay.
    """
    folder = archives_folder(distribution)
    found = sorted(folder.glob("*.aot"), key=lambda file: file.stat().st_mtime, reverse=True)
    removed = 0
    for file in found[keep:]:
        with contextlib.suppress(OSError):  # Windows keeps a file that is in use; the next time, then
            file.unlink()
            removed += 1
    if keep == 0:
        for mark in folder.glob("*.failed"):
            mark.unlink(missing_ok=True)
    return removed


def drop_refused(folder: DatabaseFolder) -> None:
    """Remove the archive that the JVM of a folder has just refused, so that a new one can be made."""
    try:
        arguments = folder.java_arguments.read_text(encoding="utf-8")
        with folder.console.open("rb") as console:
            said = console.read(_CONSOLE_BYTES).decode(errors="replace")
        named = re.search(r'^"-XX:AOTCache=(.+\.aot)"$', arguments, re.MULTILINE)
        if named is None or not _REFUSED.search(said):
            return
        archive = Path(named[1].replace("\\\\", "\\"))
        if archive.stat().st_mtime <= folder.java_arguments.stat().st_mtime:  # else it was made since
            logger.info("Java refused the start-up archive %s and started without it; it was removed", archive)
            archive.unlink()
    except OSError:
        return  # another process was quicker


def sweep(folder: Path) -> None:
    """Remove what a killed making left behind; call it under the lock."""
    for left in folder.glob("training-*"):
        shutil.rmtree(left, ignore_errors=True)
    for left in folder.glob("*.part*"):
        left.unlink(missing_ok=True)


def is_due(archive: StartArchive) -> bool:
    """Whether an archive should be made by itself: there is none, and making it did not fail within a day."""
    if archive.file.exists():
        return False
    try:
        return time.time() - archive.failed.stat().st_mtime > 86_400
    except OSError:
        return True
