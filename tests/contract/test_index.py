from __future__ import annotations

from remembrancer.testing.index_contract import *  # noqa: F403
