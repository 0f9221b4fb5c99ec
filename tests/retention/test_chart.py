"""Charts of operating characteristics."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from remembrancer.records import InvalidInputError
from remembrancer.retention import OperatingCharacteristics
from remembrancer.retention.chart import MissingChartsError, draw_detection_rates


def row(effect: float, runs: int, *, noise_sd: float = 0.1) -> OperatingCharacteristics:
    return OperatingCharacteristics(
        effect=effect,
        runs=runs,
        noise_sd=noise_sd,
        replicates=10,
        promote_rate=0.4,
        evict_rate=0.3,
        harmful_evict_rate=0.2,
        no_lift_rate=0.1,
        held_rate=0.3,
        false_promote_rate=0.4 if effect <= 0 else 0.0,
        false_evict_rate=0.2 if effect >= 0 else 0.0,
        mean_decision_run=9.5,
    )


ROWS = [row(effect, runs, noise_sd=noise) for noise in (0.1, 0.3) for effect in (-0.2, 0.0, 0.1) for runs in (20, 40)]


def test_the_effect_that_is_found_is_a_promotion_an_eviction_or_an_error() -> None:
    assert [row(effect, 20).detection_rate for effect in (0.1, -0.1, 0.0)] == [0.4, 0.2, pytest.approx(0.6)]


def test_a_chart_has_a_panel_a_noise_and_a_line_an_effect(tmp_path: Path) -> None:
    draw_detection_rates(ROWS, tmp_path / "chart.svg", title="doubling")
    drawn = (tmp_path / "chart.svg").read_text("utf-8")
    for text in ("noise sd 0.1", "noise sd 0.3", "+0.1", "-0.2", "0 (decided falsely)", "doubling"):
        assert f">{text}</text>" in drawn.replace("−", "-")


def test_the_same_rows_give_the_same_file(tmp_path: Path) -> None:
    for name in ("first.svg", "second.svg"):
        draw_detection_rates(ROWS, tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_a_chart_may_be_a_bitmap(tmp_path: Path) -> None:
    draw_detection_rates(ROWS[:2], str(tmp_path / "chart.png"))
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", ["chart.pdf", "chart", "no-such-folder/chart.svg", 3])
def test_where_no_chart_can_go_is_refused(path: object) -> None:
    with pytest.raises(InvalidInputError) as raised:
        draw_detection_rates(ROWS, path)  # type: ignore[arg-type]
    assert raised.value.field == "path"


def test_nothing_to_draw_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as raised:
        draw_detection_rates([], tmp_path / "chart.svg")
    assert raised.value.field == "rows"


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingChartsError, match=r"remembrancer\[charts\]"):
        draw_detection_rates(ROWS, tmp_path / "chart.svg")
