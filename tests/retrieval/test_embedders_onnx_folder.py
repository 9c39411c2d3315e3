"""A sentence-transformer in a folder of one's own: bge-small, laid out as it is published."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.embedders import get_embedder
from retrieval.embedders.local import bge_files
from retrieval.embedders.onnx_folder import OnnxFolderEmbedder
from retrieval.errors import EmbedderDown


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    path = tmp_path / "my-bge"
    (path / "onnx").mkdir(parents=True)
    (path / "1_Pooling").mkdir()
    model, tokenizer = bge_files()
    shutil.copy(model, path / "onnx" / "model.onnx")
    shutil.copy(tokenizer, path / "tokenizer.json")
    (path / "config.json").write_text(json.dumps({"hidden_size": 384}))
    (path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    settings.EMBEDDER, settings.EMBEDDING_MODEL = "onnx", str(path)
    return path


def test_one_setting_selects_it(folder: Path) -> None:
    embedder = get_embedder("lore")
    assert (embedder.name, embedder.dims) == (f"{folder.name}@384", 384)
    held, dragon = embedder.inner.embed_document(
        ["Grappled: the creature's speed becomes 0.", "The red dragon hoards gold."]
    )
    question = embedder.embed_query(["Can somebody who is held move?"])[0]
    assert held @ question > dragon @ question


def test_its_prompts_and_pooling_are_used(folder: Path) -> None:
    plain = OnnxFolderEmbedder().embed_query(["dragon"])
    prompts = {"prompts": {"query": "Represent this sentence: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    prompted = OnnxFolderEmbedder().embed_query(["dragon"])
    (folder / "1_Pooling" / "config.json").unlink()
    pooled = OnnxFolderEmbedder().embed_query(["dragon"])
    assert not np.allclose(plain, prompted, atol=0.01)
    assert not np.allclose(prompted, pooled, atol=0.01)


def test_a_folder_that_does_not_exist_is_named(settings: Any, tmp_path: Path) -> None:
    settings.EMBEDDING_MODEL = str(tmp_path / "nope")
    with pytest.raises(EmbedderDown, match=r"EMBEDDING_MODEL='.*nope' is no folder"):
        OnnxFolderEmbedder()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("onnx/model.onnx", None, "has no model.onnx"),
        ("onnx/model.onnx", b"not a model", "cannot be loaded"),
        ("tokenizer.json", b"{}", "cannot be loaded"),
        ("config.json", b"{}", "hidden_size"),
        ("config.json", b"[", "is not JSON"),
    ],
)
def test_a_broken_folder_is_named(
    folder: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(EmbedderDown, match=message):
        OnnxFolderEmbedder().embed_query(["dragon"])
