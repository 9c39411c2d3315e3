"""Maintenance of the derived data while others read and write: counts of words, vector indexes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from bench.passages import BenchPassage
from retrieval.embedders import get_embedder
from retrieval.indexing import (
    count_words,
    embed_pending,
    index_vectors,
    install_passage_table,
    passage_indexes,
    upkeep,
)
from retrieval.indexing.upkeep import recount_changed, recount_outdated
from retrieval.models import ScopeStatistics, WordStatistics

pytestmark = pytest.mark.django_db(transaction=True)

LARGE = 3
TENANT = "ferrymark"
CLOCK_DIFFERENCE = "retrieval.indexing.statistics.CLOCK_DIFFERENCE"


@pytest.fixture(autouse=True)
def no_passages(transactional_db: None) -> Iterator[None]:
    yield
    BenchPassage.objects.all().delete()
    ScopeStatistics.objects.all().delete()
    WordStatistics.objects.all().delete()
    passage_indexes.drop_vector_indexes(BenchPassage)


@pytest.fixture
def large_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scopes count as large from a few passages on, and nothing waits."""
    monkeypatch.setattr(upkeep, "COUNTED_WHOLE", LARGE)
    monkeypatch.setattr(upkeep, "RECOUNT_INTERVAL", timedelta(0))
    monkeypatch.setattr(CLOCK_DIFFERENCE, timedelta(0))
    upkeep._swept_until.clear()


def write(*texts: str, **values: Any) -> list[BenchPassage]:
    rows = [BenchPassage(key=text, tenant=TENANT, text=text, **values) for text in texts]
    return BenchPassage.objects.bulk_create(rows)


def write_large_scope() -> None:
    write(*(f"The ferry {n} crosses the river." for n in range(LARGE + 1)))
    count_words(BenchPassage, [TENANT])


def counts() -> dict[str, tuple[int, int]]:
    rows = WordStatistics.objects.filter(domain="bench", scope=TENANT)
    return {word: (*both,) for word, *both in rows.values_list("word", "rows", "public_rows")}


def totals() -> tuple[int, int]:
    return ScopeStatistics.objects.values_list("rows", "public_rows").get(scope=TENANT)


# --- counts of words


def test_new_passages_of_a_large_scope_are_added_to_its_counts(large_scopes: None) -> None:
    write_large_scope()
    write("A barge burned at the ferry.")
    write("The barge was secret.", visibility="gm")
    assert recount_changed(BenchPassage) == [TENANT]
    assert counts()["ferri"] == (LARGE + 2, LARGE + 2)
    assert counts()["barg"] == (2, 1)
    assert totals() == (LARGE + 3, LARGE + 2)


def test_words_are_counted_after_the_clock_was_set_back() -> None:
    write("The ferry sank.")
    count_words(BenchPassage, [TENANT])
    ScopeStatistics.objects.update(refreshed_at=timezone.now() + timedelta(hours=3))
    write("The barge sank.")
    assert recount_changed(BenchPassage) == [TENANT]
    assert totals() == (2, 2)


def test_no_passage_is_added_twice(large_scopes: None) -> None:
    write_large_scope()
    for number in range(3):
        write(f"Barge number {number}.")
        recount_changed(BenchPassage)
        recount_changed(BenchPassage)
    assert counts()["barg"] == (3, 3)
    assert totals() == (LARGE + 4, LARGE + 4)


def test_adding_to_a_large_scope_does_not_read_its_other_passages(large_scopes: None) -> None:
    write_large_scope()
    # A word that only a count of the whole scope can find.
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE bench_passage DISABLE TRIGGER memory37_passage")
        cursor.execute("UPDATE bench_passage SET search_vector = 'lantern'::tsvector")
        cursor.execute("ALTER TABLE bench_passage ENABLE TRIGGER memory37_passage")
    write("A barge burned.")
    recount_changed(BenchPassage)
    assert "lantern" not in counts()
    assert counts()["barg"] == (1, 1)


def test_a_passage_that_commits_late_is_counted_with_the_next_sweep(
    large_scopes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_large_scope()
    ScopeStatistics.objects.update(refreshed_at=timezone.now() - timedelta(seconds=2))
    BenchPassage.objects.update(created_at=timezone.now() - timedelta(seconds=3))
    is_written, may_commit = threading.Event(), threading.Event()

    def write_slowly() -> None:
        try:
            with transaction.atomic():
                write("A barge burned.")
                is_written.set()
                may_commit.wait(20)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(write_slowly)
        assert is_written.wait(20)
        write("Another barge sank.")
        recount_changed(BenchPassage)
        may_commit.set()
        slow.result()
    recount_changed(BenchPassage)
    assert counts()["barg"] == (2, 2)


def test_a_large_scope_is_counted_whole_after_many_edits(large_scopes: None) -> None:
    write_large_scope()
    for row in BenchPassage.objects.all():
        row.text = "A barge."
        row.save()
    recount_changed(BenchPassage)  # notes the edits
    write("One more barge.")
    recount_changed(BenchPassage)
    assert counts() == {"barg": (LARGE + 2, LARGE + 2)}


def test_the_daily_check_counts_scopes_with_deleted_passages_alone(large_scopes: None) -> None:
    write_large_scope()
    other = [BenchPassage(key=str(n), tenant="elsewhere", text="A barge.") for n in range(2)]
    BenchPassage.objects.bulk_create(other)
    count_words(BenchPassage)
    assert recount_outdated(BenchPassage) == []
    BenchPassage.objects.filter(tenant=TENANT).first().delete()
    assert recount_outdated(BenchPassage) == [TENANT]
    assert counts()["ferri"] == (LARGE, LARGE)
    BenchPassage.objects.filter(tenant=TENANT).delete()
    assert recount_outdated(BenchPassage) == [TENANT]
    assert not counts()


def test_a_sweep_looks_at_changes_since_the_last_one(
    large_scopes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("A barge burned.")
    recount_changed(BenchPassage)
    long_ago = timezone.now() - timedelta(hours=2)
    BenchPassage.objects.update(updated_at=long_ago)
    ScopeStatistics.objects.update(refreshed_at=long_ago - timedelta(minutes=1))
    assert recount_changed(BenchPassage) == []
    upkeep._swept_until.clear()  # another process, which has not swept yet
    assert recount_changed(BenchPassage) == [TENANT]


# --- vector indexes


@pytest.fixture
def embedded_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_indexes, "ROWS_WORTH_A_VECTOR_INDEX", 2)
    write("The ferry costs a penny.", "The guild owns the ferry.")
    embed_pending(BenchPassage)


def in_thread(function: Any) -> Any:
    def run() -> Any:
        try:
            return function()
        finally:
            connection.close()

    return run


def test_a_second_sweep_does_not_disturb_the_index_that_another_one_builds(
    embedded_passages: None,
) -> None:
    # The concurrent build waits for the open write.
    with open_write() as end_write, ThreadPoolExecutor(2) as pool:
        builder = pool.submit(in_thread(lambda: index_vectors(BenchPassage)))
        wait_for_a_build()
        assert pool.submit(in_thread(lambda: index_vectors(BenchPassage))).result(5) is None
        # Nobody waits for the build: neither readers nor writers.
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
            cursor.execute("SELECT count(*) FROM bench_passage")
            write("A lantern fell.")
            cursor.execute("RESET lock_timeout")
        assert not builder.done()
        end_write()
        assert builder.result(20) is not None
    assert passage_indexes.has_vector_index(BenchPassage, get_embedder("bench").name)


def test_a_migration_does_not_wait_for_a_writer(embedded_passages: None) -> None:
    with open_write(), connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '2s'")
        install_passage_table(BenchPassage, connection)
        cursor.execute("RESET lock_timeout")
    (row,) = write("A lantern fell.")
    assert BenchPassage.objects.get(pk=row.pk).search_vector


def test_the_trigger_follows_the_weights_of_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    heavier = replace(BenchPassage.search_config, context_weight=5)
    with monkeypatch.context() as patch:
        patch.setattr(BenchPassage, "search_config", heavier)
        install_passage_table(BenchPassage, connection)
        (row,) = write("a boat", context="ferry")
    install_passage_table(BenchPassage, connection)
    (usual,) = write("a barge", context="ferry")
    word_counts = BenchPassage.objects.values_list("word_count", flat=True)
    assert word_counts.get(pk=row.pk) == 6
    assert word_counts.get(pk=usual.pk) == 4


@contextmanager
def open_write() -> Iterator[Callable[[], None]]:
    """Hold a transaction that has written a passage open in another thread; yield what ends it."""
    is_open, may_end = threading.Event(), threading.Event()

    def hold_a_write_open() -> None:
        with transaction.atomic():
            write("A barge burned.")
            is_open.set()
            may_end.wait(30)

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(in_thread(hold_a_write_open))

        def end() -> None:
            may_end.set()
            writer.result(20)

        assert is_open.wait(20)
        try:
            yield end
        finally:
            end()


def wait_for_a_build() -> None:
    with connection.cursor() as cursor:
        for _try in range(200):
            cursor.execute("SELECT count(*) FROM pg_stat_progress_create_index")
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.05)")
    pytest.fail("no index is being built")


def test_an_interrupted_build_is_done_again(embedded_passages: None) -> None:
    name = index_vectors(BenchPassage)
    assert index_vectors(BenchPassage) is None
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)", [name]
        )
    assert not passage_indexes.has_vector_index(BenchPassage, get_embedder("bench").name)
    assert index_vectors(BenchPassage) == name
    assert passage_indexes.has_vector_index(BenchPassage, get_embedder("bench").name)


SIZES = {
    "public_rows": 7,
    "words": 20,
    "public_words": 20,
    "languages": ["en"],
    "refreshed_at": timezone.now(),
}


def test_all_scopes_are_counted_however_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.indexing.statistics.SCOPES_AT_ONCE", 2)
    texts = ("The ferry is late.", "The ferry is full.")
    for number in range(5):
        rows = [BenchPassage(key=text, tenant=f"world-{number}", text=text) for text in texts]
        BenchPassage.objects.bulk_create(rows)
    write("A ferry.")
    BenchPassage.objects.filter(tenant=TENANT).update(tenant="")
    ScopeStatistics.objects.create(domain="bench", scope="gone", rows=7, **SIZES)
    assert count_words(BenchPassage) == 11
    assert dict(ScopeStatistics.objects.values_list("scope", "rows")) == {
        "": 1,
        **{f"world-{number}": 2 for number in range(5)},
    }
    assert WordStatistics.objects.filter(domain="bench", word="ferri", rows=2).count() == 5
