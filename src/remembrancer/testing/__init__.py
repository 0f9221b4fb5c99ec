"""What tests of agents and of stores need: samples, a fixed clock, and the contract suites.

A contract suite is a module of pytest classes. To examine a store of your own, import the suites into a test module,
define a fixture `open_store` that yields an `OpenStore`, and let pytest rewrite the suites' asserts:

    pytest.register_assert_rewrite("remembrancer.testing")   # in conftest.py

    from remembrancer.testing.index_contract import *
    from remembrancer.testing.ledger_contract import *
    from remembrancer.testing.retrieval_contract import *
    from remembrancer.testing.store_contract import *
    from remembrancer.testing.tier_contract import *

The tests are coroutines; pytest-asyncio runs them with `asyncio_mode = "auto"`. Needs `remembrancer[testing]`.
"""

from remembrancer.testing.clock import FixedClock
from remembrancer.testing.opening import IndexedStore, OpenStore

__all__ = ["FixedClock", "IndexedStore", "OpenStore"]
