"""The parts of a vector of the local embedder: those of its three models, in this order."""

import numpy as np

from retrieval.embedders.base import Vectors
from retrieval.embedders.universal_sentence import DIMS as USE_DIMS

BGE_DIMS = E5_DIMS = 384
ENDS = (BGE_DIMS, BGE_DIMS + USE_DIMS)


def unit_parts(vector: Vectors) -> tuple[Vectors, ...]:
    """Return the parts of a vector (dims,), each of length 1, or zeros where it has none (bge, of a
    text in another script)."""
    parts = np.split(vector, ENDS)
    return tuple(part / (float(np.linalg.norm(part)) or 1.0) for part in parts)
