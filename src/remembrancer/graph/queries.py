"""Query files: one statement a file under `cypher/`, loaded by name (`cypher/fact/put.cypher` is `fact.put`).

No value is ever pasted into query text. The one thing that Cypher cannot take as a parameter is the name of an index or
property that carries the number of an embedding space, and the length of its vectors: the files are written for space
1 with 384 dimensions, and `load` puts in the numbers it was given, which it takes as integers only.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
_SPACE_NUMBER = re.compile(r"\b((?:\w+_)?embedding)_1\b")
_DIMENSIONS = re.compile(r"\b384\b")
_NAMES: dict[str, str] = {}


@cache
def folder() -> Traversable:
    """The folder with the query files: inside the package when installed, beside the sources in a checkout."""
    installed = resources.files("remembrancer").joinpath("cypher")
    if installed.is_dir():
        return installed
    checkout = Path(__file__).resolve().parents[3] / "cypher"
    if checkout.is_dir():
        return checkout
    raise FileNotFoundError("the query files (cypher/) are neither in the package nor beside its sources")


@cache
def load(name: str, space: int = 1, dimensions: int = 384) -> str:
    """The text of a query.

    Args:
        name: Its path under `cypher/` with dots, without the ending.
        space: Number of the embedding space whose properties and indexes it reads, from 1.
        dimensions: Length of that space's vectors.

    Raises:
        LookupError: No such query.
    """
    if not _NAME.fullmatch(name):
        raise LookupError(f"{name!r} is not the name of a query")
    file = folder().joinpath(*name.split(".")[:-1], name.split(".")[-1] + ".cypher")
    if not file.is_file():
        raise LookupError(f"there is no query named {name!r}")
    text = _SPACE_NUMBER.sub(rf"\g<1>_{int(space)}", file.read_text("utf-8"))
    text = _DIMENSIONS.sub(str(int(dimensions)), text)
    _NAMES[text] = name
    return text


def name_of(text: str) -> str:
    """The name under which a text was loaded, for traces; `statement` for what is in no file."""
    return _NAMES.get(text, "statement")


def statements(text: str) -> list[str]:
    """The statements of a file that holds several, each ended by a semicolon at the end of a line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    return [part.strip() for part in re.split(r";\s*$", "\n".join(lines), flags=re.MULTILINE) if part.strip()]
