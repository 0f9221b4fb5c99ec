from __future__ import annotations

from remembrancer.testing.resolution_contract import *  # noqa: F403
