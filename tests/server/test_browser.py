"""Neo4j Browser itself, in a Chromium: style, saved queries and guide appear, and what is the user's own stays.

The keys and shapes in its local storage are Browser's own affair. These tests say when a new Browser has changed them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server import chromium
from tests.server.chromium import Page

from remembrancer.server import LocalServer, ServedKit, serve_kit
from remembrancer.server._kit import saved_queries

FOUND = chromium.find()
pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.long,
    pytest.mark.skipif(FOUND is None, reason=f"no Chromium to drive: looked for {', '.join(chromium.NAMES)}"),
]

MEMORY = """
CREATE (fact:Fact {namespace: 'test', id: 'f', content: 'Ada works at Acme.', valid_from: datetime()}),
       (fact)-[:MENTIONS]->(:Entity {namespace: 'test', id: 'e', name: 'Ada'}),
       (:Theme {namespace: 'test', id: 't', label: 'Work'})-[:HAS_FACT]->(fact)
"""
NAMES = [text.partition("\n")[0].removeprefix("// ") for text in saved_queries().values()]
OWN_QUERY = {"id": "1", "name": "mine", "content": "// mine\nRETURN 1", "folder": "own"}
OWN_QUERY_THERE = {"id": "2", "name": "mine too", "content": "// mine too\nRETURN 2", "folder": "remembrancer"}
OWN_FOLDER = {"id": "own", "name": "remembrancer"}  # of the same name, and still another
OWN_STYLE = {"color": "#123456", "caption": "{mine}"}


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalServer]:
    options = ("-XX:TieredStopAtLevel=1",)
    async with LocalServer.open(tmp_path_factory.mktemp("browser") / "memory", jvm_options=options) as opened:
        async with httpx.AsyncClient(trust_env=False, auth=(opened.username, opened.password), timeout=60) as client:
            answer = await client.post(f"{opened.http_uri}/db/neo4j/query/v2", json={"statement": MEMORY})
            answer.raise_for_status()
        yield opened


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    assert FOUND is not None
    async with chromium.open_page(FOUND, tmp_path / "profile") as opened:
        yield opened


def element(name: str) -> str:
    return f"document.querySelector('[data-testid=\"{name}\"]')"


def is_there(name: str) -> str:
    return f"{element(name)} !== null"


async def log_in(page: Page, server: LocalServer) -> None:
    await page.until(is_there("password"))
    await page.evaluate(f"{element('password')}.focus()")
    await page.type(server.password)
    await page.press("Enter", 13)
    await page.until(f"!({is_there('password')})")


async def run(page: Page, command: str) -> None:
    """Run a command as a user does: in the editor."""
    await page.until("document.querySelector('.monaco-editor textarea') !== null")
    await page.evaluate("document.querySelector('.monaco-editor textarea').focus()")
    await page.press("a", 65, modifiers=2)
    await page.type(command)
    await page.until(edited(command.split()[0]))
    await page.press("Enter", 13, modifiers=2)


def edited(word: str) -> str:
    return f"document.querySelector('.monaco-editor').innerText.includes({json.dumps(word)})"


async def colours(page: Page) -> set[str]:
    """How the nodes of the newest graph are filled, once it is drawn."""
    drawn = "[...document.querySelectorAll('[data-testid=\"frame\"]:first-child svg circle.b-outline')]"
    await page.until(f"{drawn}.length > 0")
    return set(await page.evaluate(f"{drawn}.map((circle) => circle.getAttribute('fill').toUpperCase())"))


async def opened_folder(page: Page) -> list[str]:
    """The names in the folder of saved queries that is ours."""
    await page.evaluate(f"{element('navigationFavorites')}.click()")
    await page.until(is_there("expandFolder-remembrancer"))
    await page.evaluate(f"{element('expandFolder-remembrancer')}.click()")
    titles = "[...document.querySelectorAll('[data-testid^=scriptTitle-]')].map((title) => title.innerText.trim())"
    return list(await page.until(f"({titles}).length > 0 && {titles}"))


async def saved(page: Page, kind: str) -> list[Any]:
    """The user's documents or folders, without those that Browser puts among them itself."""
    return [entry for entry in await page.stored(f"neo4j.{kind}") or [] if not entry.get("isStatic")]


async def store(page: Page, **values: Any) -> None:
    for key, value in values.items():
        await page.evaluate(f"localStorage.setItem('neo4j.{key}', {json.dumps(json.dumps(value))})")


async def test_one_address_opens_browser_with_style_saved_queries_and_guide(page: Page, server: LocalServer) -> None:
    await page.goto(server.browser_url)
    await log_in(page, server)
    await page.until("document.body.innerText.includes('This memory as a graph')")
    style = await page.stored("neo4j.grass")
    assert style["node.Theme"]["color"] == "#7B4B94"
    assert style["relationship.RELATES_TO"]["caption"] == "{relation_type}"
    assert [entry["name"] for entry in await saved(page, "documents")] == NAMES
    assert await saved(page, "folders") == [{"id": "remembrancer", "name": "remembrancer"}]

    assert await opened_folder(page) == NAMES
    await run(page, "MATCH path = ()-[]->() RETURN path")
    assert await colours(page) == {"#7B4B94", "#F4B23E", "#3E7CB1"}

    # What Browser made of the style is still what we put there, so opening it again asks nothing.
    await page.goto(server.browser_url)
    await page.until("location.search.includes('cmd=guide')")
    assert len(await saved(page, "documents")) == len(NAMES), "nothing is there twice"


@pytest.mark.parametrize("answer", ["keep", "replace"])
async def test_what_is_the_users_own_stays_unless_they_agree(page: Page, server: LocalServer, answer: str) -> None:
    await page.goto(f"{server.browser_url}style.grass")  # of the same origin, and runs nothing
    await page.until("location.href.endsWith('style.grass')")
    stale = {"id": "remembrancer-99", "name": "of an earlier version", "content": "RETURN 99", "folder": "remembrancer"}
    await store(
        page,
        grass={"node": OWN_STYLE, "node.Mine": OWN_STYLE, "node.Fact": OWN_STYLE},
        documents=[OWN_QUERY, stale, OWN_QUERY_THERE],
        folders=[OWN_FOLDER],
    )

    await page.goto(server.browser_url)
    await page.until("!document.getElementById('question').hidden")
    assert await page.evaluate("document.getElementById('selectors').textContent") == "Fact"
    assert (await page.stored("neo4j.grass"))["node.Fact"] == OWN_STYLE, "nothing is replaced before they have answered"
    await page.evaluate(f"document.getElementById('{answer}').click()")
    await page.until("location.search.includes('cmd=guide')")

    style = await page.stored("neo4j.grass")
    assert (style["node"], style["node.Mine"]) == (OWN_STYLE, OWN_STYLE)
    assert (style["node.Fact"] == OWN_STYLE) == (answer == "keep")
    assert style["node.Theme"]["color"] == "#7B4B94", "what they have not changed is ours either way"
    documents = await saved(page, "documents")
    assert documents[:2] == [OWN_QUERY, OWN_QUERY_THERE]
    assert [entry["name"] for entry in documents[2:]] == NAMES
    assert await saved(page, "folders") == [OWN_FOLDER, {"id": "remembrancer", "name": "remembrancer"}]

    await page.goto(server.browser_url)
    await page.until("location.search.includes('cmd=guide')")  # they have answered once
    assert (await page.stored("neo4j.grass"))["node.Fact"] == style["node.Fact"]


async def test_the_browser_of_another_server_takes_the_kit_that_is_served(page: Page, server: LocalServer) -> None:
    with serve_kit(server.bolt_uri, username=server.username) as kit:
        await open_bare(page, server, kit)
        await page.until("document.body.innerText.includes('Style and saved queries')")
        assert "node.Fact" not in (await page.stored("neo4j.grass") or {})

        await page.until(f"document.querySelector('pre.runnable').click() || {edited(':style')}")  # once both are there
        await page.evaluate(f"{element('editor-Run')}.click()")
        await page.until("'node.Fact' in JSON.parse(localStorage.getItem('neo4j.grass'))")
        assert (await page.stored("neo4j.grass"))["node.Fact"]["caption"] == "{content}"
        await run(page, "MATCH path = ()-[]->() RETURN path")
        assert await colours(page) == {"#7B4B94", "#F4B23E", "#3E7CB1"}


async def test_the_files_that_are_served_can_be_dropped_onto_browser(page: Page, server: LocalServer) -> None:
    """As where Browser may not fetch them itself."""
    with serve_kit(server.bolt_uri, username=server.username) as kit:
        await open_bare(page, server, kit)
        await drop(page, f"{kit.address}/style.grass")
        await page.until("'node.Fact' in JSON.parse(localStorage.getItem('neo4j.grass'))")

        await drop(page, kit.queries_url)
        dropped = "JSON.parse(localStorage.getItem('neo4j.documents')).filter((entry) => !entry.isStatic).length"
        await page.until(f"{dropped} === {len(NAMES)}")
        await page.evaluate(f"{element('navigationFavorites')}.click()")
        for name in NAMES:
            await page.until(f"document.body.innerText.includes({json.dumps(name)})")
        assert await saved(page, "folders") == []


async def open_bare(page: Page, server: LocalServer, kit: ServedKit) -> None:
    """Open the Browser of this server without its own kit, as the kit that is served opens that of any other."""
    await page.goto(f"{server.http_uri}/browser/?{kit.browser_url.partition('?')[2]}")
    await log_in(page, server)


async def drop(page: Page, address: str) -> None:
    """Drop a file onto the page."""
    name = address.rpartition("/")[2]
    await page.evaluate(f"""(async () => {{
      const answer = await fetch({json.dumps(address)});
      const carried = new DataTransfer();
      carried.items.add(new File([await answer.blob()], {json.dumps(name)}));
      document.querySelector(".filedrop").dispatchEvent(
        new DragEvent("drop", {{ dataTransfer: carried, bubbles: true, cancelable: true }}));
    }})()""")
