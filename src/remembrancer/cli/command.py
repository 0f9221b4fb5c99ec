"""Coroutines as commands: options that several commands share, errors as one line, the answer's exit code.

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
from typer.models import ArgumentInfo, OptionInfo

from remembrancer.cli.exit_code import ExitCode, exit_code_of
from remembrancer.cli.output import Output
from remembrancer.records import InvalidInputError, RemembranceError

Coroutine = Callable[..., Awaitable[ExitCode | None]]


def as_command(coroutine: Coroutine) -> Callable[..., None]:
    """The function that typer runs for a coroutine; one of its parameters is `output: Output`."""
    hints = get_type_hints(coroutine, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    }

    def command(**values: Any) -> None:
        gathered = {
            name: kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
            for name, kind in groups.items()
        }
        output: Output = gathered["output"]
        with output.logging():
            raise typer.Exit(_run(coroutine, {**values, **gathered}, output))

    parameters = list(_parameters(coroutine, hints, groups))
    command.__name__ = coroutine.__name__
    # A paragraph is one line to typer, which breaks it where the terminal ends.
    paragraphs = (inspect.getdoc(coroutine) or "").split("\n\n")
    command.__doc__ = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature reads
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _run(coroutine: Coroutine, arguments: dict[str, Any], output: Output) -> ExitCode:
    async def run() -> ExitCode:
        return await coroutine(**arguments) or ExitCode.FINE

    try:
        return asyncio.run(run())
    except RemembranceError as error:
        if output.debug:
            raise
        output.error(_as_typed(error, coroutine))
        return exit_code_of(error)


def _as_typed(error: RemembranceError, coroutine: Coroutine) -> RemembranceError:
    """An error about an argument names it as it is typed: `--valid-at` for `valid_at`, ID for `record_id`."""
    if not isinstance(error, InvalidInputError):
        return error
    name = _spellings(coroutine).get(error.field)
    return error if name is None else InvalidInputError(name, error.problem)


def _spellings(coroutine: Coroutine) -> dict[str, str]:
    spelled = {}
    for name, hint in get_type_hints(coroutine, include_extras=True).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, OptionInfo):
                long = [word for word in mark.param_decls or () if word.startswith("--")]
                spelled[name] = long[0].partition("/")[0] if long else f"--{name.replace('_', '-')}"
            elif isinstance(mark, ArgumentInfo):
                spelled[name] = str(mark.metavar or name.upper())
    return spelled


def _parameters(
    coroutine: Coroutine, hints: dict[str, Any], groups: dict[str, type[Any]]
) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(coroutine).parameters.items():
        if name not in groups:
            yield parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        for field in dataclasses.fields(groups[name]):
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name]
            )
