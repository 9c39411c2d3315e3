"""Gradient-boosted trees as plain numbers: what scikit-learn fitted, read with numpy alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ARRAYS = ("sign", "threshold", "left", "right", "value")


@dataclass(frozen=True)
class BoostedTrees:
    """Arrays of shape (trees, nodes). A node sends a row to `left` if its sign is at most
    `threshold`; a leaf sends it to itself. `value` of the last node is added to `base`."""

    base: float
    depth: int
    sign: NDArray[np.int64]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "BoostedTrees":
        arrays = {name: np.asarray(data[name]) for name in ARRAYS}
        return cls(data["base"], data["depth"], **arrays)

    def probabilities(self, rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """Return one probability, 0 to 1, for each row of signs."""
        signs = np.asarray(rows, dtype=np.float64)
        trees = np.arange(len(self.value))
        nodes = np.zeros((len(signs), len(trees)), dtype=np.int64)
        for _ in range(self.depth):
            of_node = np.take_along_axis(signs, self.sign[trees, nodes], axis=1)
            goes_left = of_node <= self.threshold[trees, nodes]
            nodes = np.where(goes_left, self.left[trees, nodes], self.right[trees, nodes])
        sums = self.base + self.value[trees, nodes].sum(axis=1)
        result: NDArray[np.float64] = 1 / (1 + np.exp(-sums))
        return result
