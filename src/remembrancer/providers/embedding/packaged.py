"""Files and modules of optional packages, found without running those packages.

A model that comes inside a wheel is only data to us. Importing the wheel's package could pull in more than its data
(network clients, a deep-learning framework), so its folder is looked up and its files are read from there.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from remembrancer.records.errors import RemembranceError


class MissingPackageError(RemembranceError, ImportError):
    """An optional package is not installed, or lacks the file that is read from it. `remedy` is the command to run."""

    def __init__(self, wanted: str, *, remedy: str) -> None:
        super().__init__(f"{wanted} was not found; install it with: {remedy}")
        self.wanted = wanted
        self.remedy = remedy


def packaged_file(package: str, *parts: str) -> Path | None:
    """The path of a file in an installed top-level package, or None when the package or the file is absent."""
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return None
    for folder in spec.submodule_search_locations:
        path = Path(folder).joinpath(*parts)
        if path.is_file():
            return path
    return None


def optional_module(name: str, *, remedy: str) -> Any:
    """Import a module of an optional package.

    Raises:
        MissingPackageError: The package is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingPackageError(f"the package {error.name or name!r}", remedy=remedy) from error
