"""The contract of every store; see `remembrancer.testing` for how to run it over your own."""

from remembrancer.testing.contract.listings import TestListings, TestLookups, TestUsage
from remembrancer.testing.contract.references import TestDeletion, TestOwnership, TestPlaceholders, TestReceipts
from remembrancer.testing.contract.statements import (
    TestBadStatements,
    TestExpectedStatements,
    TestStatedRelationships,
    TestStatements,
)
from remembrancer.testing.contract.upserts import TestTimesOfRecording, TestUpserts
from remembrancer.testing.contract.walls import TestBadInput, TestInstants, TestNamespaces, TestTexts
from remembrancer.testing.contract.writes import (
    TestAssertions,
    TestClaims,
    TestExpectedMessages,
    TestExpectedRecords,
    TestIdempotencyKeys,
    TestThemeAdditions,
    TestVectors,
)

__all__ = [
    "TestAssertions",
    "TestBadInput",
    "TestBadStatements",
    "TestClaims",
    "TestDeletion",
    "TestExpectedMessages",
    "TestExpectedRecords",
    "TestExpectedStatements",
    "TestIdempotencyKeys",
    "TestInstants",
    "TestListings",
    "TestLookups",
    "TestNamespaces",
    "TestOwnership",
    "TestPlaceholders",
    "TestReceipts",
    "TestStatedRelationships",
    "TestStatements",
    "TestTexts",
    "TestThemeAdditions",
    "TestTimesOfRecording",
    "TestUpserts",
    "TestUsage",
    "TestVectors",
]
