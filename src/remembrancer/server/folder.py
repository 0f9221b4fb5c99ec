"""The folder of one database: what lies where in it, who may read it, its password and its ports.

conf/  data/  logs/  run/      Neo4j's own
credentials.json               user name and password, mode 0600
ports.json                     the ports it listened on last; kept, since Browser keeps its settings per address
store.json                     the version of Neo4j that the store was used with last
server.json                    how to join the running server, mode 0600; absent when none runs
start.lock, supervisor.lock    locks between processes
compact/                       a store that is being made to replace this one (`replacing`)
work.json                      what is being done to the store at rest; stays when that is killed (`unfinished`)
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import secrets
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.records.file import require_absolute_path
from remembrancer.server.extra import missing_package
from remembrancer.server.process import ProcessId

USERNAME: Final = "neo4j"
PASSWORD_BYTES: Final = 24
HASH_ROUNDS: Final = 1024
ROOM_BYTES: Final = 50_000_000
# Below the range from which Linux, macOS and Windows take the ports of outgoing connections, so a port that was free
# once has a fair chance to be free the next time.
PORT_RANGE: Final = range(21_000, 32_000)


Port = Annotated[int, Field(ge=1, le=65_535)]


class Ports(BaseModel):
    """The two ports of a server, on the loopback interface."""

    model_config = ConfigDict(frozen=True)

    bolt: Port
    http: Port


class Credentials(BaseModel):
    """Who may log in. The password is random; the database knows its hash only."""

    model_config = ConfigDict(frozen=True)

    username: str
    password: str


class RunningServer(BaseModel):
    """What `server.json` tells about the server that runs, or ran until it was killed."""

    model_config = ConfigDict(frozen=True)

    supervisor_pid: ProcessId
    server_pid: ProcessId
    control_port: Port
    token: str
    bolt_port: Port
    http_port: Port
    version: str


class StoreVersion(BaseModel):
    """What `store.json` tells about the store."""

    model_config = ConfigDict(frozen=True)

    neo4j: str


def version_numbers(version: str) -> tuple[int, ...]:
    """A version of Neo4j as numbers that can be compared."""
    return tuple(int(part) for part in version.split("-")[0].split("."))


def default_path() -> Path:
    """Where the database lies when no folder is named: `default`, in the platform's data folder for this user."""
    try:
        import platformdirs
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    return Path(platformdirs.user_data_dir("remembrancer")) / "default"


@dataclass(frozen=True, slots=True)
class DatabaseFolder:
    """One database on disk."""

    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> DatabaseFolder:
        """Name a folder, which need not exist; a leading `~` is the home folder.

        Raises:
            InvalidInputError: No folder can be called so, or it is closed to this user; names `path`.
        """
        folder = cls(require_absolute_path(path, field="path"))
        try:
            _ = folder.has_database
        except OSError as error:
            problem = f"{folder.path} cannot be looked into: {error.strerror or error}"
            raise InvalidInputError("path", problem) from error
        return folder

    @property
    def has_database(self) -> bool:
        """Whether Neo4j has made a database here."""
        return (self.path / "data" / "databases").exists()

    @property
    def configuration(self) -> Path:
        """Neo4j's `conf` folder."""
        return self.path / "conf"

    @property
    def console(self) -> Path:
        """What the JVM printed since its last start."""
        return self.path / "logs" / "console.log"

    @property
    def java_arguments(self) -> Path:
        """The file that holds the JVM's command line; its path tells our JVM from others."""
        return self.path / "run" / "java.args"

    @property
    def start_lock(self) -> Path:
        """Held while looking for a running server and starting one."""
        return self.path / "start.lock"

    @property
    def supervisor_lock(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.path / "supervisor.lock"

    def prepare(self) -> None:
        """Make the folder, readable by this user only, with credentials in it, unless that was done before.

        Raises:
            InvalidInputError: The folder holds something else.
            ServerUnavailableError: It cannot be made or written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                self._check_ours()
                self.path.chmod(0o700)
            if not self._credentials_file.exists():
                self._check_ours()
            for name in ("conf", "data", "logs", "run"):
                (self.path / name).mkdir(exist_ok=True, mode=0o700)
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise PermissionError(f"{self.path} is not writable")
        except OSError as error:
            raise ServerUnavailableError(
                f"cannot use {self.path} as a database folder: {error}", address=str(self.path)
            ) from error

    def check_free(self) -> None:
        """See that a database can be made in the folder, which need not exist; nothing is made.

        Raises:
            InvalidInputError: It is no folder, or holds something else.
            ServerUnavailableError: It cannot be looked at.
        """
        try:
            if self.path.exists() and not self._credentials_file.exists():
                self._check_ours()
        except NotADirectoryError as error:
            raise InvalidInputError("path", f"{self.path} is no folder") from error
        except OSError as error:
            raise ServerUnavailableError(f"cannot use {self.path}: {error}", address=str(self.path)) from error

    def _check_ours(self) -> None:
        ours = {"conf", "data", "logs", "run", "start.lock", "supervisor.lock", "ports.json", "credentials.json"}
        ours |= {"server.json", "server.part", "credentials.part", "ports.part", "import", "plugins", "licenses", "lib"}
        ours |= {"compact", "store.json", "store.part", "work.json", "work.part"}
        strange = sorted(entry.name for entry in self.path.iterdir() if entry.name not in ours)
        if strange:
            raise InvalidInputError(
                "path", f"{self.path} holds something else ({', '.join(strange[:3])}): name an empty or a new folder"
            )

    @property
    def _credentials_file(self) -> Path:
        return self.path / "credentials.json"

    def credentials(self) -> Credentials:
        """Read the password, after making one when the folder is new. Call it under the start lock.

        Raises:
            ServerUnavailableError: The file is missing or broken although there is a database.
        """
        initial = self.path / "data" / "dbms" / "auth.ini"
        if not self._credentials_file.exists() and not self.has_database:
            made = Credentials(username=USERNAME, password=secrets.token_urlsafe(PASSWORD_BYTES))
            initial.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # First what Neo4j reads, then ours: when we are killed in between, both are made again.
            write_private(initial, password_record(made, secrets.token_bytes(32)))
            write_private(self._credentials_file, made.model_dump_json())
        return self.known_credentials()

    def known_credentials(self) -> Credentials:
        """Read the password of a database that was started before."""
        try:
            return Credentials.model_validate_json(self._credentials_file.read_bytes())
        except (OSError, ValidationError) as error:
            raise ServerUnavailableError(
                f"the password of the database in {self.path} cannot be read from credentials.json ({error}); "
                'put {"username": "neo4j", "password": "..."} there',
                address=str(self.path),
            ) from error

    def check_version(self, version: str) -> None:
        """See that a version of Neo4j can read the store: that of the last time, or a later one.

        Raises:
            ServerUnavailableError: A later version wrote it, or the file that says so is damaged.
        """
        file = self.path / "store.json"
        try:
            last = StoreVersion.model_validate_json(file.read_bytes()).neo4j
            is_newer = version_numbers(last) > version_numbers(version)
        except FileNotFoundError:
            return  # a new folder, or one from before the file was kept
        except (OSError, ValueError) as error:
            raise ServerUnavailableError(
                f"{file} does not say which Neo4j used {self.path} last ({error}): remove it when that was no later "
                f"one than {version}",
                address=str(self.path),
            ) from error
        if is_newer:
            raise ServerUnavailableError(
                f"the store in {self.path} was last used by Neo4j {last}, and this version of remembrancer runs "
                f"{version}, which may not read it: install the version of remembrancer that you used last, or a later "
                "one",
                address=str(self.path),
            )

    def check_room(self) -> None:
        """See that the disk has room for a start, which writes some files and replays the log.

        Raises:
            ServerUnavailableError: It has less than 50 MB.
        """
        free = shutil.disk_usage(self.path).free
        if free < ROOM_BYTES:
            raise ServerUnavailableError(
                f"the disk of {self.path} has {free // 1_000_000} MB to spare, and a start needs "
                f"{ROOM_BYTES // 1_000_000} MB: free some space and open it again; nothing is lost",
                address=str(self.path),
            )

    def note_version(self, version: str) -> None:
        """Note which version of Neo4j is about to use the store. Call it under the start lock."""
        file = self.path / "store.json"
        text = StoreVersion(neo4j=version).model_dump_json()
        if not file.exists() or file.read_bytes() != text.encode():
            write_private(file, text)

    def running(self) -> RunningServer | None:
        """What `server.json` says, or None when there is none, or a torn one. Whether it is true, joining tells."""
        try:
            return RunningServer.model_validate_json((self.path / "server.json").read_bytes())
        except (FileNotFoundError, NotADirectoryError, ValidationError):
            return None

    def forget_running(self) -> None:
        """Remove a `server.json` that turned out to be stale."""
        (self.path / "server.json").unlink(missing_ok=True)

    def choose_ports(self, *, bolt: int | None, http: int | None, fresh: bool) -> Ports:
        """Choose the ports to listen on: those asked for, else those of the last time while free, else free ones.

        Args:
            bolt: The Bolt port that must be taken, if any.
            http: The HTTP port that must be taken, if any.
            fresh: Do not take those of the last time.

        Raises:
            InvalidInputError: A port that was asked for is in use; names `bolt_port` or `http_port`.
            ServerUnavailableError: No free one was found.
        """
        for name, port in (("bolt_port", bolt), ("http_port", http)):
            if port is not None and not is_free(port):
                raise InvalidInputError(name, f"{port} is taken by another program; name another port, or none")
        last = None if fresh else self._last_ports()
        chosen_bolt = bolt or self._free_port(last.bolt if last else None, taken=http)
        chosen = Ports(bolt=chosen_bolt, http=http or self._free_port(last.http if last else None, taken=chosen_bolt))
        write_private(self.path / "ports.json", chosen.model_dump_json())
        return chosen

    def _last_ports(self) -> Ports | None:
        try:
            return Ports.model_validate_json((self.path / "ports.json").read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def _free_port(self, wanted: int | None, *, taken: int | None) -> int:
        if wanted is not None and wanted != taken and is_free(wanted):
            return wanted
        candidates = random.sample(PORT_RANGE, 200)
        for port in candidates:
            if port != taken and is_free(port):
                return port
        raise ServerUnavailableError(f"no free port found among {len(candidates)} tried on localhost")


def is_free(port: int) -> bool:
    """Whether nobody listens on a port of the loopback interface, by either version of the internet protocol."""
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # as the JVM does: the remains of closed connections are no hindrance
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                # A machine without IPv6 has no ::1 that anyone could listen on.
                if family == socket.AF_INET or error.errno == errno.EADDRINUSE:
                    return False
    return True


def write_private(target: Path, text: str) -> None:
    """Replace a file in one step by one that only this user can read, from its first byte on."""
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, target)


def password_record(credentials: Credentials, salt: bytes) -> str:
    """What Neo4j reads as `auth.ini` on its very first start: the salted hash of the password, hashed over and over."""
    hashed = hashlib.sha256(salt + credentials.password.encode()).digest()
    for _ in range(HASH_ROUNDS - 1):
        hashed = hashlib.sha256(hashed).digest()
    return f"{credentials.username}:SHA-256,{hashed.hex()},{salt.hex()},{HASH_ROUNDS}:\n"
