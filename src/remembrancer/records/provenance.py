"""Where a record came from; on every record but a message, which may have it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from remembrancer.records.base import Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Key

ProvenanceSource = Literal["agent", "tool", "human", "system", "derived"]


class Provenance(Record):
    """Who or what made a record, in which run, and how sure it was.

    Attributes:
        source: `agent`, `tool`, `human`, `system`, or `derived` (made from other records).
        agent_id: The agent.
        tool_name: The tool.
        run_id: The run of the agent.
        node_id: The node of the agent's graph.
        confidence: 0 to 1.
        created_at: When the record was made.
    """

    source: ProvenanceSource
    agent_id: Key | None = None
    tool_name: Key | None = None
    run_id: Key | None = None
    node_id: Key | None = None
    confidence: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    created_at: Instant
