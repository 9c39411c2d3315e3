"""The outbox: every passage gets the vector of its present text, whatever fails in between."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection, transaction
from django.utils import timezone

from bench.passages import BenchPassage
from retrieval.embedders import Vectors, get_embedder
from retrieval.errors import EmbedderDown
from retrieval.indexing.embed import (
    claim_batch,
    embed_pending,
    parked_passages,
    pending_passages,
)
from retrieval.models import PARKED_AFTER

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_table(transactional_db: None) -> Iterator[None]:
    """Its app is not installed, so Django does not empty it after a test."""
    yield
    BenchPassage.objects.all().delete()


class UnreliableEmbedder:
    """An embedder that does something first, or refuses some texts."""

    def __init__(self, before: Callable[[list[str]], None]) -> None:
        self.inner = get_embedder()
        self.before = before
        self.name, self.dims = self.inner.name, self.inner.dims

    def embed_document(self, texts: list[str]) -> Vectors:
        self.before(texts)
        return self.inner.embed_document(texts)

    embed_query = embed_document


def refuse_word(word: str) -> Callable[[list[str]], None]:
    def refuse(texts: list[str]) -> None:
        if any(word in text for text in texts):
            raise EmbedderDown("not this one")

    return refuse


def some_passages(count: int = 3) -> list[BenchPassage]:
    return [
        BenchPassage.objects.create(key=str(n), text=f"Passage number {n}") for n in range(count)
    ]


def end_waits() -> None:
    BenchPassage.objects.update(embed_after=None)


def test_each_passage_gets_the_vector_of_its_text() -> None:
    passages = some_passages()
    assert embed_pending(BenchPassage) == 3
    passages[0].refresh_from_db()
    expected = get_embedder().embed_document([passages[0].indexed_text])[0]
    assert np.allclose(passages[0].embedding, expected, atol=1e-3)
    assert embed_pending(BenchPassage) == 0


def test_text_that_changes_while_the_model_runs_is_embedded_again() -> None:
    some_passages(1)
    change = UnreliableEmbedder(lambda _texts: BenchPassage.objects.update(text="Something else"))
    assert embed_pending(BenchPassage, embedder=change, limit=1) == 0
    assert pending_passages(BenchPassage).count() == 1
    assert embed_pending(BenchPassage) == 1
    row = BenchPassage.objects.get()
    assert np.allclose(
        row.embedding, get_embedder().embed_document(["Something else"])[0], atol=1e-3
    )


def test_no_lock_is_held_and_no_transaction_open_while_the_model_runs() -> None:
    some_passages(1)
    seen: list[bool] = []
    embed_pending(
        BenchPassage,
        embedder=UnreliableEmbedder(lambda _texts: seen.append(connection.in_atomic_block)),
    )
    assert seen == [False]


def test_two_workers_do_not_take_the_same_passage() -> None:
    some_passages(3)
    second: list[int] = []
    embed_pending(
        BenchPassage,
        embedder=UnreliableEmbedder(lambda _texts: second.append(embed_pending(BenchPassage))),
    )
    assert second == [0]


def test_no_plan_of_the_statement_takes_more_passages_than_the_limit() -> None:
    for number in range(20):
        BenchPassage.objects.create(key=str(number), text=f"Boats moor at pier {number}.")
    with transaction.atomic(), connection.cursor() as cursor:
        for way in ("hashjoin", "mergejoin", "hashagg", "material", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        assert len(claim_batch(BenchPassage, 7)) == 7


def test_a_killed_worker_gives_its_passages_back_when_the_lease_ends() -> None:
    some_passages(2)

    class Killed(BaseException):
        pass

    def kill(_texts: list[str]) -> None:
        raise Killed

    with pytest.raises(Killed):
        embed_pending(BenchPassage, embedder=UnreliableEmbedder(kill))
    assert embed_pending(BenchPassage) == 0
    end_waits()
    assert embed_pending(BenchPassage) == 2


def test_a_lease_from_before_the_clock_was_set_back_has_ended() -> None:
    some_passages(2)
    BenchPassage.objects.update(embed_tries=1, embed_after=timezone.now() + timedelta(hours=3))
    assert embed_pending(BenchPassage) == 2


def test_a_text_that_the_model_refuses_does_not_hold_up_the_others_and_is_parked() -> None:
    some_passages(3)
    BenchPassage.objects.create(key="poison", text="poison")
    picky = UnreliableEmbedder(refuse_word("poison"))
    assert embed_pending(BenchPassage, embedder=picky) == 3
    for _again in range(PARKED_AFTER):
        end_waits()
        try:
            embed_pending(BenchPassage, embedder=picky)
        except EmbedderDown:
            continue
    assert [row.embed_error for row in parked_passages(BenchPassage)] == ["not this one"]
    BenchPassage.objects.filter(key="poison").update(text="cured")
    assert embed_pending(BenchPassage, embedder=picky) == 1


def test_a_model_that_is_down_parks_nothing() -> None:
    some_passages(3)
    for _again in range(PARKED_AFTER + 1):
        end_waits()
        with pytest.raises(EmbedderDown):
            embed_pending(BenchPassage, embedder=UnreliableEmbedder(refuse_word("")))
    assert not parked_passages(BenchPassage).exists()


def test_raw_sql_makes_a_passage_stale_too() -> None:
    some_passages(1)
    embed_pending(BenchPassage)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE bench_passage SET text = 'rewritten by hand'")
    assert pending_passages(BenchPassage).count() == 1
