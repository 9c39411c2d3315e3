"""A linear map that brings Russian and Korean questions nearer to the memories that answer them.

A memory seldom uses the words of the question that is asked about it, and the models of the
embedder know too little of what people mean in other words. The map M = I + left · right was fitted
to questions and memories of several authors (`python -m bench.question_map`); it is applied to the
vector of the question alone, so that no stored vector changes.
"""

from functools import cache
from pathlib import Path

import numpy as np

from retrieval.embedders import BGE_DIMS, LocalEmbedder, Vectors, unit_rows

PATH = Path(__file__).with_name("question_map.npz")


def map_question(embedder: str, vector: Vectors) -> Vectors:
    """Return the vector (dims,) to search memories with, of length 1. Vectors of other embedders,
    and those of questions in Latin script, stay as they are."""
    vector = np.asarray(vector, dtype=np.float32)
    if embedder != LocalEmbedder.name or vector[:BGE_DIMS].any():
        return vector
    left, right = load_map()
    other_parts = vector[BGE_DIMS:]
    mapped = other_parts + (other_parts @ left) @ right
    row: Vectors = unit_rows(np.concatenate([vector[:BGE_DIMS], mapped])[None])[0]
    return row


@cache
def load_map() -> tuple[Vectors, Vectors]:
    """Return `left` (parts, rank) and `right` (rank, parts); the parts are those of USE and e5."""
    with np.load(PATH) as factors:
        return factors["left"].astype(np.float32), factors["right"].astype(np.float32)
