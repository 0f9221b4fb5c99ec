"""What the tests of remote models share: a server that answers as scripted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.model_server import ModelServer, Reply, model_server, said


@dataclass(frozen=True)
class Kit:
    """What the tests of remote models share."""

    Reply: type[Reply] = Reply
    said: Callable[..., dict[str, Any]] = said


@pytest.fixture(scope="session")
def scripted() -> Kit:
    return Kit()


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as serving:
        yield serving


@pytest.fixture(autouse=True)
def _brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are short where no server asks for longer ones."""
    from remembrancer.providers.openai import endpoint

    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(endpoint, "_JITTER", 0.0)
