"""The weights of multilingual-e5-small with what a training changed in them.

Most of a change is one of low rank to each matrix of the upper layers (LoRA, Hu et al. 2021): it is
stored as two thin matrices, some 2 MB in all, and added to the weights of the package when the
model is converted, so it costs nothing at a reading.
"""

import hashlib
from functools import cached_property
from pathlib import Path

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from retrieval.embedders.e5 import E5Transformer, Floats, WeightFile, e5_files, load_transformer


class Adapter:
    """`matrix_change` of a matrix is of its own shape, `vector_change` of a bias or of a norm; both
    are zero where nothing was changed. `array` returns what else was trained, as a head."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _arrays(self) -> dict[str, NDArray[np.float32]]:
        with np.load(self._path) as file:
            return {name: file[name].astype(np.float32) for name in file.files}

    def array(self, name: str) -> Floats:
        return self._arrays[name]

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


def load_adapted_transformer(name: str, adapter_file: Path, adapter: Adapter) -> E5Transformer:
    """Load the model with the changes of `adapter`; convert it first if this has not been done."""
    weight_path, _tokenizer_path = e5_files()
    return load_transformer(
        AdaptedWeightFile(weight_path, adapter), encoder_path(name, adapter_file)
    )


def encoder_path(name: str, adapter_file: Path) -> Path:
    """Return where the converted model lies. Its name changes with the adapter, so that an upgrade
    never runs an old one."""
    digest = hashlib.sha256(adapter_file.read_bytes()).hexdigest()[:12]
    return Path(settings.MODEL_CACHE, f"{name}-{digest}-int8.onnx")


def has_adapted_models() -> bool:
    """Whether the package with the weights is installed."""
    try:
        e5_files()
    except FileNotFoundError:
        return False
    return True
