"""How Neo4j is told what to do: its settings file and the command line of the JVM.

Neo4j refuses to start with a setting that it does not know, so these belong to the version in the lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from remembrancer.records.errors import InvalidInputError
from remembrancer.server.folder import DatabaseFolder, Ports
from remembrancer.server.java import Java

HEAP_VARIABLE: Final = "REMEMBRANCER_HEAP"
DEFAULT_HEAP: Final = "1g"
PAGE_CACHE_VARIABLE: Final = "REMEMBRANCER_PAGE_CACHE"
DEFAULT_PAGE_CACHE: Final = "256m"
MAIN_CLASS: Final = "org.neo4j.server.Neo4jCommunity"

# Browser may load its own files and talk to servers on this machine, nothing else: no fonts, no analytics.
CONTENT_POLICY: Final = (
    "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "base-uri 'none'; object-src 'none'; frame-ancestors 'none'; "
    "connect-src 'self' ws://127.0.0.1:* http://127.0.0.1:* ws://localhost:* http://localhost:*"
)

OPENED_PACKAGES: Final = (
    "java.base/java.nio",
    "java.base/java.io",
    "java.base/sun.nio.ch",
    "java.base/java.util.concurrent",
)

_FAIL_ON_DAMAGED_LOG: Final = "internal.dbms.tx_log.fail_on_corrupted_log_files"
# Where the folder's files are, who is listened to, the JVM, the one database, Browser, and a log that is damaged.
_OWN_GROUPS: Final = (
    *("server.directories.", "server.bolt.", "server.http", "server.default_", "server.jvm.", "server.memory.heap."),
    *("initial.", "browser.", "dbms.security.auth", _FAIL_ON_DAMAGED_LOG),
)
_SETTING = re.compile(r"[a-z][a-z0-9_-]*(\.[a-zA-Z0-9_-]+)+")

# All that the JVM gets of the environment: no keys of other services, no options meant for other JVMs.
KEPT_VARIABLES: Final = frozenset(
    {"HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "USER"}
    | {"APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"}
)


def settings_text(
    ports: Ports,
    *,
    page_cache: str = DEFAULT_PAGE_CACHE,
    cut_log: bool = False,
    further: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Render `neo4j.conf`: loopback only, with a password, telling nobody, and quick to stop.

    Args:
        ports: Where it listens.
        page_cache: The memory for pages of the store.
        cut_log: Start even when the end of the transaction log cannot be read, and cut that end off.
        further: Settings by name as `further_settings` gave them.
    """
    settings = {**_own_settings(ports, page_cache), **further}
    if cut_log:
        settings[_FAIL_ON_DAMAGED_LOG] = "false"
    header = "# Written anew at each start by remembrancer; changes made here are lost.\n"
    return header + "".join(f"{name}={value}\n" for name, value in settings.items())


def _own_settings(ports: Ports, page_cache: str) -> dict[str, str]:
    return {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": f"127.0.0.1:{ports.bolt}",
        "server.bolt.advertised_address": f"localhost:{ports.bolt}",
        "server.http.listen_address": f"127.0.0.1:{ports.http}",
        "server.http.advertised_address": f"localhost:{ports.http}",
        "server.http.x_forward.enabled": "false",
        "server.https.enabled": "false",
        "server.memory.pagecache.size": page_cache,
        "server.fleet_discovery.enabled": "false",  # would broadcast over the network
        "dbms.fleet_manager.enabled": "false",
        "dbms.usage_report.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "client.allow_telemetry": "false",
        # By default the server waits ten seconds after everything is closed and safe.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
        "internal.dbms.dump_diagnostics": "false",
        "db.tx_log.preallocate": "false",  # would take 512 MB of disk for an empty database
        "browser.remote_content_hostname_whitelist": "localhost,127.0.0.1",
        "dbms.security.http_static_content_security_policy_header": CONTENT_POLICY,
    }


def further_settings(given: Mapping[str, str] | None) -> dict[str, str]:
    """Settings of a caller's, checked.

    Raises:
        InvalidInputError: One is no setting, or one that remembrancer sets, or that undoes what it sees to.
    """
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInputError("settings", f"expected names of settings with values, got {type(given).__name__}")
    own = _own_settings(Ports(bolt=1, http=1), DEFAULT_PAGE_CACHE)
    for name, value in (given or {}).items():
        if name in own or str(name).startswith(_OWN_GROUPS):
            raise InvalidInputError("settings", f"{name} is set by remembrancer and cannot be changed")
        if not _SETTING.fullmatch(name) or not isinstance(value, str) or not value.isprintable():
            raise InvalidInputError("settings", f"expected names of settings and one line for each, got {name!r}")
    return dict(given or {})


def heap_size(chosen: str | None) -> str:
    """The most memory for Java objects: an argument, else `REMEMBRANCER_HEAP`, else 1g.

    Raises:
        InvalidInputError: It is not a number with m or g, or less than 256m.
    """
    field, value = (
        ("heap", chosen) if chosen is not None else (HEAP_VARIABLE, os.environ.get(HEAP_VARIABLE, DEFAULT_HEAP))
    )
    return _size(value, field=field, least=256)


def page_cache_size() -> str:
    """The memory for pages of the store: `REMEMBRANCER_PAGE_CACHE`, else 256m.

    Raises:
        InvalidInputError: It is not a number with m or g, or less than 16m.
    """
    return _size(os.environ.get(PAGE_CACHE_VARIABLE, DEFAULT_PAGE_CACHE), field=PAGE_CACHE_VARIABLE, least=16)


def _size(value: str, *, field: str, least: int) -> str:
    match = re.fullmatch(r"([1-9]\d{0,5})([mMgG])", value)
    if match is None or (match.group(2) in "mM" and int(match.group(1)) < least):
        raise InvalidInputError(field, f"must be a size such as 512m or 2g, {least}m at least, got {value!r}")
    return value


def java_arguments(
    folder: DatabaseFolder, java: Java, class_path: Sequence[Path], *, heap: str, options: Sequence[str]
) -> str:
    """Render the file of arguments for `java @file`, one a line; as a command line it might be too long for Windows."""
    arguments = [
        "-XX:+UseSerialGC",
        "-Xms128m",
        f"-Xmx{heap}",
        f"-XX:ErrorFile={folder.path / 'logs' / 'crash-%p.log'}",
        *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        *(["--add-modules=jdk.incubator.vector"] if java.has_vector_module else []),
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dfile.encoding=UTF-8",
        *options,
        "-cp",
        os.pathsep.join(map(str, class_path)),
        MAIN_CLASS,
        f"--home-dir={folder.path}",
        f"--config-dir={folder.configuration}",
    ]
    return "".join(f"{_quoted(argument)}\n" for argument in arguments)


def _quoted(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def java_environment() -> dict[str, str]:
    """The environment for the JVM: what it needs of this process's, and nothing else."""
    return {name: value for name, value in os.environ.items() if name.upper() in KEPT_VARIABLES}
