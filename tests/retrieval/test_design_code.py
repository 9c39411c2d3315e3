"""The code of the design of world knowledge runs with `memory37_client` and our modules in its
import lines. Its protocols are typed again: every call that they allow, our stores take."""

import inspect
from typing import Any, Literal, Protocol

import pytest
from pydantic import BaseModel

from knowledge.graph.neo4j_store import Neo4jGraph
from knowledge.graph.postgres_store import PostgresGraph
from memory37_client import Memory37Client
from retrieval.indexing import Chunk as OurChunk
from retrieval.presets import PRESETS
from retrieval.vector_store import PostgresStore

TOOLS = [
    *("rules_lookup", "lore_search", "session_fetch"),
    *("npc_profile", "lore_assert", "art_suggest"),
]


class VectorStore(Protocol):
    async def upsert(self, *, domain: str, items: list["Chunk"]) -> None: ...
    async def search(
        self,
        *,
        domain: str,
        query: str,
        k_vector: int,
        k_keyword: int | None = None,
        filters: dict[str, Any] | None = None,
    ) -> list[Any]: ...


class GraphStore(Protocol):
    async def upsert_facts(self, facts: list[Any]) -> None: ...
    async def neighbors(self, *, node_id: str, depth: int = 1) -> Any: ...
    async def shortest_path(self, *, src_id: str, dst_id: str, max_depth: int = 4) -> Any: ...


class Chunk(BaseModel):
    id: str
    domain: Literal["srd", "lore", "episode", "art"]
    text: str
    payload: dict[str, Any]
    metadata: dict[str, Any]


class EmbeddingConfig(Protocol):
    dims: int
    k_vector: int
    k_keyword: int | None
    mode: Literal["hybrid", "vector"]


@pytest.mark.parametrize(
    ("design", "store"),
    [
        (VectorStore, PostgresStore),
        (GraphStore, PostgresGraph),
        (GraphStore, Neo4jGraph),
    ],
)
def test_the_stores_take_every_call_of_the_design(design: type[Any], store: type[Any]) -> None:
    methods = [name for name in vars(design) if inspect.iscoroutinefunction(vars(design)[name])]
    assert methods
    for name in methods:
        ours = inspect.signature(getattr(store, name)).parameters
        assert inspect.iscoroutinefunction(getattr(store, name))
        for parameter in inspect.signature(getattr(design, name)).parameters.values():
            assert ours[parameter.name].default == parameter.default, (name, parameter.name)
            assert ours[parameter.name].kind is not inspect.Parameter.POSITIONAL_ONLY
        required = {each.name for each in ours.values() if each.default is each.empty}
        assert required <= set(inspect.signature(getattr(design, name)).parameters), name


def test_a_chunk_of_the_design_is_one_of_ours() -> None:
    written = Chunk(id="moor", domain="lore", text="The moor.", payload={}, metadata={"a": 1})
    ours = OurChunk.model_validate(written.model_dump())
    assert ours.model_dump() == written.model_dump()


def test_every_domain_has_the_settings_of_the_design() -> None:
    for domain in ("srd", "lore", "episode", "art"):
        preset = PRESETS[domain]
        assert all(hasattr(preset, name) for name in EmbeddingConfig.__annotations__), domain
    assert (PRESETS["srd"].dims, PRESETS["lore"].dims) == (1536, 1024)


async def test_the_client_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY37_URL", "http://localhost:1")
    monkeypatch.setenv("MEMORY37_API_KEY", "a-key")

    memory = Memory37Client.from_env()

    assert all(inspect.iscoroutinefunction(getattr(memory, tool)) for tool in TOOLS)
    await memory.close()
