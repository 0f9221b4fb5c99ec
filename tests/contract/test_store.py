from __future__ import annotations

from remembrancer.testing.store_contract import *  # noqa: F403
