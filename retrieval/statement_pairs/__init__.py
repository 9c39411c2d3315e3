"""What two texts have to do with each other, read together by one small model: whether one follows
from the other, contradicts it or says the same, whether a memory answers a question, and whether a
later text ends what an earlier one says."""

from retrieval.statement_pairs.pair_reader import (
    PairScores,
    has_pair_model,
    prepare_pair_model,
    read_pair,
)

__all__ = ["PairScores", "has_pair_model", "prepare_pair_model", "read_pair"]
