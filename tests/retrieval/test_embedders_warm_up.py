"""Models are loaded while somebody reads the page on which they will ask."""

import threading
from typing import Any

import numpy as np
import pytest

from retrieval.embedders import load_models_soon
from retrieval.embedders.vector_cache import SHIPPED
from retrieval.errors import EmbedderDown

HERE = "tests.retrieval.test_embedders_warm_up"


class SlowEmbedder:
    name, dims = "slow", 2
    loaded = threading.Event()
    times = 0

    def __init__(self, **_options: Any) -> None: ...

    def embed_query(self, texts: list[str]) -> Any:
        type(self).times += 1
        self.loaded.set()
        return np.zeros((len(texts), 2))


class AbsentEmbedder(SlowEmbedder):
    loaded = threading.Event()

    def embed_query(self, texts: list[str]) -> Any:
        self.loaded.set()
        raise EmbedderDown("no models")


def test_models_are_loaded_once_and_nobody_waits(settings, monkeypatch) -> None:
    settings.EMBEDDER = f"{HERE}.SlowEmbedder"
    load_models_soon()
    assert not SlowEmbedder.loaded.is_set(), "an embedder of somebody else is not called"
    monkeypatch.setitem(SHIPPED, "slow", settings.EMBEDDER)
    load_models_soon()
    load_models_soon()
    assert SlowEmbedder.loaded.wait(5)
    assert SlowEmbedder.times == 1


def test_models_that_are_absent_are_told_by_the_first_question(
    settings, monkeypatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMBEDDER = f"{HERE}.AbsentEmbedder"
    monkeypatch.setitem(SHIPPED, "absent", settings.EMBEDDER)
    load_models_soon()
    assert AbsentEmbedder.loaded.wait(5)
    for thread in threading.enumerate():
        if thread.name == "load-models":
            thread.join(5)
    assert "were not loaded" in caplog.text
