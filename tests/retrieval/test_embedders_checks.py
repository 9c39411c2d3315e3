"""Each misconfiguration of the embedder and the language model is named before anybody meets it."""

from typing import Any

import pytest
from django.core.checks import run_checks

from retrieval.embedders import get_embedder


def problems() -> set[str]:
    return {
        message.id for message in run_checks() if message.id and message.id.startswith("retrieval.")
    }


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"EMBEDDER": "chatgpt"}, "retrieval.E001"),
        ({"EMBEDDER": "retrieval.embedders.local.Nothing"}, "retrieval.E001"),
        ({"EMBEDDER": "openai", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}, "retrieval.E003"),
        ({"OPENAI_BASE_URL": "localhost:8080"}, "retrieval.E004"),
        ({"EMBEDDING_DIMS": 5000}, "retrieval.E005"),
        ({"LLM_MODEL": "gpt", "LLM_API_KEY": "", "LLM_BASE_URL": ""}, "retrieval.E006"),
        ({"EMBEDDER": "onnx", "EMBEDDING_MODEL": "/nowhere"}, "retrieval.E009"),
        ({"RERANKER": "foo"}, "retrieval.E010"),
        ({"RERANKER": "retrieval.rerankers.local.Nothing"}, "retrieval.E010"),
        ({"EMBEDDER": "hashing", "DEBUG": False}, "retrieval.W001"),
    ],
)
def test_a_misconfiguration_is_named(settings: Any, wrong: dict[str, Any], named: str) -> None:
    settings.EMBEDDER = "local"
    assert problems() == set()
    for name, value in wrong.items():
        setattr(settings, name, value)
    assert problems() == {named}


def test_an_installation_without_a_reranker_is_right(settings: Any) -> None:
    settings.EMBEDDER, settings.RERANKER = "local", ""
    assert problems() == set()


def test_every_check_has_a_hint(settings: Any) -> None:
    settings.EMBEDDER, settings.OPENAI_BASE_URL, settings.LLM_MODEL = "nothing", "ftp://x", "gpt"
    assert all(
        message.hint for message in run_checks() if (message.id or "").startswith("retrieval.")
    )


def test_a_class_of_ones_own_can_be_plugged_in(settings: Any) -> None:
    settings.EMBEDDER = "retrieval.embedders.hashing.HashingEmbedder"
    assert problems() == set()
    assert get_embedder("srd").name == "hashing@256"
