"""Chunks: a piece of text to be indexed, and the same as a search result."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from retrieval.search import Leg

Domain = Literal["srd", "lore", "episode", "art"]


class Chunk(BaseModel):
    """A piece of text to be indexed. `metadata` is for filters, `payload` for display."""

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
