"""The functions of the Memory37 design that write to a game world, for scripts: coroutines that use
one world, that of `use_world`, else the oldest. Its types have the names that the design gives
them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from art.schemas import ArtCardIn as ArtCard
from art.upsert import ingest_art as write_card
from episodes.ingest import ingest_episode as write_episode
from episodes.schemas import EpisodeIn, EpisodicSummary, IngestReport
from knowledge import ingest
from knowledge.entry_store import Outcome
from knowledge.graph.protocol import GraphStore
from knowledge.graph.schemas import GraphFact
from memories.aio import run_in_thread
from memories.haema.standalone import ensure_tables
from retrieval.indexing import (
    Chunk,
    normalize_art,
    normalize_episode,
    normalize_lore,
    normalize_srd,
)
from retrieval.vector_store import VectorStore
from worlds.lookup import find_world
from worlds.models import World

__all__ = [
    "ArtCard",
    "Chunk",
    "EpisodicSummary",
    "GraphFact",
    "GraphStore",
    "VectorStore",
    "ingest_art",
    "ingest_episode",
    "ingest_lore",
    "ingest_srd",
    "normalize_art",
    "normalize_episode",
    "normalize_lore",
    "normalize_srd",
    "use_world",
]

Result = TypeVar("Result")
_world: ContextVar[World | str | None] = ContextVar("world_of_a_script", default=None)


def use_world(world: World | str) -> None:
    """Let the functions of this module write to `world`, a row or a slug, from now on, in this
    thread or task."""
    _world.set(world)


async def ingest_srd(chunks: Sequence[Chunk]) -> Mapping[str, Outcome]:
    """Write rules that `normalize_srd` cut; return the outcome of each by its key. Raises `Invalid`
    for chunks of another domain."""
    return await in_world(write_rules, chunks)


async def ingest_lore(chunks: Sequence[Chunk]) -> Mapping[str, Outcome]:
    """Write lore that `normalize_lore` cut; return the outcome of each entry by its slug. An entry
    without a visibility is for the game master. Raises `Invalid` for chunks of another domain."""
    return await in_world(write_lore, chunks)


async def ingest_episode(summary: EpisodicSummary) -> IngestReport:
    """Record an episode with its effects: dispositions, reveals, what witnesses remember. Raises a
    `Problem`, and writes nothing, when any part of it is refused."""
    return await in_world(record_episode, summary)


async def ingest_art(card: ArtCard) -> str:
    """Create or update an art card; return `created`, `changed` or `unchanged`."""
    return await in_world(write_art, card)


def write_rules(world: World, chunks: Sequence[Chunk]) -> Mapping[str, Outcome]:
    return ingest.ingest_srd(chunks, world=world)


def write_lore(world: World, chunks: Sequence[Chunk]) -> Mapping[str, Outcome]:
    return ingest.ingest_lore(chunks, world=world)


async def in_world(write: Callable[..., Result], *arguments: Any) -> Result:
    """Call `write` with the world in use and `arguments`, in a thread."""
    return cast(Result, await run_in_thread(call_in_world)(write, *arguments))


def call_in_world(write: Callable[..., Result], *arguments: Any) -> Result:
    ensure_tables()
    world = _world.get()
    return write(world if isinstance(world, World) else find_world(world), *arguments)


def record_episode(world: World, summary: EpisodicSummary) -> IngestReport:
    given = summary.model_dump(exclude_unset=True)
    whole = summary if isinstance(summary, EpisodeIn) else EpisodeIn.model_validate(given)
    return write_episode(world, whole, came_from="script")


def write_art(world: World, card: ArtCard) -> str:
    return write_card(world, card)[1]
