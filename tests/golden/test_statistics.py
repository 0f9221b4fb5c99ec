"""The statistics of the retention gate, by worked examples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from remembrancer.records import InvalidInputError, cosine
from remembrancer.retention.statistics import (
    benjamini_hochberg,
    gaussian,
    log_gamma,
    mulberry32,
    normal_quantile,
    regularized_incomplete_beta,
    required_trials,
    student_t_cdf,
    welch_lift,
)

AREA = "cycgraph/statistics"

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
APPROXIMATE = {"student_t_cdf", "regularized_incomplete_beta", "log_gamma"}
WELCH = {"meanA": "mean_a", "varA": "var_a", "nA": "n_a", "meanB": "mean_b", "varB": "var_b", "nB": "n_b"}


def read(value: Any) -> Any:
    """A value of the file, with the numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {name: read(one) for name, one in value.items()}
    if isinstance(value, list):
        return [read(one) for one in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def welch(given: dict[str, Any]) -> dict[str, Any]:
    found = welch_lift(**{WELCH.get(name, name): value for name, value in given.items()})
    return {"lift": found.lift, "se": found.se, "df": found.df, "pExceeds": found.p_exceeds}


def uniforms(given: dict[str, Any]) -> list[float]:
    draw = mulberry32(given["seed"])
    return [draw() for _ in range(given["count"])]


def gaussians(given: dict[str, Any]) -> list[float]:
    draw = mulberry32(given["seed"])
    return [gaussian(draw) for _ in range(given["count"])]


def gaussian_from(given: dict[str, Any]) -> dict[str, Any]:
    left = list(given["uniforms"])
    value = gaussian(lambda: left.pop(0))
    return {"value": value, "consumed": len(given["uniforms"]) - len(left)}


ANSWERS = {
    "cosine_similarity": lambda given: cosine(given["a"], given["b"]),
    "welch_lift": welch,
    "benjamini_hochberg": lambda given: benjamini_hochberg(given["p_values"], given["q"]),
    "student_t_cdf": lambda given: student_t_cdf(**given),
    "regularized_incomplete_beta": lambda given: regularized_incomplete_beta(**given),
    "log_gamma": lambda given: log_gamma(**given),
    "normal_quantile": lambda given: normal_quantile(**given),
    "required_trials": lambda given: required_trials(**given),
    "mulberry32": uniforms,
    "gaussian": gaussians,
    "gaussian_from_uniforms": gaussian_from,
}


def test_the_answer_is_the_worked_one(case: Any) -> None:
    given = read(case.input)
    if case.error:
        with pytest.raises(InvalidInputError):
            ANSWERS[case.fn](given)
        return
    found, expected = ANSWERS[case.fn](given), read(case.expected)
    if case.fn in {"mulberry32", "benjamini_hochberg", "required_trials"}:
        assert found == expected
        return
    relative = 1e-8 if case.fn in APPROXIMATE else 1e-9
    assert found == pytest.approx(expected, rel=relative, abs=1e-12, nan_ok=True)
