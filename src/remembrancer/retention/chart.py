"""Operating characteristics as a picture: how many effects of each size are found within so many runs.

Needs matplotlib (`pip install "remembrancer[charts]"`), which is imported when the first chart is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer.records import InvalidInputError
from remembrancer.records.errors import RemembranceError
from remembrancer.records.file import require_path
from remembrancer.retention.characteristics import OperatingCharacteristics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")

_HELPS = ("#9ecae1", "#4292c6", "#084594")
_HARMS = ("#fdae6b", "#e6550d", "#8c2d04")
_NO_EFFECT = "#636363"
_STYLE = {
    "svg.fonttype": "none",  # letters stay letters: small, and the reader's own font
    "svg.hashsalt": "remembrancer",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class MissingChartsError(RemembranceError, ImportError):
    """matplotlib is not installed."""

    def __init__(self) -> None:
        super().__init__('charts need matplotlib; install it with: pip install "remembrancer[charts]"')


def checked_chart_path(path: object) -> Path:
    """A path that a chart can be written to.

    Raises:
        InvalidInputError: Neither `.svg` nor `.png`, or its folder is not there.
    """
    checked = require_path(path, field="path")
    if checked.suffix.lower() not in FORMATS:
        raise InvalidInputError("path", f"expected a name that ends in {' or '.join(FORMATS)}, got {checked.name!r}")
    if not checked.parent.is_dir():
        raise InvalidInputError("path", f"there is no folder {checked.parent}")
    return checked


def draw_detection_rates(
    rows: Sequence[OperatingCharacteristics], path: str | os.PathLike[str], *, title: str = ""
) -> None:
    """Draw the detection rate by number of runs, a line an effect, a panel a noise; the same rows give the same file.

    Args:
        rows: From `gate_operating_characteristics`, at least one.
        path: Where to, `.svg` or `.png`; overwritten.
        title: Above the panels.

    Raises:
        InvalidInputError: No rows, or a path that cannot be written to.
        MissingChartsError: matplotlib is not installed.
    """
    target = checked_chart_path(path)
    if not rows:
        raise InvalidInputError("rows", "there is nothing to draw")
    matplotlib, figures = _matplotlib()
    noises = sorted({row.noise_sd for row in rows})
    with matplotlib.rc_context(_STYLE):
        figure = figures.Figure(figsize=(1.3 + 2.9 * len(noises), 3.4), layout="constrained")
        panels = figure.subplots(1, len(noises), sharey=True, squeeze=False)[0]
        for panel, noise in zip(panels, noises, strict=True):
            _draw_panel(panel, [row for row in rows if row.noise_sd == noise])
            panel.set_title(f"noise sd {noise:g}", fontsize=9)
        panels[0].set_ylabel("effect found, %")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", frameon=False, title="true effect")
        if title:
            figure.suptitle(title, fontsize=10)
        try:
            figure.savefig(target, dpi=150, metadata={"Date": None} if target.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise InvalidInputError("path", f"{target} cannot be written: {error.strerror or error}") from error


def _draw_panel(panel: Axes, rows: Sequence[OperatingCharacteristics]) -> None:
    effects = sorted({row.effect for row in rows}, reverse=True)
    for effect in effects:
        found = sorted((row.runs, row.detection_rate) for row in rows if row.effect == effect)
        panel.plot(
            [runs for runs, _ in found],
            [100 * rate for _, rate in found],
            color=_colour(effect, effects),
            linestyle="--" if effect == 0 else "-",
            marker="o",
            markersize=3,
            linewidth=1.4,
            label="0 (decided falsely)" if effect == 0 else f"{effect:+g}",
        )
    panel.set_ylim(-2, 102)
    panel.set_xlabel("runs")
    panel.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    panel.set_axisbelow(True)


def _colour(effect: float, effects: Sequence[float]) -> str:
    """Blue helps and orange harms, the darker the more."""
    if effect == 0:
        return _NO_EFFECT
    alike = sorted(abs(one) for one in effects if one * effect > 0)
    shades = _HELPS if effect > 0 else _HARMS
    place = alike.index(abs(effect)) / (len(alike) - 1) if len(alike) > 1 else 1.0
    return shades[round(place * (len(shades) - 1))]


def _matplotlib() -> tuple[Any, Any]:
    try:
        return import_module("matplotlib"), import_module("matplotlib.figure")
    except ModuleNotFoundError as error:
        raise MissingChartsError from error
