"""After an upgrade that computes words in another way, the words of stored passages are renewed."""

from collections.abc import Iterator
from itertools import islice

import pytest
from django.core.management import call_command
from django.db import connection

from bench.passages import BenchPassage
from knowledge.models import LorePassage
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from memory_site.progress import words_progress
from retrieval.indexing import stored_words
from retrieval.indexing.stored_words import is_outdated, record_current, renew_words
from retrieval.indexing.upkeep import rebuild_words
from retrieval.models import UpgradeStep, passage_models
from retrieval.tasks import update_words
from tests.cast import create_world
from tests.retrieval.test_upkeep import in_thread, open_write, write

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = ("The ferry leaves.", "The bell rings.", "A barge burned.", "An eel slept.", "Fog came.")


@pytest.fixture
def outdated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BenchPassage]]:
    """Five passages, all but the last with the words of an earlier version."""
    monkeypatch.setattr(stored_words, "BATCH", 2)
    rows = sorted(write(*TEXTS), key=lambda row: row.pk)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE bench_passage DISABLE TRIGGER memory37_passage")
        BenchPassage.objects.exclude(pk=rows[-1].pk).update(search_vector="", word_count=0)
        cursor.execute("ALTER TABLE bench_passage ENABLE TRIGGER memory37_passage")
    yield rows
    BenchPassage.objects.all().delete()
    UpgradeStep.objects.all().delete()


def with_words() -> list[str]:
    rows = BenchPassage.objects.exclude(word_count=0).order_by("pk")
    return list(rows.values_list("text", flat=True))


def places() -> dict[str, str]:
    """Where each row is stored: a row that is written again has another place."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT text, ctid::text FROM bench_passage")
        return dict(cursor.fetchall())


def renew_all() -> int:
    count = 0
    while is_outdated(BenchPassage):
        count += renew_words(BenchPassage, limit=2)
    return count


def test_a_new_installation_has_nothing_to_renew() -> None:
    UpgradeStep.objects.all().delete()
    call_command("migrate", verbosity=0)
    upsert_lore(create_world(), LoreIn(title="Toll Bell", body="It rings at dusk."))
    assert list(islice(words_progress(), 1)) == []
    assert not any(map(is_outdated, passage_models()))


def test_texts_of_an_earlier_version_are_renewed_after_the_migration() -> None:
    upsert_lore(create_world(), LoreIn(title="Toll Bell", body="It rings at dusk."))
    UpgradeStep.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert [model for model in passage_models() if is_outdated(model)] == [LorePassage]


def test_words_are_renewed_once(outdated: list[BenchPassage]) -> None:
    assert is_outdated(BenchPassage)
    last = places()[outdated[-1].text]
    assert renew_all() == 5
    assert with_words() == [row.text for row in outdated]
    assert not is_outdated(BenchPassage)
    # Words that had not changed were not written.
    assert places()[outdated[-1].text] == last


def test_a_killed_worker_goes_on_where_it_was(outdated: list[BenchPassage]) -> None:
    assert renew_words(BenchPassage, limit=2) == 2
    assert with_words() == [row.text for row in (*outdated[:2], outdated[-1])]
    before = places()
    assert renew_all() == 3
    assert with_words() == [row.text for row in outdated]
    assert [places()[row.text] for row in outdated[:2]] == [before[r.text] for r in outdated[:2]]


def test_an_upgrade_during_another_begins_again(
    outdated: list[BenchPassage], monkeypatch: pytest.MonkeyPatch
) -> None:
    renew_words(BenchPassage, limit=2)
    monkeypatch.setattr(stored_words, "version_of", lambda _model: "newer")
    assert renew_all() == len(outdated)
    assert UpgradeStep.objects.get(name="words bench").version == "newer"


def test_nobody_who_writes_waits(outdated: list[BenchPassage]) -> None:
    # A row that is being written delays its batch alone, not other writers.
    renew_words(BenchPassage, limit=2)
    with open_write(), connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '2s'")
        in_thread(lambda: renew_words(BenchPassage, limit=100))()
        (row,) = write("A lantern fell.")
        cursor.execute("RESET lock_timeout")
    assert BenchPassage.objects.filter(pk=row.pk).exists()


def test_the_command_leaves_nothing_to_the_worker(outdated: list[BenchPassage]) -> None:
    assert rebuild_words(BenchPassage) == len(outdated)
    assert not is_outdated(BenchPassage)


def test_the_terminal_shows_how_far_it_is(
    outdated: list[BenchPassage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_site.progress.passage_models", lambda: [BenchPassage])
    monkeypatch.setattr(
        "memory_site.progress.time.sleep", lambda _s: renew_words(BenchPassage, limit=2)
    )
    lines = list(words_progress())
    assert "0 of 5" in lines[0]
    assert "2 of 5" in lines[1]
    assert "up to date" in lines[-1]
    assert list(words_progress()) == []


def test_the_task_does_nothing_when_all_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.tasks.passage_models", lambda: [BenchPassage])
    record_current(BenchPassage)
    assert update_words() == 0
    UpgradeStep.objects.all().delete()
