"""Bulk changes of the list: counted before, made in one transaction, undone at once."""

from typing import Any

import pytest
from django.test import Client

from knowledge.editing_models import BulkChange
from knowledge.entry_entities import ensure_entity
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore, LorePassage
from tests.memory_site.lists.conftest import Write
from worlds.audiences import Audience
from worlds.models import Campaign, Party, Reveal, World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db

BULK = "/w/ferrymark/lore/bulk/"
PARTY = Audience("party", "lanternbearers")


@pytest.fixture
def pair(write: Write) -> list[Lore]:
    return [
        write("Abbey", visibility="gm", tags=["old", "river"], folder="North"),
        write("Bell", visibility="public", status="draft", tags=["river"]),
    ]


def send(client: Client, entries: list[Lore], action: str, **fields: Any) -> Any:
    ids = " ".join(str(entry.pk) for entry in entries)
    return client.post(BULK, {"action": action, "ids": ids, "confirm": "1", **fields}, follow=True)


def undo(client: Client) -> Any:
    change = BulkChange.objects.first()
    assert change
    return client.post(f"{BULK}{change.pk}/undo/", follow=True)


def stored(*names: str) -> list[tuple[Any, ...]]:
    return list(Lore.objects.order_by("title").values_list(*names))


@pytest.mark.parametrize(
    ("action", "fields", "column", "values"),
    [
        ("status", {"status": "draft"}, "status", ["draft", "draft"]),
        ("visibility", {"visibility": "gm"}, "visibility", ["gm", "gm"]),
        ("kind", {"kind": "place"}, "kind", ["place", "place"]),
        ("folder", {"folder": " South // Bay /"}, "folder", ["South/Bay"] * 2),
        ("tags", {"add": "wet, old", "remove": "river"}, "tags", [["old", "wet"], ["wet", "old"]]),
        ("campaign", {"campaign": "low-water"}, "campaign__slug", ["low-water"] * 2),
    ],
)
def test_a_change_is_made_and_undone(
    master: Client,
    campaign: Campaign,
    pair: list[Lore],
    action: str,
    fields: dict[str, str],
    column: str,
    values: list[Any],
) -> None:
    before = stored("kind", "status", "visibility", "folder", "tags", "campaign", "body")
    send(master, pair, action, **fields)
    assert [value for (value,) in stored(column)] == values
    note = Lore.objects.get(slug="abbey").history.latest()
    if action != "visibility":  # the abbey was hidden before
        assert note.history_change_reason.startswith("bulk change by anna")
    undo(master)
    assert stored("kind", "status", "visibility", "folder", "tags", "campaign", "body") == before


def test_an_undo_keeps_the_filter_of_the_list(master: Client, pair: list[Lore]) -> None:
    send(master, pair, "status", status="draft")
    page = master.get("/w/ferrymark/lore/?kind=place&sort=updated").content.decode()
    assert 'name="filter" value="kind=place&amp;sort=updated"><span>' in page
    change = BulkChange.objects.get()
    sent = {"filter": "kind=place&sort=updated"}
    answer = master.post(f"{BULK}{change.pk}/undo/", sent)
    assert answer.headers["Location"] == "/w/ferrymark/lore/?kind=place&sort=updated"


def test_a_kind_of_the_worlds_own(master: Client, world: World, pair: list[Lore]) -> None:
    LoreKind.objects.create(world=world, slug="deity", name="Deity")
    send(master, pair, "kind", kind="custom:deity")
    assert stored("kind", "custom_kind__slug") == [("custom", "deity")] * 2


def test_revealing_asks_to_whom_and_writes_the_log(
    master: Client, pair: list[Lore], lanternbearers: Party
) -> None:
    answer = send(master, pair, "visibility", visibility="revealed")
    assert "at least one party" in answer.content.decode()
    assert not BulkChange.objects.exists()
    send(master, pair, "visibility", visibility="revealed", audience=[str(PARTY), "party:nobody"])
    assert stored("visibility", "known_to") == [("revealed", [str(PARTY)])] * 2
    assert LorePassage.objects.visible_to(PARTY).count() == 2
    assert Reveal.objects.filter(undone_at=None, by="anna").count() == 2
    undo(master)
    assert stored("visibility", "known_to") == [("gm", []), ("public", [])]
    assert not Reveal.objects.filter(undone_at=None).exists()


def test_what_was_revealed_since_stays_revealed_after_an_undo(
    master: Client, pair: list[Lore], lanternbearers: Party
) -> None:
    send(master, pair, "folder", folder="South")
    reveal(pair[0], PARTY)
    undo(master)
    assert stored("folder", "visibility", "known_to")[0] == ("North", "revealed", [str(PARTY)])


def test_an_overlay_that_is_moved_to_its_own_campaign_keeps_replacing_canon(
    master: Client, campaign: Campaign, pair: list[Lore], write: Write
) -> None:
    overlay = write("Abbey", campaign=campaign, overrides=pair[0])
    send(master, [overlay], "campaign", campaign="low-water")
    overlay.refresh_from_db()
    assert overlay.overrides == pair[0]


def test_the_entities_of_the_entries_follow_them(
    master: Client, world: World, pair: list[Lore]
) -> None:
    for entry in pair:
        Lore.objects.filter(pk=entry.pk).update(kind="place")
        entry.refresh_from_db()
        assert (node := ensure_entity(entry))
        assert node.visibility == "gm"
    nodes = GraphNode.objects.order_by("name")
    send(master, pair, "visibility", visibility="public")
    # The Bell is a draft: its name stays the game master's.
    assert list(nodes.values_list("visibility", flat=True)) == ["public", "gm"]
    send(master, pair, "status", status="published")
    assert list(nodes.values_list("visibility", flat=True)) == ["public", "public"]
    undo(master)
    assert list(nodes.values_list("visibility", flat=True)) == ["public", "gm"]
    send(master, pair, "visibility", visibility="gm")
    assert list(nodes.values_list("visibility", flat=True)) == ["gm", "gm"]
    send(master, pair, "kind", kind="faction")
    assert list(nodes.values_list("kind", flat=True)) == ["Faction", "Faction"]


def test_the_page_before_counts_and_changes_nothing(master: Client, pair: list[Lore]) -> None:
    sent = {"action": "status", "id": [str(entry.pk) for entry in pair]}
    page = master.post(BULK, sent).content.decode()
    assert "Status: 2 entries" in page
    assert not BulkChange.objects.exists()


def test_all_of_the_list_means_what_its_filter_finds(master: Client, pair: list[Lore]) -> None:
    sent = {"action": "status", "status": "draft", "all": "1", "filter": "visibility=gm"}
    page = master.post(BULK, sent).content.decode()
    assert "Abbey" in page
    assert "Bell" not in page


def test_the_trash_is_undone_too(master: Client, pair: list[Lore]) -> None:
    send(master, pair, "trash")
    assert stored("slug") == []
    undo(master)
    assert stored("slug") == [("abbey",), ("bell",)]


def test_one_conflict_stops_the_whole_change(
    master: Client, campaign: Campaign, pair: list[Lore], write: Write
) -> None:
    write("Bell", campaign=campaign)
    answer = send(master, pair, "campaign", campaign="low-water")
    assert "taken" in answer.content.decode()
    assert Lore.objects.filter(campaign=None).count() == 2


def test_an_entry_changed_since_is_left_as_it_is(master: Client, pair: list[Lore]) -> None:
    send(master, pair, "folder", folder="South")
    abbey = Lore.objects.get(slug="abbey")
    abbey.folder = "West"
    save_entry(abbey)
    answer = undo(master)
    assert stored("folder") == [("West",), ("",)]
    assert "Abbey" in answer.content.decode()
    change = BulkChange.objects.get()
    assert "undone before" in master.post(f"{BULK}{change.pk}/undo/", follow=True).content.decode()


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "nonsense"},
        {"action": "status", "ids": "no-uuid \x00"},
        {"action": "status", "status": "secret"},
        {"action": "kind", "kind": "custom:nothing"},
        {"action": "folder", "folder": "x" * 300},
        {"action": "tags", "add": "y" * 90},
        {"action": "tags"},
        {"action": "campaign", "campaign": "nowhere"},
        {"action": "visibility", "visibility": "all"},
    ],
)
def test_bad_input_changes_nothing(master: Client, pair: list[Lore], sent: dict[str, str]) -> None:
    ids = {"ids": " ".join(str(entry.pk) for entry in pair), "confirm": "1"}
    answer = master.post(BULK, {**ids, **sent}, follow=True)
    assert answer.status_code == 200
    assert "notice bad" in answer.content.decode()
    assert not BulkChange.objects.exists()


def test_entries_of_another_world_are_not_reached(
    master: Client, write: Write, world: World
) -> None:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    foreign = write("Tower", world=other)
    send(master, [foreign], "status", status="draft")
    assert stored("status") == [("published",)]


def test_a_change_of_many_entries_reads_no_more_than_one_of_a_few(
    master: Client, write: Write, django_assert_max_num_queries: Any
) -> None:
    few = [write(f"Few {number}") for number in range(3)]
    many = [write(f"Many {number}") for number in range(30)]
    with django_assert_max_num_queries(120) as queries:
        send(master, few, "folder", folder="North")
    with django_assert_max_num_queries(len(queries) + 2):
        send(master, many, "folder", folder="South")
