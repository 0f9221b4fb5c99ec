"""Recall: questions in the user's words, answered with the best evidence per token."""

from remembrancer.ports.weights import RecallWeights
from remembrancer.retrieval.recall.answer import LeftOut, Recall, RecallHit
from remembrancer.retrieval.recall.ranking import rank
from remembrancer.retrieval.recall.recalling import DEFAULT_WEIGHTS, WORD_WEIGHTS, recall
from remembrancer.retrieval.recall.tokens import TokenCounter, estimate_tokens

__all__ = [
    "DEFAULT_WEIGHTS",
    "WORD_WEIGHTS",
    "LeftOut",
    "Recall",
    "RecallHit",
    "RecallWeights",
    "TokenCounter",
    "estimate_tokens",
    "rank",
    "recall",
]
