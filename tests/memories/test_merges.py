"""Merges by rules are listed for a person, the most doubtful first, and can be taken back."""

from typing import Any

import pytest
from django.test import Client

from memories.curation import edits, merges
from memories.models import MemoryItem, Namespace, Succession
from memories.similarity.resolve import IN_OTHER_WORDS
from retrieval.errors import Conflict, NotFound
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db
FERRIES, BELL = "Mira owns three grey ferries.", "Tobin rings the toll bell at dawn."
FERRIES_AGAIN = "Three grey ferries are what Mira owns."


@pytest.fixture
def merged(mira: Namespace) -> Namespace:
    remember(mira, FERRIES, BELL)
    remember(mira, FERRIES_AGAIN)
    remember(mira, BELL, tags=["night"])
    assert mira.memories.active().count() == 2
    return mira


def listed(namespace: Namespace) -> list[tuple[str, str]]:
    return [(one.older.text, one.newer.text) for one in merges.list_merges(namespace, limit=9)]


def test_the_most_doubtful_merge_comes_first(merged: Namespace, tobin: Namespace) -> None:
    assert listed(merged) == [(FERRIES, FERRIES_AGAIN), (BELL, BELL)]
    doubtful, sure = merges.list_merges(merged, limit=9)
    assert doubtful.similarity is not None
    assert doubtful.similarity < 0.99
    assert sure.similarity == pytest.approx(1, abs=0.001)
    assert listed(tobin) == []


def test_a_merge_by_the_model_alone_comes_before_those_of_rules(merged: Namespace) -> None:
    bell = Succession.objects.get(older__text=BELL)
    assert Succession.objects.filter(pk=bell.pk).update(reason=IN_OTHER_WORDS) == 1
    assert listed(merged) == [(BELL, BELL), (FERRIES, FERRIES_AGAIN)]


def test_what_says_the_same_in_other_words_is_merged_and_listed(
    merged: Namespace, settings: Any
) -> None:
    settings.EMBEDDER = "local"
    older, newer = "Tobin checks every contract.", "Every contract is checked by Tobin."
    remember(merged, older)
    remember(merged, newer, "Every contract is checked by Mira.")
    assert (older, newer) in listed(merged)
    assert merged.memories.active().filter(text="Every contract is checked by Mira.").exists()


def test_what_is_confirmed_or_separated_is_not_listed_again(merged: Namespace) -> None:
    first, second = merges.list_merges(merged, limit=9)
    merges.confirm_merge(merged, second.id)
    assert listed(merged) == [(FERRIES, FERRIES_AGAIN)]
    older = merges.separate(merged, first.id, by="mira")
    assert (older.text, older.state) == (FERRIES, "active")
    assert MemoryItem.objects.get(pk=first.newer.pk).state == "active"
    assert older.changes.latest("pk").by == "mira"
    assert listed(merged) == []
    with pytest.raises(Conflict):
        merges.separate(merged, first.id, by="mira")


def test_a_persons_merge_is_not_listed_and_nobody_elses_is_touched(
    merged: Namespace, tobin: Namespace
) -> None:
    first = merges.list_merges(merged, limit=1)[0]
    with pytest.raises(NotFound):
        merges.separate(tobin, first.id, by="tobin")
    with pytest.raises(NotFound):
        merges.confirm_merge(tobin, "no id")
    ids = remember(tobin, FERRIES, BELL).ids
    edits.merge(tobin, ids, f"{FERRIES} {BELL}", by="tobin")
    assert listed(tobin) == []


def test_the_inbox_shows_merges_and_takes_them_back(
    admin_client: Client, merged: Namespace
) -> None:
    address = f"/admin/memories/namespace/{merged.pk}/inbox/"
    page = admin_client.get(address).content.decode()
    assert "2 merges that nobody has checked" in page
    assert page.index(FERRIES_AGAIN) < page.index(BELL)
    first = merges.list_merges(merged, limit=1)[0]
    admin_client.post(address, {"act": f"separate:{first.id}"})
    assert set(merged.memories.active().values_list("text", flat=True)) == {
        *(FERRIES, FERRIES_AGAIN, BELL)
    }
    second = merges.list_merges(merged, limit=1)[0]
    admin_client.post(address, {"act": f"same:{second.id}"})
    assert "nobody has checked" not in admin_client.get(address).content.decode()
