"""Only lessons that help stay: the statistics, rules and simulation of the retention gate.

Facts with the tag `candidate` are on trial. Every scored run tells which of them were in it; the gate compares the
scores of runs with a fact with those of runs without it, and promotes, evicts or holds.
"""

from remembrancer.retention.decision import CandidateScores, Evidence, Verdict, decide
from remembrancer.retention.gate import RetentionReport, evaluate_retention
from remembrancer.retention.lessons import Lessons, retrieve_gated_lessons
from remembrancer.retention.statistics import (
    benjamini_hochberg,
    gaussian,
    mulberry32,
    normal_quantile,
    required_trials,
    student_t_cdf,
    welch_lift,
)

__all__ = [
    "CandidateScores",
    "Evidence",
    "Lessons",
    "RetentionReport",
    "Verdict",
    "benjamini_hochberg",
    "decide",
    "evaluate_retention",
    "gaussian",
    "mulberry32",
    "normal_quantile",
    "required_trials",
    "retrieve_gated_lessons",
    "student_t_cdf",
    "welch_lift",
]
