"""Clients that behave, and clients that do not. Vectors are given by hand where a test is about
distances.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from memories.haema import (
    CoreUpdateResponse,
    EmbeddingClient,
    LLMClient,
    MemoryReconstructionResponse,
    PreMemorySplitResponse,
)

NO_UPDATE = {"should_update": False, "core_markdown": None}


class Vectors(EmbeddingClient):
    """Random but fixed directions, unless `given` says where a text lies."""

    def __init__(self, given: dict[str, list[float]] | None = None) -> None:
        self.given = given or {}
        self.calls: list[tuple[str, list[str], int]] = []

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> NDArray[np.float32]:
        self.calls.append(("query", list(texts), output_dimensionality))
        return self._batch(texts, output_dimensionality)

    def embed_document(
        self, texts: Sequence[str], output_dimensionality: int
    ) -> NDArray[np.float32]:
        self.calls.append(("document", list(texts), output_dimensionality))
        return self._batch(texts, output_dimensionality)

    def _batch(self, texts: Sequence[str], dims: int) -> NDArray[np.float32]:
        return np.array(
            [self.given.get(text) or _direction(text, dims) for text in texts], dtype=np.float32
        )


def _direction(text: str, dims: int) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector: list[float] = np.random.default_rng(seed).normal(size=dims).tolist()
    return vector


class Echo(LLMClient):
    """Repeats what it is given, as a patient model would; keeps every call."""

    core: dict[str, Any] = NO_UPDATE

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[type[BaseModel], str, str]] = []

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[BaseModel]
    ) -> dict[str, Any]:
        self.calls.append((response_model, system_prompt, user_prompt))
        answer = self.answers.get(response_model.__name__)
        if callable(answer):
            answer = answer(user_prompt)
        if isinstance(answer, list):
            answer = answer.pop(0) if answer else None
        if isinstance(answer, BaseException):
            raise answer
        return answer if answer is not None else self._echo(response_model, user_prompt)

    def _echo(self, response_model: type[BaseModel], user_prompt: str) -> dict[str, Any]:
        if response_model is PreMemorySplitResponse:
            return {"contents": between(user_prompt, "<raw_input>", "</raw_input>")}
        if response_model is MemoryReconstructionResponse:
            return {"memories": new_contents(user_prompt), "coverage": "complete"}
        assert response_model is CoreUpdateResponse
        return self.core

    def prompts(self, response_model: type[BaseModel]) -> list[str]:
        return [user for model, _system, user in self.calls if model is response_model]


def between(prompt: str, start: str, end: str) -> list[str]:
    block = prompt.split(f"{start}\n", 1)[1].split(f"\n{end}", 1)[0]
    return [line[2:] for line in block.splitlines() if line.startswith("- ")]


def new_contents(prompt: str) -> list[str]:
    """Read the prompt as a stranger would: from `New contents:` to the line that starts with
    `Task:`.
    """
    lines = prompt.splitlines()
    start = lines.index("New contents:")
    end = next(
        number for number, line in enumerate(lines) if number > start and line.startswith("Task:")
    )
    return [line[2:] for line in lines[start:end] if line.startswith("- ")]
