from __future__ import annotations

from remembrancer.testing.tier_contract import *  # noqa: F403
