"""Files of the local server, backups, locks, logs, settings: each is read, or refused in the library's own words."""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, holds, in_time, only_ours
from tests.fuzz.outside import damaged, documents, odd_texts, odd_values

from remembrancer.bench.data import read_retrieval_set
from remembrancer.bench.labels import read_extraction_set
from remembrancer.ports.tracing import records_content
from remembrancer.records import InvalidInputError, ServerUnavailableError
from remembrancer.server.archive import archive_choice
from remembrancer.server.artifact import parse_lock, shipped_lock
from remembrancer.server.backup import Backup, _unpack, read_manifest
from remembrancer.server.control import News
from remembrancer.server.damage import gave_up_for_room
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.java import _describe
from remembrancer.server.kit_server import _addresses
from remembrancer.server.settings import heap_size

TOOLS: Any = SimpleNamespace(check=lambda: None)
MANIFEST = {
    "remembrancer_backup": 1,
    "made_at": "2026-01-01T00:00:00Z",
    "neo4j": "2026.08.1",
    "remembrancer": "0.1",
    "bytes": 4,
    "sha256": "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589",
}
RUNNING = {
    "supervisor_pid": 4_000_000,
    "server_pid": 4_000_001,
    "control_port": 21_001,
    "token": "t",
    "bolt_port": 21_002,
    "http_port": 21_003,
    "version": "2026.08.1",
}


def tar_of(manifest: bytes, *, kind: bytes = tarfile.REGTYPE, target: str = "", dump: bytes = b"abcd") -> bytes:
    """A backup, or nearly one."""
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w") as tar:
        for name, content in (("backup.json", manifest), ("neo4j.dump", dump)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            entry.size = len(content) if kind == tarfile.REGTYPE else 0
            tar.addfile(entry, io.BytesIO(content))
    return kept.getvalue()


@contextmanager
def written_to(name: str, content: bytes) -> Iterator[Path]:
    """A file of this name in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        yield file


KINDS = st.sampled_from(
    [tarfile.REGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, b"S", b"x", b"L"]
)


@fuzz
@given(data=st.data())
def test_any_backup_is_read_or_refused(data: st.DataObject) -> None:
    manifest = data.draw(documents(MANIFEST) | st.just(json.dumps(MANIFEST).encode()))
    raw = tar_of(
        manifest, kind=data.draw(KINDS), target=data.draw(st.sampled_from(["", "backup.json", "neo4j.dump", "x"]))
    )
    header = data.draw(st.sampled_from([0, 0, 100, 124, 136, 148, 156, 257]))
    if header:  # size, sum, kind and the like, as octal digits or what stands for them
        odd = data.draw(st.binary(min_size=1, max_size=12))
        raw = raw[:header] + odd + raw[header + len(odd) :]
    raw = data.draw(damaged(raw))
    with written_to("a.tar", raw) as file:
        with only_ours():
            made = read_manifest(file)
            assert made.remembrancer_backup == 1
        with only_ours():
            _unpack(file, Backup.model_validate(MANIFEST), file.with_name("dump"), TOOLS)
            assert file.with_name("dump").read_bytes() == b"abcd"


@pytest.mark.parametrize("version", ["", "x", "2026.08.x", "2026..1", "latest"])
def test_a_backup_of_a_version_that_is_none_is_refused(version: str) -> None:
    raw = tar_of(json.dumps({**MANIFEST, "neo4j": version}).encode())
    with written_to("a", raw) as file, pytest.raises(InvalidInputError, match="file"):
        read_manifest(file)


@pytest.mark.parametrize("target", ["backup.json", "neo4j.dump", "missing"])
@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.SYMTYPE])
def test_a_backup_of_links_is_refused(kind: bytes, target: str) -> None:
    with written_to("a", tar_of(b"", kind=kind, target=target)) as file:
        with pytest.raises(InvalidInputError, match="no backup"):
            read_manifest(file)
        with pytest.raises(InvalidInputError, match="damaged"):
            _unpack(file, Backup.model_validate(MANIFEST), file.with_name("dump"), TOOLS)


@fuzz
@given(
    name=st.sampled_from(["credentials.json", "ports.json", "server.json", "store.json"]),
    raw=st.one_of(
        documents({"username": "neo4j", "password": "p"}),
        documents({"bolt": 21_000, "http": 21_001}),
        documents(RUNNING),
        documents({"neo4j": "2026.08.1"}),
        st.binary(max_size=40),
    ),
)
def test_any_file_of_a_database_folder_is_read_or_refused(name: str, raw: bytes) -> None:
    with written_to(name, raw) as file:
        folder = DatabaseFolder.at(file.parent)
        reads: list[Any] = [
            folder.known_credentials,
            folder.running,
            lambda: folder.choose_ports(bolt=None, http=None, fresh=False),
            lambda: folder.check_version("2026.08.1"),
            lambda: folder.note_version("2026.08.1"),
        ]
        for read in reads:
            with only_ours():
                read()
        if name == "store.json":
            assert json.loads(file.read_bytes()) == {"neo4j": "2026.08.1"}


@pytest.mark.parametrize("port", [0, -1, 65_536, 10**9, 10**30])
def test_a_port_that_is_none_is_not_tried(port: int) -> None:
    with written_to("ports.json", json.dumps({"bolt": port, "http": port}).encode()) as file:
        assert DatabaseFolder.at(file.parent).choose_ports(bolt=None, http=None, fresh=False).bolt >= 21_000
    with written_to("server.json", json.dumps({**RUNNING, "control_port": port}).encode()) as file:
        assert DatabaseFolder.at(file.parent).running() is None
    with written_to("server.json", json.dumps({**RUNNING, "server_pid": 2**40 if port > 0 else port}).encode()) as file:
        assert DatabaseFolder.at(file.parent).running() is None


@fuzz
@given(raw=st.lists(st.sampled_from([b"Database panic", b"No space left on device", b"\xff\xfe", b"\n", b"\x00",
    b"[neo4j]} is ready",
                                     b'.DatabaseAvailabilityGuard","message":"',
                                     b"x" * 10_000]) | st.binary(max_size=9)).map(b"".join))  # fmt: skip
def test_any_log_tells_whether_the_disk_was_full(raw: bytes) -> None:
    with written_to("logs/debug.log", raw) as file, in_time():
        assert gave_up_for_room(DatabaseFolder.at(file.parents[1])) in (True, False)


@fuzz
@given(raw=damaged(b'IMPLEMENTOR="x"\nJAVA_VERSION="25.0.2"\nMODULES="java.base jdk.incubator.vector"\n'))
def test_any_release_file_of_java_is_read(raw: bytes) -> None:
    with written_to("release", raw) as file, in_time():
        (file.parent / "bin").mkdir()
        java = file.parent / "bin" / "java"
        java.write_text("#!/bin/sh\nprintf 'openjdk \\377 99999'\n")
        java.chmod(0o700)
        with only_ours():
            _describe(java)


@fuzz
@given(data=st.data())
def test_a_lock_that_was_changed_is_another_one_or_none(data: st.DataObject) -> None:
    text = "# a lock\n" + "ab" * 32 + " 1024 org.neo4j:neo4j:2026.08.1\n"
    changed = data.draw(damaged(text.encode())).decode("utf-8", "replace")
    try:
        lock = parse_lock(changed)
    except ValueError:
        return  # it is shipped with the library, and its digest is looked at
    assert changed == text or lock.digest != parse_lock(text).digest
    assert shipped_lock().artifacts


@fuzz
@given(value=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
       | st.sampled_from(["512m", "٣g", "2G", "1g ", "255m", "0g", "999999999g", "1e3m", "", "auto", "use", "off",
       "TRUE", "yes"]))  # fmt: skip
def test_any_value_of_a_variable_is_taken_or_refused_by_its_name(value: str) -> None:
    for name, read in (("REMEMBRANCER_HEAP", lambda: heap_size(None)), ("REMEMBRANCER_START_ARCHIVE", archive_choice),
                       ("REMEMBRANCER_TRACE_CONTENT", records_content)):  # fmt: skip
        before = os.environ.get(name)
        os.environ[name] = value
        try:
            taken = read()
            assert name != "REMEMBRANCER_HEAP" or str(taken).isascii()
        except InvalidInputError as error:
            holds(error.field == name, error)
        finally:
            del os.environ[name]
            if before is not None:
                os.environ[name] = before


@fuzz
@given(raw=documents({"state": "ready", "authenticated": True, "pinned": False, "users": 1, "supervisor_pid": 1,
"server_pid": 2,
                      "bolt_port": 3, "http_port": 4, "version": "1"}))  # fmt: skip
def test_any_line_of_a_supervisor_is_news_or_a_value_error(raw: bytes) -> None:
    try:
        News.model_validate_json(raw)
    except ValueError:
        return


DATA = {
    "kind": "paragraphs",
    "name": "n",
    "corpora": [
        {
            "id": "c",
            "paragraphs": [{"id": "p", "title": "Tea", "text": "Tea is hot."}],
            "questions": [{"id": "q", "question": "What is hot?", "evidence": ["p"], "category": "x"}],
        }
    ],
}


@fuzz
@given(raw=documents(DATA))
def test_any_benchmark_file_is_read_or_refused_by_its_field(raw: bytes) -> None:
    with written_to("a.json", raw) as file:
        for read in (read_retrieval_set, read_extraction_set):
            with only_ours():
                read(file)


@fuzz
@given(value=odd_texts | odd_values.map(str))
def test_any_password_file_is_told_how_to_mend(value: str) -> None:
    raw = value.encode("utf-8", "surrogatepass")
    with written_to("credentials.json", raw) as file, pytest.raises(ServerUnavailableError, match=r"credentials\.json"):
        DatabaseFolder.at(file.parent).known_credentials()


@fuzz
@given(
    address=odd_texts | st.tuples(st.sampled_from(["bolt://", "neo4j+s://", "http://", ""]), odd_texts).map("".join),
    username=odd_texts,
)
def test_any_address_of_a_kit_is_taken_or_refused_by_name(address: str, username: str) -> None:
    with only_ours():
        connect, origin = _addresses(address, username)
        assert connect.encode()
        assert origin.encode()
