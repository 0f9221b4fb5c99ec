"""The contract of plans: what every store must do with them, with the trail that they leave, and with taking them back.

Define the fixture `open_store` as for `store_contract` and import everything from here into a test module.
"""

from remembrancer.testing.contract.past import TestEvidence, TestHistory
from remembrancer.testing.contract.plans import TestPlans
from remembrancer.testing.contract.undoing import TestRestore, TestUndo

__all__ = ["TestEvidence", "TestHistory", "TestPlans", "TestRestore", "TestUndo"]
