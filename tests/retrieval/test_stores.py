"""The passage tables behind the protocol that another engine could implement."""

from collections.abc import Iterator, Sequence

import pytest

from bench.passages import BenchPassage
from retrieval.errors import Invalid, NotFound
from retrieval.indexing.chunk_schema import Chunk
from retrieval.indexing.embed import embed_pending
from retrieval.indexing.statistics import count_words
from retrieval.presets import Fusion, get_preset
from retrieval.search import clear_row_estimates
from retrieval.vector_store import PostgresStore, StoreDomain

pytestmark = pytest.mark.django_db(transaction=True)


def write(items: Sequence[Chunk]) -> int:
    for item in items:
        values = {"text": item.text, "metadata": item.metadata, "payload": item.payload}
        BenchPassage.objects.update_or_create(key=item.id, tenant="ferrymark", defaults=values)
    embed_pending(BenchPassage)
    count_words(BenchPassage)
    clear_row_estimates()
    return len(items)


@pytest.fixture
def store(transactional_db: None) -> Iterator[PostgresStore]:
    store_domain = StoreDomain(
        rows=lambda: BenchPassage.objects.filter(tenant="ferrymark"),
        scopes=["ferrymark"],
        write=write,
        filters=frozenset({"kind", "day"}),
    )
    yield PostgresStore({"lore": store_domain})
    BenchPassage.objects.all().delete()


CHUNKS = [
    Chunk(
        id="ferry",
        domain="lore",
        text="The ferry costs a penny.",
        metadata={"kind": "place", "day": 3},
    ),
    Chunk(
        id="guild",
        domain="lore",
        text="The guild owns the ferry.",
        metadata={"kind": "faction", "day": 8},
    ),
]


async def test_what_was_put_in_is_found_with_both_legs(store: PostgresStore) -> None:
    assert await store.upsert(domain="lore", items=CHUNKS) == 2
    chunks = await store.search(domain="lore", query="ferry penny", k_vector=5, k_keyword=5)
    assert chunks[0].text == CHUNKS[0].text
    assert set(chunks[0].legs) == {"keyword", "vector"}


async def test_filters_narrow_before_ranking(store: PostgresStore) -> None:
    await store.upsert(domain="lore", items=CHUNKS)
    for filters in ({"kind": "faction"}, {"kind": ["faction", "item"]}, {"day": {"gte": 5}}):
        chunks = await store.search(
            domain="lore", query="ferry", k_vector=5, k_keyword=5, filters=filters
        )
        assert [chunk.metadata["kind"] for chunk in chunks] == ["faction"]


async def test_unknown_filters_and_domains_are_named(store: PostgresStore) -> None:
    with pytest.raises(Invalid):
        await store.search(domain="lore", query="ferry", k_vector=5, filters={"secret": True})
    with pytest.raises(NotFound):
        await store.search(domain="srd", query="ferry", k_vector=5)


def test_a_preset_is_overridden_by_settings(settings: object) -> None:
    settings.RETRIEVAL_PRESETS = {"lore": {"fusion": "rrf", "k_keyword": 20}}  # type: ignore[attr-defined]
    read_preset = get_preset.__wrapped__  # past the cache of this process
    assert read_preset("lore").fusion is Fusion.RRF
    assert read_preset("lore").k_keyword == 20
