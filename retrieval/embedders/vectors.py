"""Checks and arithmetic on rows of vectors that do not depend on who made them."""

import numpy as np
from numpy.typing import NDArray

from retrieval.embedders.base import Vectors
from retrieval.errors import EmbedderDown


def unit_rows(rows: NDArray[np.floating]) -> Vectors:
    """Scale each row to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def check_rows(rows: object, *, count: int, dims: int, name: str) -> Vectors:
    """Return what a provider sent as unit rows, or say what is wrong with it: it must never reach
    the index."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedderDown(
            f"{name} answered with something that is not rows of numbers."
        ) from error
    if vectors.shape != (count, dims):
        raise EmbedderDown(f"{name} answered with shape {vectors.shape}, expected {(count, dims)}.")
    if not np.isfinite(vectors).all():
        raise EmbedderDown(f"{name} answered with NaN or infinite numbers.")
    if count and (np.linalg.norm(vectors, axis=1) < 1e-6).any():
        raise EmbedderDown(f"{name} answered with a zero vector.")
    return unit_rows(vectors)
