"""An answer says which share of the searched passages has a vector, while the others wait."""

from itertools import islice
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench.passages import BenchPassage
from memory_site.progress import later_progress
from retrieval.indexing import embed_pending
from retrieval.models import PARKED_AFTER
from retrieval.presets import Preset
from retrieval.search import SearchRequest, clear_vector_shares, read_share, search

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def passages() -> None:
    for number in range(20):
        BenchPassage.objects.create(
            key=str(number), tenant="ferrymark", text=f"Boats moor at pier {number}."
        )
    embed_pending(BenchPassage, limit=7)
    clear_vector_shares()


def degraded(query: str = "boats at the pier", **filters: Any) -> tuple[str, ...]:
    clear_vector_shares()
    rows = BenchPassage.objects.filter(tenant="ferrymark", **filters)
    preset = Preset(dims=256)
    return tuple(
        search(rows, SearchRequest(query=query, scopes=["ferrymark"], preset=preset)).degraded
    )


def test_every_answer_says_how_much_can_be_found_by_meaning() -> None:
    with_vectors = BenchPassage.objects.exclude(embedding=None).values_list("key", flat=True)
    for query in ("boats at the pier", *(f"pier {key}" for key in with_vectors)):
        assert degraded(query) == ("vector: 35 % of this world",), query


def test_nothing_is_said_when_all_have_one() -> None:
    embed_pending(BenchPassage)
    assert degraded() == ()
    BenchPassage.objects.filter(key="3").update(text="The pier burned down.")
    assert degraded() == (), "an edited passage is found by its former vector until it has the new"


def test_what_cannot_be_embedded_is_not_waited_for() -> None:
    BenchPassage.objects.filter(embedding=None).update(embed_tries=PARKED_AFTER)
    assert degraded() == ()


def test_without_any_vector_the_whole_leg_is_missing() -> None:
    BenchPassage.objects.update(embedding=None, embedding_model="", embedded_rev=0)
    assert degraded() == ("vector",)


def test_only_what_is_searched_counts() -> None:
    with_vectors = list(BenchPassage.objects.exclude(embedding=None).values_list("pk", flat=True))
    assert degraded(pk__in=with_vectors) == ()


def test_the_share_is_counted_once_in_some_seconds() -> None:
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    request = SearchRequest(query="pier", scopes=["ferrymark"], preset=Preset(dims=256))
    with CaptureQueriesContext(connection) as queries:
        for _number in range(3):
            search(rows, request)
    assert sum("embed_tries" in query["sql"] for query in queries) == 2, "any waits, and how many"


def test_the_share_is_read_from_an_answer() -> None:
    assert read_share("vector: 35 % of this world") == 35
    assert read_share("vector") is None


def test_the_terminal_tells_of_a_later_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_site.progress.passage_models", lambda: [BenchPassage])
    monkeypatch.setattr("memory_site.progress.MANY", 10)
    monkeypatch.setattr("memory_site.progress.connections.close_all", lambda: None)

    def some_time_passes(_seconds: float) -> None:
        if not BenchPassage.objects.filter(embedding=None).exists():
            for number in range(12):
                BenchPassage.objects.create(key=f"b{number}", tenant="ferrymark", text="A barge.")
        elif BenchPassage.objects.count() > 20:
            embed_pending(BenchPassage, limit=6)

    embed_pending(BenchPassage)
    monkeypatch.setattr("memory_site.progress.time.sleep", some_time_passes)
    lines = list(islice(later_progress(), 4))
    assert "20 of 32" in lines[1]
    assert "26 of 32" in lines[2]
    assert "All 32" in lines[3]
