"""Errors about arguments in the words of whoever typed the command: `--valid-at` for `valid_at`, ID for `record_id`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from remembrancer.records import InvalidInputError, ModelAccessError, RemembranceError


@contextmanager
def named(**names: str) -> Iterator[None]:
    """A block whose errors about these fields name what was typed, or set, in their place."""
    try:
        yield
    except InvalidInputError as error:
        if error.field not in names:
            raise
        raise renamed(error, names[error.field]) from error


def renamed(error: InvalidInputError, name: str, *, problem: str | None = None) -> InvalidInputError:
    """The same error about something of another name."""
    kind = ModelAccessError if isinstance(error, ModelAccessError) else InvalidInputError
    return kind(name, error.problem if problem is None else problem)


def hinted(error: ModelAccessError, address: str) -> InvalidInputError:
    """The same error; one about the model says where else to look: a path that is wrong is answered in the same way."""
    hint = f" (if the model is right, look at {address})" if error.field == "model" else ""
    return renamed(error, error.field, problem=error.problem + hint)


def as_typed(error: RemembranceError, command: Any) -> RemembranceError:
    """The error with the name that its field has among the options and arguments of a command."""
    if not isinstance(error, InvalidInputError):
        return error
    name = _spellings(command).get(error.field)
    return error if name is None else renamed(error, name)


def _spellings(command: Any) -> dict[str, str]:
    """What is typed for each parameter; those of a group of options are among them, and a parameter of its own wins."""
    grouped, own = dict[str, str](), dict[str, str]()
    for name, hint in get_type_hints(command, include_extras=True).items():
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            grouped |= _spellings(hint)
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, OptionInfo):
                long = [word for word in mark.param_decls or () if word.startswith("--")]
                own[name] = long[0].partition("/")[0] if long else f"--{name.replace('_', '-')}"
            elif isinstance(mark, ArgumentInfo):
                own[name] = str(mark.metavar or name.upper())
    return {**grouped, **own}
