"""Any sentence-transformer in a folder: EMBEDDER=onnx, EMBEDDING_MODEL=/path/of/the/folder.

The folder holds `tokenizer.json` and the model as `model.onnx` or `onnx/model.onnx`, as
sentence-transformers and Optimum export it. `1_Pooling/config.json` says how tokens become one
vector (default: their mean), `config_sentence_transformers.json` names the prompts of queries and
passages.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from retrieval.embedders.base import Vectors, record_embedding
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.local import MAX_CHARACTERS, MAX_QUERY_CHARACTERS
from retrieval.embedders.sentence_encoder import (
    OnnxTransformer,
    Pooling,
    SentenceEncoder,
    Windows,
    open_tokenizer,
)
from retrieval.errors import EmbedderDown
from retrieval.text import encodable

MODEL_FILES = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx")
QUERY_PROMPTS, PASSAGE_PROMPTS = ("query",), ("passage", "document")
SPECIAL_TOKENS = 2


class ModelFolder:
    """Reads the configuration of a folder. Raises EmbedderDown that names what is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, *names: str) -> Path:
        for name in names:
            if (self.path / name).is_file():
                return self.path / name
        raise EmbedderDown(f"{self.path} has no {' or '.join(names)}: is it a model's folder?")

    def read(self, name: str) -> dict[str, Any]:
        """Return a configuration file, empty if there is none."""
        path = self.path / name
        if not path.is_file():
            return {}
        try:
            content = json.loads(path.read_text())
        except ValueError as error:
            raise EmbedderDown(f"{path} is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise EmbedderDown(f"{path} does not hold a JSON object.")
        return content

    @property
    def dims(self) -> int:
        if not self.path.is_dir():
            raise EmbedderDown(
                f"EMBEDDING_MODEL={str(self.path)!r} is no folder: name the folder that holds the "
                "model and its tokenizer.json."
            )
        config = self.read("config.json")
        dims = config.get("hidden_size") or config.get("dim")
        if not isinstance(dims, int) or dims < 1:
            raise EmbedderDown(f"{self.path / 'config.json'} does not name its hidden_size.")
        return dims

    @property
    def pooling(self) -> Pooling:
        return "cls" if self.read("1_Pooling/config.json").get("pooling_mode_cls_token") else "mean"

    @property
    def windows(self) -> Windows:
        longest = self.read("sentence_bert_config.json").get("max_seq_length") or 256
        size = min(int(longest), 512) - SPECIAL_TOKENS - 6
        return Windows(size=size, overlap=min(32, size // 4))

    def prompt(self, names: tuple[str, ...]) -> str:
        prompts = self.read("config_sentence_transformers.json").get("prompts") or {}
        return next((str(prompts[name]) for name in names if prompts.get(name)), "")

    def check(self) -> None:
        """Raise EmbedderDown if a file is missing; the model itself is not loaded."""
        _ = self.dims, self.find(*MODEL_FILES), self.find("tokenizer.json")

    def load(self) -> SentenceEncoder:
        model, tokenizer = self.find(*MODEL_FILES), self.find("tokenizer.json")
        try:
            return SentenceEncoder(
                OnnxTransformer(model),
                open_tokenizer(tokenizer),
                dims=self.dims,
                pooling=self.pooling,
            )
        except EmbedderDown:
            raise
        except Exception as error:  # onnxruntime and tokenizers raise types of their own
            raise EmbedderDown(f"The model in {self.path} cannot be loaded: {error}") from error


class OnnxFolderEmbedder:
    texts_per_call = 8

    def __init__(self, dims: int = 0) -> None:  # noqa: ARG002 - what each embedder is made with
        self._folder = ModelFolder(Path(settings.EMBEDDING_MODEL))
        self._encoder = LoadOnce(self._folder.load)
        self.dims = self._folder.dims
        self.name = f"{self._folder.path.name}@{self.dims}"

    def embed_query(self, texts: list[str]) -> Vectors:
        cut = [text[:MAX_QUERY_CHARACTERS] for text in texts]
        return self._embed(cut, op="query", prompt=self._folder.prompt(QUERY_PROMPTS))

    def embed_document(self, texts: list[str]) -> Vectors:
        cut = [text[:MAX_CHARACTERS] for text in texts]
        return self._embed(cut, op="document", prompt=self._folder.prompt(PASSAGE_PROMPTS))

    def probe(self) -> None:
        self._folder.find(*MODEL_FILES)
        self._folder.find("tokenizer.json")

    def _embed(self, texts: list[str], *, op: str, prompt: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dims), dtype=np.float32)
        encoder = self._encoder.get()
        with record_embedding(self.name, op=op, texts=len(texts)) as usage:
            token_ids = [encoder.tokens(encodable(text)) for text in texts]
            usage.tokens = sum(map(len, token_ids))
            try:
                return encoder.embed_tokens(token_ids, self._folder.windows, prefix=prompt)
            except Exception as error:
                raise EmbedderDown(f"The model in {self._folder.path} failed: {error}") from error
