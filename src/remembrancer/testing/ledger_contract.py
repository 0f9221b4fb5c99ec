"""The contract of every store with an outcome ledger; see `remembrancer.testing` for how to run it over your own."""

from remembrancer.testing.contract.runs import TestFactsOfRuns, TestRecording, TestStatistics
from remembrancer.testing.contract.verdicts import TestDecisions, TestVerdicts

__all__ = ["TestDecisions", "TestFactsOfRuns", "TestRecording", "TestStatistics", "TestVerdicts"]
