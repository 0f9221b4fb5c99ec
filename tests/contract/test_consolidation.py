from __future__ import annotations

from remembrancer.testing.consolidation_contract import *  # noqa: F403
