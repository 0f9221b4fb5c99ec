from __future__ import annotations

from remembrancer.testing.plan_contract import *  # noqa: F403
