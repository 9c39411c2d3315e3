"""The weights of multilingual-e5-small with what `bench.statement_pairs` changed in them.

Most of a change is one of low rank to each matrix of the upper layers (LoRA, Hu et al. 2021): it is
stored as two thin matrices, some 2 MB in all, and added to the weights of the package when the
model is converted, so it costs nothing at a reading.
"""

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.embedders.e5 import Floats, WeightFile

ADAPTER_FILE = Path(__file__).parent / "adapter.npz"


class Adapter:
    """`matrix_change` of a matrix is of its own shape, `vector_change` of a bias or of a norm; both
    are zero where nothing was changed. `head`: (768, scores), and `head_bias`: (scores,)."""

    def __init__(self, path: Path = ADAPTER_FILE) -> None:
        self._path = path

    @cached_property
    def _arrays(self) -> dict[str, NDArray[np.float32]]:
        with np.load(self._path) as file:
            return {name: file[name].astype(np.float32) for name in file.files}

    @property
    def head(self) -> Floats:
        return self._arrays["head"]

    @property
    def head_bias(self) -> Floats:
        return self._arrays["head_bias"]

    def matrix_change(self, name: str) -> Floats | float:
        if f"{name}.down" not in self._arrays:
            return 0.0
        change: Floats = (self._arrays[f"{name}.down"] @ self._arrays[f"{name}.up"]).T
        return change

    def vector_change(self, name: str) -> Floats | float:
        return self._arrays.get(name, 0.0)


class AdaptedWeightFile(WeightFile):
    """The weights of the package plus the changes of an adapter."""

    def __init__(self, path: Path, adapter: Adapter) -> None:
        super().__init__(path)
        self._adapter = adapter

    def matrix(self, name: str, columns: int) -> Floats:
        changed: Floats = super().matrix(name, columns) + self._adapter.matrix_change(name)
        return changed

    def floats(self, name: str) -> Floats:
        changed: Floats = super().floats(name) + self._adapter.vector_change(name)
        return changed
