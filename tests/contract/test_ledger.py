from __future__ import annotations

from remembrancer.testing.ledger_contract import *  # noqa: F403
