"""The kit for the Browser of another Neo4j, as it is served: these files, to any page, on this machine, and no more."""

from __future__ import annotations

import io
import socket
import zipfile
from collections.abc import Iterator

import httpx
import pytest

from remembrancer.records import InvalidInputError
from remembrancer.server import ServedKit, serve_kit
from remembrancer.server._kit import kit_folder, saved_queries

NEO4J = "neo4j://localhost:7687"


@pytest.fixture
def kit() -> Iterator[ServedKit]:
    with serve_kit(NEO4J) as served:
        yield served


@pytest.fixture
def client(kit: ServedKit) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=kit.address, trust_env=False) as opened:
        yield opened


def port_of(kit: ServedKit) -> int:
    return int(kit.address.rpartition(":")[2])


def test_the_guide_begins_with_the_style_and_the_saved_queries(kit: ServedKit, client: httpx.Client) -> None:
    guide = client.get("/guide.html").text
    slides = guide.split("<slide ")[1:]
    assert f">{kit.style_command}</pre>" in slides[0]
    assert kit.queries_url in slides[0]
    assert slides[1].count("runnable") == len(saved_queries())
    assert "-&gt;(fact)" in slides[1], "a query is text there, not markup"
    own = (kit_folder() / "guide.html").read_text(encoding="utf-8").split("<slide ")[1:]
    assert slides[2:] == own
    assert "$" not in guide


def test_the_style_is_that_of_the_own_server(client: httpx.Client) -> None:
    assert client.get("/style.grass").content == (kit_folder() / "style.grass").read_bytes()


def test_the_saved_queries_come_one_by_one_and_as_one_file(client: httpx.Client) -> None:
    answer = client.get("/queries.zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
    assert packed == saved_queries()
    assert {name: client.get(f"/queries/{name}").text for name in packed} == packed


def test_the_first_page_tells_what_to_do(kit: ServedKit, client: httpx.Client) -> None:
    answer = client.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert kit.guide_command in answer.text
    assert kit.style_command in answer.text
    assert kit.browser_url.replace("&", "&amp;") in answer.text


def test_a_page_of_another_origin_may_fetch_it(client: httpx.Client) -> None:
    assert client.get("/style.grass").headers["access-control-allow-origin"] == "*"
    asked = client.options(
        "/style.grass",
        headers={
            "Origin": "http://db.example.com:7474",
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "cache-control",
            "Access-Control-Request-Private-Network": "true",
        },
    )
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == "*"
    assert asked.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert asked.headers["access-control-allow-headers"] == "*"
    assert asked.headers["access-control-allow-private-network"] == "true"


def test_asking_about_a_file_answers_without_it(client: httpx.Client) -> None:
    asked = client.head("/style.grass")
    assert (asked.status_code, asked.content) == (200, b"")
    assert int(asked.headers["content-length"]) == (kit_folder() / "style.grass").stat().st_size


@pytest.mark.parametrize(
    "path",
    [
        b"/queries",
        b"/queries/",
        b"/kit.js",
        b"/../pyproject.toml",
        b"/queries/../style.grass",
        b"/queries/..%2f..%2f..%2fpyproject.toml",
        b"/%2e%2e/pyproject.toml",
        b"//etc/passwd",
        b"/etc/passwd",
        b"/style.grass/",
        b"/style.grass%00",
    ],
)
def test_a_path_that_is_none_of_the_files_gets_nothing(kit: ServedKit, path: bytes) -> None:
    # Over a plain socket, since a client puts such paths in order before it sends them.
    with socket.create_connection(("localhost", port_of(kit)), timeout=10) as connection:
        connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.0 404 ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_it_takes_nothing(client: httpx.Client, method: str) -> None:
    assert client.request(method, "/style.grass").status_code == 501


def test_it_answers_on_this_machine_alone(kit: ServedKit) -> None:
    for host in ("127.0.0.1", "localhost"):
        socket.create_connection((host, port_of(kit)), timeout=10).close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; tells which address this machine would send from
        own = probe.getsockname()[0]
    if not own.startswith("127."):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((own, port_of(kit)), timeout=10).close()


def test_two_at_once_have_ports_of_their_own(kit: ServedKit) -> None:
    with serve_kit(NEO4J) as second:
        assert second.address != kit.address
        assert second.style_command in httpx.get(f"{second.address}/guide.html", trust_env=False).text


def test_a_port_is_free_again_at_the_end(kit: ServedKit) -> None:
    with serve_kit(NEO4J) as served:
        port = port_of(served)
        assert httpx.get(served.address, trust_env=False).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(served.address, trust_env=False)
    with serve_kit(NEO4J, port=port) as again:
        assert again.address == served.address


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_port_that_is_taken_is_told(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as other:
        try:
            other.bind((host, 0))
        except OSError as error:
            pytest.skip(f"no {host} on this machine: {error}")
        other.listen()
        port = other.getsockname()[1]
        with (
            pytest.raises(InvalidInputError, match=f"port: {port} is taken by another program"),
            serve_kit(NEO4J, port=port),
        ):
            pass


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_a_port_is_one_of_65535(port: int) -> None:
    with pytest.raises(InvalidInputError, match="port: must be 1 to 65,535"), serve_kit(NEO4J, port=port):
        pass


@pytest.mark.parametrize(
    ("uri", "connect", "browser"),
    [
        ("neo4j://localhost:7687", "neo4j%3A%2F%2Fann%40localhost%3A7687", "http://localhost:7474/browser/?"),
        ("bolt://10.0.0.7", "bolt%3A%2F%2Fann%4010.0.0.7%3A7687", "http://10.0.0.7:7474/browser/?"),
        ("bolt://[::1]:17687", "bolt%3A%2F%2Fann%40%5B%3A%3A1%5D%3A17687", "http://[::1]:7474/browser/?"),
        ("neo4j+s://db.example.com", "neo4j%2Bs%3A%2F%2Fann%40db.example.com%3A7687", "https://db.example.com:7473/"),
    ],
)
def test_browser_is_told_where_to_connect_to(uri: str, connect: str, browser: str) -> None:
    with serve_kit(uri, username="ann") as kit:
        assert kit.browser_url.startswith(browser)
        assert (
            f"connectURL={connect}&cmd=guide&arg=http%3A%2F%2Flocalhost%3A{port_of(kit)}%2Fguide.html"
            in kit.browser_url
        )


def test_a_password_in_an_address_goes_nowhere() -> None:
    with serve_kit("neo4j://ann:secret@localhost") as kit:
        assert "secret" not in kit.browser_url
        assert "secret" not in httpx.get(kit.address, trust_env=False).text


def test_what_an_address_says_is_text_on_the_page() -> None:
    with serve_kit("neo4j://<b>localhost", username='"><script>') as kit:
        page = httpx.get(kit.address, trust_env=False).text
    assert "<script" not in page
    assert "<b>localhost" not in page


@pytest.mark.parametrize(
    "uri", ["nonsense", "http://localhost:7474", "neo4j://", "neo4j://localhost:x", "neo4j://[::1", ""]
)
def test_an_address_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(InvalidInputError, match="uri: "), serve_kit(uri):
        pass
