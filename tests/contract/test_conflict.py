from __future__ import annotations

from remembrancer.testing.conflict_contract import *  # noqa: F403
