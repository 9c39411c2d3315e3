"""A memory with clients of your own: python examples/own_clients.py FOLDER

`memories.Memory` takes any embedder and any language model that has the two interfaces below. The
embedder here counts words, so that the example needs nothing; put the call of yours in its place.
The model is any server with the API of OpenAI, and is left out without OPENAI_API_KEY.
"""

import json
import os
import sys
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from openai import OpenAI
from pydantic import BaseModel

from memories import EmbeddingClient, LLMClient, Memory

WIDTH = 256


class WordCounts(EmbeddingClient):
    """float32 of shape (len(texts), output_dimensionality): words hashed into columns."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        return self.embed_document(texts, output_dimensionality)

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        vectors = np.zeros((len(texts), output_dimensionality), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.strip(".,!?").encode()) % output_dimensionality] += 1
        return vectors


class ChatModel(LLMClient):
    """Asks for JSON by the schema. ValueError, TypeError and OSError are tried again."""

    def __init__(self, client: OpenAI, model: str) -> None:
        self.client, self.model = client, model

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[BaseModel]
    ) -> dict[str, Any]:
        schema = {"name": response_model.__name__, "schema": response_model.model_json_schema()}
        answer = self.client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": system_prompt},
                {"role": "user", "content": user_prompt},
            ],
            response_format={"type": "json_schema", "json_schema": schema},  # type: ignore[arg-type,misc]
        )
        parsed: dict[str, Any] = json.loads(answer.choices[0].message.content or "")
        return parsed


def open_memory(folder: str) -> Memory:
    model = None
    if os.environ.get("OPENAI_API_KEY"):
        model = ChatModel(OpenAI(), os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
    return Memory(folder, WIDTH, WordCounts(), model)


def main(folder: str) -> None:
    memory = open_memory(folder)
    memory.add(["Mira prefers short answers.", "The ferry leaves at dawn."])
    for text in memory.search("When does the ferry leave?", 1):
        sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./memory")
