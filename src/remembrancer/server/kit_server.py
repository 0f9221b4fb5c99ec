"""The kit for the Browser of a Neo4j that is not ours, such as one in a container or on another machine.

A page may write into the storage of its own origin alone, so nothing can be put in place there: Browser is told where
to fetch style and guide, and does so across origins. What is served is no secret. It is held in memory and looked up by
its whole path, so a request gets one of these files or none.

Addresses say `localhost`: of other hosts Browser takes a guide only when its server's settings name them.
"""

from __future__ import annotations

import errno
import html
import io
import logging
import os
import re
import socket
import socketserver
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from string import Template
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from remembrancer.ports import arguments
from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.server._kit import kit_folder, saved_queries

logger = logging.getLogger(__name__)

BOLT_PORT: Final = 7687
REQUEST_SECONDS: Final = 10.0  # a connection that says nothing for so long is closed
POLL_SECONDS: Final = 0.1
TRIES: Final = 20  # at a port that both versions of the internet protocol have free
TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "grass": "text/plain; charset=utf-8",
    "cypher": "text/plain; charset=utf-8",
    "zip": "application/zip",
}
_SCHEME = re.compile(r"(?:bolt|neo4j)(?P<secured>\+s|\+ssc)?", re.IGNORECASE)
_DECK = '<carousel class="deck">\n'


@dataclass(frozen=True)
class ServedKit:
    """Where the kit is served, and what opens it.

    Attributes:
        address: `http://localhost:` and the port; a page that says what to do.
        browser_url: Browser of the Neo4j, with the guide opened in it. Its port is Neo4j's default one, 7474 or with
            TLS 7473, since the address for drivers does not tell another.
    """

    address: str
    browser_url: str

    @property
    def style_command(self) -> str:
        """What sets the style, to be run in Browser."""
        return f":style {self.address}/style.grass"

    @property
    def guide_command(self) -> str:
        """What opens the guide, to be run in Browser."""
        return f":guide {self.address}/guide.html"

    @property
    def queries_url(self) -> str:
        """The saved queries as a .zip of .cypher files. Dropped onto Browser, they are among its saved queries."""
        return f"{self.address}/queries.zip"


@contextmanager
def serve_kit(uri: str, *, username: str = "neo4j", port: int | None = None) -> Iterator[ServedKit]:
    """Serve the kit on the loopback interface, to the end of the block. Neither Neo4j nor Browser is connected to.

    Args:
        uri: Address of the Neo4j for drivers, such as `neo4j://localhost:7687`. What it says of a user is left out.
        username: Who Browser proposes to log in as.
        port: The port to listen on. Left out: a free one.

    Raises:
        InvalidInputError: An address that is none, or a port that is outside 1 to 65,535, taken, or not for this user
            to listen on.
        ServerUnavailableError: No port was named, and no free one found.
    """
    if port is not None and not 1 <= port <= 65_535:
        raise InvalidInputError("port", f"must be 1 to 65,535, got {port!r}")
    connect_url, origin = _addresses(uri, username)
    listeners = _listeners(port)
    address = f"http://localhost:{listeners[0].server_address[1]}"
    opening = {"connectURL": connect_url, "cmd": "guide", "arg": f"{address}/guide.html"}
    kit = ServedKit(address, f"{origin}/browser/?{urlencode(opening)}")
    files = _files(kit, origin)
    for listener in listeners:
        listener.files = files
        threading.Thread(target=listener.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
    try:
        yield kit
    finally:
        for listener in listeners:
            listener.shutdown()
            listener.server_close()


def _addresses(uri: str, username: str) -> tuple[str, str]:
    """What Browser connects to, and where Browser itself should be."""
    arguments.text(username, field="username")
    arguments.text(uri, field="uri")
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port or BOLT_PORT
    except ValueError as error:
        raise InvalidInputError("uri", f"{error}, in {uri!r}") from error
    scheme = _SCHEME.fullmatch(parts.scheme)
    if scheme is None or not host:
        raise InvalidInputError("uri", f"expected an address such as neo4j://localhost:7687, got {uri!r}")
    host = f"[{host}]" if ":" in host else host
    origin = f"https://{host}:7473" if scheme["secured"] else f"http://{host}:7474"
    return f"{parts.scheme}://{quote(username, safe='')}@{host}:{port}", origin


def _files(kit: ServedKit, origin: str) -> dict[str, tuple[str, bytes]]:
    """What is served: type and content by path."""
    queries = saved_queries()
    shown = "\n".join(
        f'<pre class="pre-scrollable code runnable">{html.escape(text)}</pre>' for text in queries.values()
    )
    values = {
        "address": kit.address,
        "browser": html.escape(kit.browser_url),
        "origin": html.escape(f"{origin}/browser/"),
        "server": html.escape(origin.partition("://")[2].rpartition(":")[0]),
        "queries": shown,
    }
    guide, slides, steps = (_text(name) for name in ("guide.html", "slides.html", "steps.html"))
    before, start, after = guide.partition(_DECK)
    contents = {
        "/style.grass": _text("style.grass").encode(),
        "/guide.html": f"{before}{start}{Template(slides).substitute(values)}{after}".encode(),
        "/queries.zip": _zipped(queries),
        **{f"/queries/{name}": text.encode() for name, text in queries.items()},
    }
    served = {path: (TYPES[path.rpartition(".")[2]], content) for path, content in contents.items()}
    return {"/": (TYPES["html"], Template(steps).substitute(values).encode()), **served}


def _text(name: str) -> str:
    return (kit_folder() / name).read_text(encoding="utf-8")


def _zipped(queries: dict[str, str]) -> bytes:
    """The queries without a folder: Browser 5.24 would make one for each file in it, all of one name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in queries.items():
            entry = zipfile.ZipInfo(name)  # of a fixed date, so that the same kit is the same file
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


class _Answer(BaseHTTPRequestHandler):
    """One request. Any page may fetch these files, also one that a browser asks for permission for first."""

    server: _Listener
    server_version = "remembrancer"
    sys_version = ""
    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        """Answer with a file."""
        content = self._begin()
        if content is not None:
            self.wfile.write(content)

    def do_HEAD(self) -> None:
        """Answer with what is known of a file."""
        self._begin()

    def do_OPTIONS(self) -> None:
        """Answer that a page of any origin may ask, also one that does not come from this machine."""
        self.send_response(HTTPStatus.NO_CONTENT)
        self.send_header("Allow", "GET, HEAD, OPTIONS")
        self.send_header("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.send_header("Access-Control-Allow-Private-Network", "true")
        self.end_headers()

    def _begin(self) -> bytes | None:
        kind, content = self.server.files.get(self.path.partition("?")[0], ("", None))
        if content is None:
            self.send_error(HTTPStatus.NOT_FOUND, "Not one of the kit's files")
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return content

    def end_headers(self) -> None:
        """Add what every answer says."""
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the base class gives it
        """Log at DEBUG what the base class would print."""
        logger.debug(format, *args)


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = os.name == "posix"  # elsewhere it would let a second program share the port
    daemon_threads = True
    files: dict[str, tuple[str, bytes]]

    def __init__(self, family: socket.AddressFamily, host: str, port: int) -> None:
        self.address_family = family
        super().__init__((host, port), _Answer)

    def handle_error(self, request: object, client_address: object) -> None:
        """Log what the base class would print: most often that the other end has gone."""
        logger.debug("an answer to %s failed", client_address, exc_info=True)


def _listeners(port: int | None) -> list[_Listener]:
    """Listen on one port by both versions of the internet protocol, since `localhost` may mean either."""
    for _ in range(TRIES):
        try:
            return _listen(port or 0)
        except OSError as error:
            is_taken = error.errno == errno.EADDRINUSE
            if is_taken and port is None:
                continue
            problem = "is taken by another program" if is_taken else f"cannot be listened on: {error.strerror}"
            if port is None:
                raise ServerUnavailableError(f"a port of localhost {problem}", address="localhost") from error
            raise InvalidInputError("port", f"{port} {problem}; name another port, or none") from error
    raise ServerUnavailableError(f"no free port found among {TRIES} tried on localhost")


def _listen(port: int) -> list[_Listener]:
    first = _Listener(socket.AF_INET, "127.0.0.1", port)
    try:
        return [first, _Listener(socket.AF_INET6, "::1", first.server_address[1])]
    except OSError as error:
        if error.errno != errno.EADDRINUSE:  # a machine without IPv6 has no ::1
            return [first]
        first.server_close()
        raise
