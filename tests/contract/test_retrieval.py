from __future__ import annotations

from remembrancer.testing.retrieval_contract import *  # noqa: F403
