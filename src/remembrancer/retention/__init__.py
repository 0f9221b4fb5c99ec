"""Only lessons that help stay: the statistics, rules and simulation of the retention gate.

Facts with the tag `candidate` are on trial. Every scored run tells which of them were in it; the gate compares the
scores of runs with a fact with those of runs without it, and promotes, evicts or holds.
"""

from remembrancer.retention.characteristics import (
    MAX_REPLICATES,
    Engine,
    OperatingCharacteristics,
    gate_operating_characteristics,
    pooled,
)
from remembrancer.retention.decision import CandidateScores, Evidence, Verdict, decide
from remembrancer.retention.gate import RetentionReport, evaluate_retention
from remembrancer.retention.lessons import Lessons, retrieve_gated_lessons
from remembrancer.retention.scenario import LessonServing, SimulatedLesson
from remembrancer.retention.simulator import SimulatedOutcome, SimulatedPass, Simulation, simulate_gate
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
    "MAX_REPLICATES",
    "CandidateScores",
    "Engine",
    "Evidence",
    "LessonServing",
    "Lessons",
    "OperatingCharacteristics",
    "RetentionReport",
    "SimulatedLesson",
    "SimulatedOutcome",
    "SimulatedPass",
    "Simulation",
    "Verdict",
    "benjamini_hochberg",
    "decide",
    "evaluate_retention",
    "gate_operating_characteristics",
    "gaussian",
    "mulberry32",
    "normal_quantile",
    "pooled",
    "required_trials",
    "retrieve_gated_lessons",
    "simulate_gate",
    "student_t_cdf",
    "welch_lift",
]
