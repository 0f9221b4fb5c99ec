"""Wrong usage, which is found before a command has begun: with `--json` it is a document too."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperGroup

from remembrancer.cli.early import error_of, wants_json
from remembrancer.cli.output import Output

# What typer raises for each kind of wrong usage is one of these; it has a name for one of them alone.
_USAGE_ERROR: Final[Any] = typer.BadParameter.__mro__[1]
_WANTS_JSON: Final = "remembrancer.wants_json"


class AllCommands(TyperGroup):
    """The command line as a whole. What is wrong with it is told on stderr by typer, as ever."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options in front of the command's name."""
        is_json = wants_json(args)  # they are taken out of the list as they are read
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except _USAGE_ERROR as error:
            _tell(error, is_json=is_json)
            raise
        context.meta[_WANTS_JSON] = is_json
        return context

    def invoke(self, ctx: Any) -> Any:
        """Find the command, read what is behind its name, and run it."""
        try:
            return super().invoke(ctx)
        except _USAGE_ERROR as error:
            _tell(error, is_json=ctx.meta[_WANTS_JSON])
            raise


def _tell(error: Any, *, is_json: bool) -> None:
    Output(json=is_json).document(error_of("UsageError", str(error.format_message())))
