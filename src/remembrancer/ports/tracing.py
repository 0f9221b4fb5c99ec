"""Spans of OpenTelemetry for operations and statements, where the package `opentelemetry-api` is installed.

Without it nothing is recorded and nothing is loaded. A span carries names, ids and counts; what the memories say, and
what they are asked, only after `record_content(True)` or with `REMEMBRANCER_TRACE_CONTENT=true`. An error is told by
its class: its message may quote a memory.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

P = ParamSpec("P")
R = TypeVar("R")

_TRUE = frozenset({"1", "true", "yes", "on"})
_asked_for_content: bool | None = None


class OpenSpan(Protocol):
    """A span that has not ended."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Note a name, an id or a count."""
        ...


class _NoSpan:
    def set_attribute(self, key: str, value: Any) -> None:
        """Nothing is noted."""


_NOTHING: AbstractContextManager[OpenSpan] = nullcontext(_NoSpan())


def record_content(wanted: bool | None) -> None:
    """Say whether spans carry what operations were called with, texts included; `None`: as the environment says."""
    global _asked_for_content
    _asked_for_content = wanted


def records_content() -> bool:
    """Whether spans carry what operations were called with."""
    if _asked_for_content is not None:
        return _asked_for_content
    return os.environ.get("REMEMBRANCER_TRACE_CONTENT", "").strip().lower() in _TRUE


def span(
    name: str, *, kind: Literal["internal", "client"] = "internal", attributes: Mapping[str, Any] | None = None
) -> AbstractContextManager[OpenSpan]:
    """A block that is one span; its errors pass through.

    Args:
        name: What is done.
        kind: `client` for a call to the database.
        attributes: Names, ids and counts that are known before it begins.
    """
    tracer = _tracer()
    return _NOTHING if tracer is None else _recorded(tracer, name, kind, attributes)


@functools.cache
def _tracer() -> Tracer | None:
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    from remembrancer._version import __version__

    # Bound to whatever provider the program sets, also when that is later.
    return trace.get_tracer("remembrancer", __version__)


@contextmanager
def _recorded(tracer: Tracer, name: str, kind: str, attributes: Mapping[str, Any] | None) -> Iterator[OpenSpan]:
    from opentelemetry.trace import SpanKind, Status, StatusCode

    with tracer.start_as_current_span(
        name,
        kind=SpanKind.CLIENT if kind == "client" else SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as opened:
        try:
            yield opened
        except BaseException as error:
            opened.set_attribute("error.type", type(error).__qualname__)
            opened.set_status(Status(StatusCode.ERROR, str(error) if records_content() else None))
            raise


class Traced:
    """Base of a facade whose public coroutines are spans: `recall` of any subclass is `remembrancer.recall`.

    Each carries the facade's `namespace` and, where the answer has one, its length.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Put a span around each public coroutine that the class itself defines."""
        super().__init_subclass__(**kwargs)
        for name, member in list(vars(cls).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(member):
                setattr(cls, name, _in_span(name, member))


def _in_span(name: str, function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def traced(*args: P.args, **kwargs: P.kwargs) -> R:
        if _tracer() is None:
            return await function(*args, **kwargs)
        attributes: dict[str, Any] = {"remembrancer.namespace": getattr(args[0], "namespace", "")}
        if records_content():
            given = signature.bind(*args, **kwargs).arguments
            attributes |= {f"remembrancer.argument.{key}": repr(value) for key, value in list(given.items())[1:]}
        with span(f"remembrancer.{name}", attributes=attributes) as opened:
            answer = await function(*args, **kwargs)
            if isinstance(answer, Sized) and not isinstance(answer, str | bytes):
                opened.set_attribute("remembrancer.results", len(answer))
            return answer

    return traced
