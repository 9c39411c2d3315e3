"""Sentence vectors of a transformer encoder in an ONNX file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from retrieval.embedders.base import Vectors, unit_rows

Ids = NDArray[np.int64]
Pooling = Literal["mean", "cls"]


def open_session(path: Path) -> Any:
    """Load an ONNX model for this machine's processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.EMBEDDER_THREADS
    # Spinning threads would take the cores from the web server between two calls.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def open_tokenizer(path: Path) -> Any:
    """Load a tokenizer that neither cuts nor pads: the encoder cuts long texts into windows."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class HiddenStates(Protocol):
    """The transformer itself: the ids of one text, (tokens,), to its states, (tokens, dims)."""

    def __call__(self, ids: Ids) -> NDArray[np.float32]: ...


class OnnxTransformer:
    """A model whose inputs are token ids, as sentence-transformers exports it."""

    def __init__(self, path: Path) -> None:
        self._session = open_session(path)
        self._inputs = {node.name for node in self._session.get_inputs()}

    @property
    def dims(self) -> int:
        return int(self._session.get_outputs()[0].shape[-1])

    def __call__(self, ids: Ids) -> NDArray[np.float32]:
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        used = {name: array[None] for name, array in feed.items() if name in self._inputs}
        hidden: NDArray[np.float32] = self._session.run(None, used)[0][0]
        return hidden


@dataclass(frozen=True)
class Windows:
    """How a long text is cut: the vector of the text is the mean of its windows' vectors, weighted
    by their length. Sizes are tokens, without the special ones."""

    size: int = 254
    overlap: int = 32
    most: int = 16

    def split(self, ids: Sequence[int]) -> list[Sequence[int]]:
        stride = self.size - self.overlap
        starts = range(0, max(len(ids) - self.overlap, 1), stride)
        return [ids[start : start + self.size] for start in starts[: self.most]]


class SentenceEncoder:
    """Rows of length 1 for texts. `hidden_states` runs the model, `tokenizer` makes its ids."""

    def __init__(
        self, hidden_states: HiddenStates, tokenizer: Any, *, dims: int, pooling: Pooling = "mean"
    ) -> None:
        self.dims = dims
        self._hidden_states = hidden_states
        self._tokenizer = tokenizer
        self._pooling = pooling
        # The ids of [CLS] and [SEP], <s> and </s>, whichever the model has.
        begin, *_, end = tokenizer.encode("x").ids
        self._begin, self._end = begin, end

    def tokens(self, text: str) -> list[int]:
        """Return the ids of `text` without special tokens."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def embed(self, texts: Sequence[str], windows: Windows, *, prefix: str = "") -> Vectors:
        """Return shape (texts, dims). `prefix` begins each window, as in the model's training."""
        return self.embed_tokens([self.tokens(text) for text in texts], windows, prefix=prefix)

    def embed_tokens(
        self, token_ids: Sequence[Sequence[int]], windows: Windows, *, prefix: str = ""
    ) -> Vectors:
        head = [self._begin, *(self.tokens(prefix) if prefix else ())]
        rows = np.zeros((len(token_ids), self.dims), dtype=np.float32)
        for row, ids in zip(rows, token_ids, strict=True):
            for piece in windows.split(ids):
                # One at a time: an int8 model scales its activations by all texts of a batch, so a
                # text's vector would depend on its company, and batches are not faster.
                row += self._pool([*head, *piece, self._end]) * (len(piece) + 1)
        return unit_rows(rows)

    def _pool(self, ids: list[int]) -> Vectors:
        states = self._hidden_states(np.array(ids, dtype=np.int64))
        pooled = states[0] if self._pooling == "cls" else states.mean(axis=0)
        row: Vectors = unit_rows(pooled[None])[0]
        return row
