"""One HTTP endpoint: requests that are repeated while that may help, and errors in the library's own words.

The key is in one header and nowhere else: not in errors, logs or representations, also where a server sends it back.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import math
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import Any
from weakref import WeakKeyDictionary

import httpx
import stamina

from remembrancer.records.errors import (
    InvalidInputError,
    ModelAccessError,
    RemembranceError,
    ServerUnavailableError,
)
from remembrancer.records.json_text import read_json
from remembrancer.records.number import is_finite

logger = logging.getLogger(__name__)

Charge = Callable[[], None]
"""Called before each request that is sent; may refuse it."""

_MOST_BYTES = 64 * 2**20
_EXCERPT = 300
_KEY = re.compile(r"[!-~]*")  # what an HTTP header can carry; anything else would surface in the client's error
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|(?:invalid|unknown) model\b|\bmodel\b[^.]{0,100}\b(?:does not exist|not found)", re.IGNORECASE
)
_WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_FIRST_PAUSE, _LONGEST_PAUSE, _JITTER = 0.2, 5.0, 0.3  # seconds


class RequestRefusedError(Exception):
    """The server understood the request and will not serve it as it is."""

    def __init__(self, status: int, told: str) -> None:
        super().__init__(f"refused with status {status}: {told}")
        self.status = status
        self.told = told


class _BusyError(Exception):
    """Worth another try; `error` is what the caller gets when no try is left."""

    def __init__(self, error: ServerUnavailableError, *, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait


class Endpoint:
    """Where a model is reached."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        timeout_s: float,
        tries: int,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Check the address; nothing is opened.

        Raises:
            InvalidInputError: The address, the key or a bound cannot be used; names it, never showing the key.
        """
        self.base_url = _checked_url(base_url)
        if api_key is not None and (not isinstance(api_key, str) or not _KEY.fullmatch(api_key)):
            raise InvalidInputError("api_key", "expected visible ASCII characters without blanks or line breaks")
        self.timeout_s = _positive(timeout_s, field="timeout_s")
        if isinstance(tries, bool) or not isinstance(tries, int) or not 1 <= tries <= 100:
            raise InvalidInputError("tries", f"must be a whole number from 1 to 100, not {tries!r}")
        self._tries = tries
        self._key = api_key or None
        self._transport = transport
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[float]:
        """Bounds everything inside by the time-out; gives the instant, by the loop's clock, at which it ends.

        Raises:
            ServerUnavailableError: The time is over.
        """
        ends = asyncio.get_running_loop().time() + self.timeout_s
        bound = asyncio.timeout_at(ends)
        try:
            async with bound:
                yield ends
        except TimeoutError as error:
            if not bound.expired():
                raise
            problem = f"{self.base_url} gave no whole answer within {self.timeout_s:g} s"
            raise ServerUnavailableError(problem, address=self.base_url) from error

    async def post(self, path: str, body: Mapping[str, Any], *, ends: float, charge: Charge) -> dict[str, Any]:
        """The JSON object that the server answers with.

        Args:
            path: After the base address.
            body: What to send.
            ends: When, by the loop's clock, waiting is no longer worth it.
            charge: Asked before each request.

        Raises:
            ServerUnavailableError: Not reachable, overloaded or broken, after all tries.
            ModelAccessError: The key or the model is not accepted.
            RequestRefusedError: Refused for another reason.
            BudgetExceededError: `charge` allows no further request.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            async for attempt in stamina.retry_context(
                on=_BusyError,
                attempts=self._tries,
                timeout=None,
                wait_initial=_FIRST_PAUSE,
                wait_max=_LONGEST_PAUSE,
                wait_jitter=_JITTER,
            ):
                with attempt:
                    charge()
                    try:
                        return await self._once(path, content)
                    except _BusyError as busy:
                        if attempt.num < self._tries:
                            await self._rest(busy, ends)
                        raise
        except _BusyError as busy:
            raise busy.error from busy.__cause__
        raise AssertionError("at least one try is made")

    async def _rest(self, busy: _BusyError, ends: float) -> None:
        """Wait as long as the server asks for; an exponential pause comes besides.

        Raises:
            ServerUnavailableError: That is longer than the caller waits.
        """
        if busy.wait is None:
            return
        left = ends - asyncio.get_running_loop().time()
        if busy.wait > left:
            problem = f"{busy.error}; it asks to wait {busy.wait:g} s, and {max(left, 0):.1f} s are left"
            raise ServerUnavailableError(problem, address=self.base_url) from busy.__cause__
        await asyncio.sleep(busy.wait)

    async def _once(self, path: str, content: bytes) -> dict[str, Any]:
        try:
            async with self._client().stream("POST", f"{self.base_url}/{path}", content=content) as response:
                raw = await self._body(response)
        except httpx.HTTPError as error:
            kind = type(error).__name__
            problem = f"{self.base_url} could not be reached, or broke off ({kind})"
            raise _BusyError(ServerUnavailableError(problem, address=self.base_url)) from error
        except httpx.InvalidURL as error:
            raise InvalidInputError("base_url", str(error)) from error
        if response.status_code != 200:
            raise self._failure(response, raw)
        try:
            answer = read_json(raw)
        except ValueError as error:
            kind = response.headers.get("content-type", "no content type")
            problem = f"{self.base_url} answered with {len(raw):,} bytes of {kind} that are not JSON"
            raise _BusyError(ServerUnavailableError(problem, address=self.base_url)) from error
        if not isinstance(answer, dict):
            problem = f"{self.base_url} answered with a JSON {type(answer).__name__}, not an object"
            raise _BusyError(ServerUnavailableError(problem, address=self.base_url))
        if "error" in answer and "choices" not in answer and "data" not in answer:
            problem = f"{self.base_url} answered with an error: {self._told(raw)}"
            raise _BusyError(ServerUnavailableError(problem, address=self.base_url))
        return answer

    async def _body(self, response: httpx.Response) -> bytes:
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > _MOST_BYTES:
                problem = f"{self.base_url} answered with more than {_MOST_BYTES:,} bytes"
                raise ServerUnavailableError(problem, address=self.base_url)
            parts.append(part)
        return b"".join(parts)

    def _failure(self, response: httpx.Response, raw: bytes) -> Exception:
        status, told = response.status_code, self._told(raw)
        if status in _WORTH_ANOTHER_TRY:
            unavailable = ServerUnavailableError(
                f"{self.base_url} answered with status {status}: {told}", address=self.base_url
            )
            if "insufficient_quota" in told or b'"insufficient_quota"' in raw:
                return unavailable  # no waiting refills an account
            return _BusyError(unavailable, wait=_wait_asked_for(response.headers.get("retry-after")))
        if status in (401, 403):
            refuses = "does not accept it" if self._key else "wants one, and none is given"
            return ModelAccessError("api_key", f"{self.base_url} {refuses} (status {status}): {told}")
        if status == 404:
            return ModelAccessError("model", f"{self.base_url} knows no such model or path (status 404): {told}")
        if status in (400, 422) and _UNKNOWN_MODEL.search(raw[: 64 * 1024].decode("utf-8", "replace")):
            return ModelAccessError("model", f"{self.base_url} knows no such model (status {status}): {told}")
        if 300 <= status < 400:
            elsewhere = self._redacted(response.headers.get("location", "somewhere"))
            return ModelAccessError("base_url", f"{self.base_url} redirects to {elsewhere}; give that address")
        return RequestRefusedError(status, told)

    def _told(self, raw: bytes) -> str:
        """What the server says went wrong, cut to a sentence or two."""
        text = raw[: 64 * 1024].decode("utf-8", "replace")
        try:
            told = json.loads(text)
            for name in ("error", "message", "detail"):
                told = told.get(name, told) if isinstance(told, dict) else told
            text = told if isinstance(told, str) else json.dumps(told)
        except (ValueError, RecursionError):
            text = re.sub(r"<[^<>]*>", " ", text)
        return self._redacted(" ".join(text.split()))[:_EXCERPT] or "without a reason"

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            headers = {"content-type": "application/json", "accept": "application/json"}
            if self._key:
                headers["authorization"] = f"Bearer {self._key}"
            client = httpx.AsyncClient(
                headers=headers,
                timeout=httpx.Timeout(self.timeout_s, connect=min(self.timeout_s, 10)),
                transport=self._transport,
            )
            self._clients[loop] = client
        return client

    async def aclose(self) -> None:
        """Let go of the connections that this event loop has opened."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


def translated_refusal(error: RequestRefusedError, *, field: str, address: str) -> RemembranceError:
    """The library's error for a request that the server will not serve."""
    return InvalidInputError(field, f"{address} {error}")


def _checked_url(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInputError("base_url", f"expected text, got {type(value).__name__}")
    try:
        url = httpx.URL(value)
    except (httpx.InvalidURL, UnicodeEncodeError) as error:  # half a surrogate pair has no UTF-8
        raise InvalidInputError("base_url", f"not an address: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidInputError("base_url", "expected an address such as http://localhost:11434/v1")
    if url.userinfo or url.query or url.fragment:
        raise InvalidInputError(
            "base_url", "no user, password, query or fragment may be in it; a key is given on its own"
        )
    return str(url).rstrip("/")


def _positive(value: object, *, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (is_finite(value) and value > 0):
        raise InvalidInputError(field, f"expected a positive number, got {value!r}")
    return float(value)


def _wait_asked_for(header: str | None) -> float | None:
    """Seconds that a `Retry-After` header asks to wait: it gives them, or an instant."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        at = at if at.tzinfo is not None else at.replace(tzinfo=dt.UTC)
        seconds = (at - dt.datetime.now(dt.UTC)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
