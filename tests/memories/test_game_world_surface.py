"""The code blocks of the Memory37 design run with `memories` in their import line."""

import asyncio
import inspect
from dataclasses import fields
from typing import Any, Literal, get_type_hints

import pytest

import memories
from art.models import ArtCard as CardRow
from episodes.models import Episode
from knowledge.models import Lore, Rule
from memories import aio
from retrieval.embedders import get_embedder
from retrieval.errors import Invalid, NotFound
from worlds.models import Party, World

pytestmark = pytest.mark.django_db
URL = "https://cdn.example.com/bell.png"


def test_the_configuration_of_domains_has_the_fields_of_the_design() -> None:
    from memories import EmbeddingConfig, KnowledgeDomainConfig

    assert get_type_hints(EmbeddingConfig) == {
        "model": str,
        "dims": int,
        "k_vector": int,
        "k_keyword": int | None,
        "mode": Literal["hybrid", "vector"],
    }
    assert [field.name for field in fields(KnowledgeDomainConfig)] == ["store", "embedding"]
    embedding = EmbeddingConfig("text-embedding-3-large", 1536, 10, 50, "hybrid")
    assert KnowledgeDomainConfig(store="pgvector", embedding=embedding).embedding.dims == 1536


def test_each_domain_is_configured_as_the_site_searches_it(settings: Any) -> None:
    from memories import knowledge_domains

    domains = knowledge_domains()
    assert list(domains) == ["srd", "lore", "episode", "art"]
    assert domains["episode"].embedding.k_keyword is None
    assert domains["episode"].embedding.mode == "vector"
    assert domains["lore"].embedding.mode == "hybrid"
    for name, domain in domains.items():
        embedder = get_embedder(name)
        assert (domain.embedding.model, domain.embedding.dims) == (embedder.name, embedder.dims)


def test_the_functions_of_the_design_are_coroutines() -> None:
    for name in ("ingest_srd", "ingest_lore", "ingest_episode", "ingest_art"):
        for module in (memories, aio):
            function = getattr(module, name)
            assert inspect.iscoroutinefunction(function)
            assert len(inspect.signature(function).parameters) == 1


@pytest.mark.django_db(transaction=True)
def test_everything_is_ingested_into_the_world_in_use(lanternbearers: Party) -> None:
    from memories import (
        ArtCard,
        Chunk,
        EpisodicSummary,
        ingest_art,
        ingest_episode,
        ingest_lore,
        ingest_srd,
        normalize_lore,
        use_world,
    )

    World.objects.create(slug="elsewhere", name="Elsewhere")
    world = lanternbearers.campaign.world
    card = ArtCard(image_id="bell", cdn_url=URL, prompt_text="A bell in the fog.")
    summary = EpisodicSummary(
        summary_id="s1", party_id=lanternbearers.slug, what="They rang the toll bell."
    )
    rule = Chunk(
        id="house/falling",
        domain="srd",
        text="A fall of ten feet costs a rope.",
        payload={"title": "Falling"},
        metadata={},
    )

    async def ingest() -> list[Any]:
        use_world(world.slug)
        return [
            await ingest_srd([rule]),
            await ingest_lore(normalize_lore("# The Toll Bell\nIt rings at dusk.")),
            await ingest_episode(summary),
            await ingest_art(card),
        ]

    rules, lore, episode, outcome = asyncio.run(ingest())
    assert set(rules.values()) == set(lore.values()) == {"created"}
    assert (episode.outcome, outcome) == ("created", "created")
    assert Rule.objects.get(world=world).title == "Falling"
    assert Lore.objects.get(world=world, title="The Toll Bell").passages.exists()
    assert Episode.objects.get(world=world).what == "They rang the toll bell."
    assert CardRow.objects.get(world=world).prompt_text == "A bell in the fog."


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_ingested_is_refused_by_name(world: World) -> None:
    from memories import Chunk, ingest_lore, ingest_srd, use_world

    rule = Chunk(id="x", domain="srd", text="A rule.", payload={"title": "X"}, metadata={})

    async def ingest(slug: str, function: Any) -> None:
        use_world(slug)
        await function([rule])

    with pytest.raises(Invalid, match="srd, not lore"):
        asyncio.run(ingest(world.slug, ingest_lore))
    with pytest.raises(NotFound, match="no world"):
        asyncio.run(ingest("nowhere", ingest_srd))
    assert not Rule.objects.filter(world=world).exists()
