"""The database folder: who may read it, its password, its ports, and what becomes of settings."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.server import LocalServer, default_path
from remembrancer.server.folder import Credentials, DatabaseFolder, Ports, is_free, password_record
from remembrancer.server.settings import further_settings, heap_size, java_environment, page_cache_size, settings_text

posix_only = pytest.mark.skipif(os.name != "posix", reason="modes are a matter of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> DatabaseFolder:
    return DatabaseFolder.at(tmp_path / "memory")


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix_only
def test_only_the_user_can_read_folder_and_password(folder: DatabaseFolder) -> None:
    folder.prepare()
    folder.credentials()
    assert mode(folder.path) == 0o700
    assert mode(folder.path / "credentials.json") == 0o600
    assert mode(folder.path / "data" / "dbms" / "auth.ini") == 0o600


@posix_only
def test_a_folder_that_others_could_read_is_closed_to_them(folder: DatabaseFolder) -> None:
    folder.path.mkdir(mode=0o755)
    folder.prepare()
    assert mode(folder.path) == 0o700


def test_a_folder_with_other_things_in_it_is_left_alone(folder: DatabaseFolder) -> None:
    folder.path.mkdir(mode=0o755)
    (folder.path / "thesis.txt").write_text("do not touch")
    with pytest.raises(InvalidInputError, match=r"thesis\.txt"):
        folder.prepare()
    assert [entry.name for entry in folder.path.iterdir()] == ["thesis.txt"]
    assert os.name != "posix" or mode(folder.path) == 0o755


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerUnavailableError, match=r"cannot use .*memory as a database folder"):
        DatabaseFolder.at(tmp_path / "file" / "memory").prepare()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ServerUnavailableError, match="cannot use"):
        DatabaseFolder.at(tmp_path / "memory").prepare()


def test_each_folder_has_a_password_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    folders = [DatabaseFolder.at(tmp_path / name) for name in ("one", "two")]
    for folder in folders:
        folder.prepare()
    first = [folder.credentials() for folder in folders]
    assert first[0].password != first[1].password
    assert len(first[0].password) >= 32
    assert [folder.credentials() for folder in folders] == first


def test_a_lost_password_is_an_error_and_not_a_new_one(folder: DatabaseFolder) -> None:
    folder.prepare()
    folder.credentials()
    (folder.path / "data" / "databases").mkdir(parents=True)
    (folder.path / "credentials.json").unlink()
    with pytest.raises(ServerUnavailableError, match=r"credentials\.json"):
        folder.credentials()


def test_the_password_record_is_what_neo4j_reads() -> None:
    record = password_record(Credentials(username="neo4j", password="correct horse"), bytes(range(32)))
    user, scheme = record.rstrip("\n").split(":", 1)
    name, digest, salt, rounds = scheme.rstrip(":").split(",")
    assert (user, name, salt, rounds) == ("neo4j", "SHA-256", bytes(range(32)).hex(), "1024")
    assert digest == "5f20770913ee2fce30f7be2a2903b52f6bd4fc39c0698314d8938176b3949b4a"


def test_ports_are_kept_for_the_next_start(folder: DatabaseFolder) -> None:
    folder.prepare()
    ports = folder.choose_ports(bolt=None, http=None, fresh=False)
    assert folder.choose_ports(bolt=None, http=None, fresh=False) == ports
    assert folder.choose_ports(bolt=None, http=None, fresh=True) != ports


def test_a_kept_port_that_was_taken_is_replaced(folder: DatabaseFolder, listener: int) -> None:
    folder.prepare()
    kept = folder.choose_ports(bolt=None, http=None, fresh=False)
    taken = Ports(bolt=listener, http=kept.http)
    (folder.path / "ports.json").write_text(taken.model_dump_json())
    chosen = folder.choose_ports(bolt=None, http=None, fresh=False)
    assert chosen.bolt != listener
    assert chosen.http == kept.http


def test_a_wanted_port_that_is_taken_is_an_error(folder: DatabaseFolder, listener: int) -> None:
    folder.prepare()
    assert not is_free(listener)
    with pytest.raises(InvalidInputError, match=f"bolt_port: {listener} is taken by another program"):
        folder.choose_ports(bolt=listener, http=None, fresh=False)
    with pytest.raises(InvalidInputError, match=f"http_port: {listener} is taken by another program"):
        folder.choose_ports(bolt=None, http=listener, fresh=False)


def test_a_store_of_a_later_neo4j_is_left_alone(folder: DatabaseFolder) -> None:
    folder.prepare()
    folder.check_version("2026.08.1")
    folder.note_version("2026.08.1")
    for same_or_later in ("2026.08.1", "2026.10.0", "2027.01"):
        folder.check_version(same_or_later)
    with pytest.raises(ServerUnavailableError, match=r"last used by Neo4j 2026\.08\.1.*install") as caught:
        folder.check_version("2026.07.2")
    assert str(folder.path) in str(caught.value)
    assert os.name != "posix" or mode(folder.path / "store.json") == 0o600


@pytest.mark.parametrize("text", ["", "{}", '{"neo4j": "soon"}', "[1]"])
def test_a_damaged_version_file_is_named(folder: DatabaseFolder, text: str) -> None:
    folder.prepare()
    (folder.path / "store.json").write_text(text)
    with pytest.raises(ServerUnavailableError, match=r"store\.json does not say which Neo4j"):
        folder.check_version("2026.08.1")


def test_a_torn_state_file_counts_as_none(folder: DatabaseFolder) -> None:
    folder.prepare()
    (folder.path / "server.json").write_text('{"supervisor_pid": 1')
    assert folder.running() is None


def test_settings_keep_the_server_on_this_machine_and_quiet() -> None:
    lines = settings_text(Ports(bolt=21_001, http=21_002)).splitlines()
    assert "server.default_listen_address=127.0.0.1" in lines
    assert "server.bolt.listen_address=127.0.0.1:21001" in lines
    assert "dbms.security.auth_enabled=true" in lines
    for silent in ("server.fleet_discovery.enabled", "dbms.usage_report.enabled", "client.allow_telemetry"):
        assert f"{silent}=false" in lines


@pytest.mark.parametrize(
    "further",
    [
        {"server.bolt.listen_address": "0.0.0.0:7687"},
        {"dbms.security.auth_enabled": "false"},
        {"server.directories.data": "/elsewhere"},
        {"internal.dbms.tx_log.fail_on_corrupted_log_files": "false"},
        {"no setting": "1"},
        ["db.transaction.timeout"],
        {"db.transaction.timeout": "1s\ndbms.security.auth_enabled=false"},
        {"db.transaction.timeout": 30},
    ],
)
def test_settings_that_are_none_or_not_the_callers_are_refused(further: Any) -> None:
    with pytest.raises(InvalidInputError, match="settings"):
        further_settings(further)


def test_further_settings_stand_behind_ours() -> None:
    text = settings_text(Ports(bolt=21_001, http=21_002), further={"db.transaction.timeout": "30s"})
    assert text.endswith("\ndb.transaction.timeout=30s\n")


@pytest.mark.parametrize("value", ["", "1", "g", "0g", "255m", "1.5g", "1t", " 1g", "1g -Dx"])
def test_a_heap_that_is_no_size_is_refused(value: str) -> None:
    with pytest.raises(InvalidInputError, match="heap"):
        heap_size(value)
    with pytest.raises(InvalidInputError, match=r"^heap: "):  # before the folder is made
        LocalServer.open("never made", heap=value)


def test_the_heap_comes_from_the_argument_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMEMBRANCER_HEAP", raising=False)
    assert heap_size(None) == "1g"
    monkeypatch.setenv("REMEMBRANCER_HEAP", "512m")
    assert (heap_size(None), heap_size("2g")) == ("512m", "2g")


def test_the_page_cache_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMEMBRANCER_PAGE_CACHE", raising=False)
    assert page_cache_size() == "256m"
    monkeypatch.setenv("REMEMBRANCER_PAGE_CACHE", "4g")
    settings = settings_text(Ports(bolt=21_001, http=21_002), page_cache=page_cache_size())
    assert "server.memory.pagecache.size=4g\n" in settings
    monkeypatch.setenv("REMEMBRANCER_PAGE_CACHE", "15m")
    with pytest.raises(InvalidInputError, match="REMEMBRANCER_PAGE_CACHE"):
        page_cache_size()


def test_the_server_gets_no_keys_of_other_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")
    assert not {"SOME_API_KEY", "JAVA_TOOL_OPTIONS"} & set(java_environment())
    assert "PATH" in {name.upper() for name in java_environment()}


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("linger", {"linger": -1.0}),
        ("start_timeout", {"start_timeout": 0.0}),
        ("bolt_port", {"bolt_port": 0}),
        ("http_port", {"http_port": 70_000}),
        ("http_port", {"bolt_port": 7687, "http_port": 7687}),
    ],
)
def test_arguments_out_of_bounds_are_refused_at_once(tmp_path: Path, field: str, options: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        LocalServer.open(tmp_path, **options)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_the_default_folder_is_the_users_own() -> None:
    assert default_path().name == "default"
    assert "remembrancer" in str(default_path())


@posix_only
@pytest.mark.parametrize("name", ["closed", "closed/data"])
def test_a_folder_that_is_closed_to_this_user_is_refused(name: str) -> None:
    is_root = os.geteuid() == 0  # whom nothing is closed to
    with tempfile.TemporaryDirectory() as parent:
        os.chmod(parent, 0o755)
        shut = Path(parent) / name
        shut.mkdir(parents=True)
        shut.chmod(0o700 if is_root else 0)
        try:
            if is_root:
                os.seteuid(65534)
            with pytest.raises(InvalidInputError, match=r"^path: .*closed cannot be looked into: Permission denied$"):
                DatabaseFolder.at(Path(parent) / "closed")
        finally:
            if is_root:
                os.seteuid(0)
            shut.chmod(0o700)
