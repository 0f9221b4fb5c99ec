"""Four small memories beside the conversations: what is at hand, what is so, what happened, how things are done.

`TieredMemory` keeps them, `TurnMemory` puts them around the turns of an agent. Nothing here reads messages or facts.
"""

from remembrancer.tiers.memory import MAX_HITS, TieredMemory, item_id
from remembrancer.tiers.option import EpisodicTier, ProceduralTier, WorkingTier
from remembrancer.tiers.scoring import episodic_score, procedural_score, working_score
from remembrancer.tiers.turn import OpenTurn, TurnMemory, outcome_text
from remembrancer.tiers.working import WorkingShelf

__all__ = [
    "MAX_HITS",
    "EpisodicTier",
    "OpenTurn",
    "ProceduralTier",
    "TieredMemory",
    "TurnMemory",
    "WorkingShelf",
    "WorkingTier",
    "episodic_score",
    "item_id",
    "outcome_text",
    "procedural_score",
    "working_score",
]
