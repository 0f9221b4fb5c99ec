"""Coroutines as commands: options that several commands share, errors and signals as one line, the exit code.

A command is a coroutine whose parameters typer understands, or whose type is a dataclass of such parameters: those
appear among the command's options, and it gets them gathered in an instance. It returns an exit code, or `None` for
fine.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, get_type_hints

import typer

from remembrancer.cli.exit_code import ExitCode, exit_code_of
from remembrancer.cli.output import Output
from remembrancer.cli.spelling import as_typed
from remembrancer.cli.stopping import Stopping, what_holds
from remembrancer.records import RemembranceError

Coroutine = Callable[..., Awaitable[ExitCode | None]]


def as_command(coroutine: Coroutine) -> Callable[..., None]:
    """The function that typer runs for a coroutine; one of its parameters is `output: Output`."""
    hints = get_type_hints(coroutine, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    }

    def command(**values: Any) -> None:
        gathered = {
            name: kind(**{field.name: values.pop(field.name) for field in _options(kind)})
            for name, kind in groups.items()
        }
        output: Output = gathered["output"]
        with output.logging():
            raise typer.Exit(output.ended(_run(coroutine, {**values, **gathered}, output)))

    parameters = list(_parameters(coroutine, hints, groups))
    command.__name__ = coroutine.__name__
    # A paragraph is one line to typer, which breaks it where the terminal ends.
    paragraphs = (inspect.getdoc(coroutine) or "").split("\n\n")
    command.__doc__ = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature reads
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _run(coroutine: Coroutine, arguments: dict[str, Any], output: Output) -> int:
    async def run() -> int:
        return await coroutine(**arguments) or ExitCode.FINE

    stopping = Stopping()
    try:
        with stopping.watching():
            return asyncio.run(stopping.run(run()))
    except asyncio.CancelledError:
        if stopping.signal is None:
            raise
        output.stopped(stopping.signal, stopping.holds or what_holds(coroutine.__name__))
        return stopping.exit_code
    except RemembranceError as error:
        if output.debug:
            raise
        output.error(as_typed(error, coroutine))
        return exit_code_of(error) if stopping.signal is None else stopping.exit_code


def _parameters(
    coroutine: Coroutine, hints: dict[str, Any], groups: dict[str, type[Any]]
) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(coroutine).parameters.items():
        if name not in groups:
            yield parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        for field in _options(groups[name]):
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name]
            )


def _options(group: type[Any]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(group) if field.init]
