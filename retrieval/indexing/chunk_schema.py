"""A piece of a text on its way into the index, and as a search returns it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from retrieval.search import Leg

Domain = Literal["srd", "lore", "episode", "art"]


class Chunk(BaseModel):
    """A piece of a text on its way into the index. `metadata` holds what is filtered by, `payload`
    what is shown."""

    model_config = ConfigDict(extra="forbid")

    id: str
    domain: Domain
    text: str
    payload: dict[str, Any] = {}
    metadata: dict[str, Any] = {}


class ChunkScore(Chunk):
    """A chunk with its fused score, and the rank and score of each leg that found it."""

    score: float
    legs: dict[str, Leg] = {}
