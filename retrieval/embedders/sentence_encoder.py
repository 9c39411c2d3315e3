"""Sentence vectors of a transformer encoder in an ONNX file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from retrieval.embedders.base import Vectors, unit_rows

BATCH_TOKENS = 512
"""Larger batches are slower (the cache of the CPU) and need 600 MB more."""
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
    """The transformer itself: ids and mask, both (texts, tokens), to (texts, tokens, dims)."""

    def __call__(self, ids: Ids, mask: Ids) -> NDArray[np.float32]: ...


class OnnxTransformer:
    """A model whose inputs are token ids, as sentence-transformers exports it."""

    def __init__(self, path: Path) -> None:
        self._session = open_session(path)
        self._inputs = {node.name for node in self._session.get_inputs()}

    @property
    def dims(self) -> int:
        return int(self._session.get_outputs()[0].shape[-1])

    def __call__(self, ids: Ids, mask: Ids) -> NDArray[np.float32]:
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        used = {name: array for name, array in feed.items() if name in self._inputs}
        hidden: NDArray[np.float32] = self._session.run(None, used)[0]
        return hidden


@dataclass(frozen=True)
class Windows:
    """How a long text is cut: the vector of the text is the mean of its windows' vectors, weighted
    by their length. Sizes are tokens, without the special ones."""

    size: int = 254
    overlap: int = 32
    most: int = 16

    def cut(self, ids: Sequence[int]) -> list[Sequence[int]]:
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
        """Return shape (texts, dims). `prefix` begins each window: the model was trained with it."""
        return self.embed_tokens([self.tokens(text) for text in texts], windows, prefix=prefix)

    def embed_tokens(
        self, token_ids: Sequence[Sequence[int]], windows: Windows, *, prefix: str = ""
    ) -> Vectors:
        head = [self._begin, *(self.tokens(prefix) if prefix else ())]
        owners: list[int] = []
        pieces: list[list[int]] = []
        for owner, ids in enumerate(token_ids):
            for piece in windows.cut(ids):
                owners.append(owner)
                pieces.append([*head, *piece, self._end])
        sums = np.zeros((len(token_ids), self.dims), dtype=np.float32)
        for batch in batches_by_length(pieces):
            lengths = np.array([len(pieces[i]) for i in batch], dtype=np.float32)[:, None]
            rows = self.pool([pieces[i] for i in batch])
            # Not `sums[owners] += …`, which counts an owner that comes twice only once.
            np.add.at(sums, [owners[i] for i in batch], rows * lengths)
        return unit_rows(sums)

    def pool(self, pieces: Sequence[Sequence[int]]) -> Vectors:
        """Return one row for each piece of at most a window's tokens."""
        longest = max(map(len, pieces))
        ids, mask = np.zeros((2, len(pieces), longest), dtype=np.int64)
        for number, piece in enumerate(pieces):
            ids[number, : len(piece)], mask[number, : len(piece)] = piece, 1
        hidden = self._hidden_states(ids, mask)
        if self._pooling == "cls":
            return unit_rows(hidden[:, 0])
        return unit_rows(np.einsum("bsd,bs->bd", hidden, mask.astype(np.float32)))


def batches_by_length(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group the numbers of pieces of similar length, so that little of a batch is padding."""
    batch: list[int] = []
    for number in sorted(range(len(pieces)), key=lambda i: len(pieces[i])):
        if batch and (len(batch) + 1) * len(pieces[number]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
