"""The list of lore: filters, order, folders, saved filters, and who sees what of it."""

import re
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client

from knowledge.editing_models import SavedFilter
from knowledge.lore_kinds import LoreKind
from tests.memory_site.lists.conftest import Write
from worlds.models import Campaign, Party, World

pytestmark = pytest.mark.django_db

LIST = "/w/ferrymark/lore/"
ROW = re.compile(r'href="/w/ferrymark/lore/([\w-]+)/"')


def listed(client: Client, **query: str) -> list[str]:
    """The slugs of the entries that the list shows, in its order."""
    answer = client.get(LIST, query)
    assert answer.status_code == 200
    slugs = ROW.findall(answer.content.decode())
    return [slug for slug in dict.fromkeys(slugs) if slug not in ("bulk", "filters", "new")]


@pytest.fixture
def entries(world: World, campaign: Campaign, write: Write) -> None:
    deity = LoreKind.objects.create(world=world, slug="deity", name="Deity")
    write("Abbey", "Herons nest here.", kind="place", folder="North/Carrow", tags=["river", "old"])
    write("Bell", kind="item", folder="North", visibility="gm", author="anna")
    write("Choir", kind="custom", custom_kind=deity, status="draft", language="ru")
    write("Delta", kind="custom", folder="Northern coast", tags=["river"])
    write("Ember", campaign=campaign, kind="event")


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        ({}, ["abbey", "bell", "choir", "delta", "ember"]),
        ({"kind": "place"}, ["abbey"]),
        ({"kind": "custom"}, ["delta"]),
        ({"kind": "custom:deity"}, ["choir"]),
        ({"folder": "North"}, ["abbey", "bell"]),
        ({"folder": "-"}, ["choir", "ember"]),
        ({"tag": "river"}, ["abbey", "delta"]),
        ({"status": "draft"}, ["choir"]),
        ({"visibility": "gm"}, ["bell"]),
        ({"campaign": "low-water"}, ["ember"]),
        ({"campaign": "-"}, ["abbey", "bell", "choir", "delta"]),
        ({"campaign": "*"}, ["abbey", "bell", "choir", "delta", "ember"]),
        ({"author": "anna"}, ["bell"]),
        ({"language": "ru"}, ["choir"]),
        ({"text": "herons"}, ["abbey"]),
        ({"sort": "-title"}, ["ember", "delta", "choir", "bell", "abbey"]),
        ({"sort": "folder", "tag": "river"}, ["abbey", "delta"]),
        ({"sort": "; drop", "kind": "nonsense\x00", "page": "99999999999"}, []),
        ({"text": "\x00", "sort": "password", "page": "x"}, ["abbey", "bell", "choir"]),
    ],
)
def test_the_list_shows_what_the_filter_says(
    entries: None, master: Client, query: dict[str, str], slugs: list[str]
) -> None:
    assert listed(master, **query)[: len(slugs)] == slugs
    if slugs and "\x00" not in query.get("text", ""):
        assert len(listed(master, **query)) == len(slugs)


def test_players_list_what_they_know_and_filter_by_nothing_else(
    entries: None, player: Client, write: Write
) -> None:
    write("Ferry", "The dock.\n\n:::secret\nThe ferryman drowned.\n:::\n")
    assert listed(player) == ["abbey", "delta", "ember", "ferry"]
    # Folders, drafts and secrets change nothing that a player sees.
    assert listed(player, folder="North") == listed(player)
    assert listed(player, visibility="gm", status="draft") == listed(player)
    assert listed(player, text="drowned") == []
    assert listed(player, text="dock") == ["ferry"]
    page = player.get(LIST, {"view": "tree"}).content.decode()
    assert "Carrow" not in page
    assert "Deity" not in page
    assert "bulk" not in page


def test_a_master_who_views_as_a_party_gets_the_players_list(
    entries: None, master: Client, lanternbearers: Party
) -> None:
    master.post("/w/ferrymark/as/", {"as": "party:lanternbearers", "next": "/"})
    assert listed(master) == ["abbey", "delta", "ember"]
    assert master.get("/w/ferrymark/trash/").status_code == 404
    assert master.post("/w/ferrymark/lore/bulk/", {"action": "trash"}).status_code == 404


GM_PAGES = ("recent/", "drafts/", "trash/")


def test_strangers_players_and_visitors_get_no_page_of_the_masters(
    entries: None, player: Client, stranger: Client
) -> None:
    for page in (*GM_PAGES, "lore/abbey/history/"):
        assert player.get(f"/w/ferrymark/{page}").status_code == 404, page
        assert stranger.get(f"/w/ferrymark/{page}").status_code == 404, page
        assert "/login/" in Client().get(f"/w/ferrymark/{page}")["Location"], page
    assert stranger.get(LIST).status_code == 404
    assert "/login/" in Client().get(LIST)["Location"]
    for page in ("lore/filters/", "lore/bulk/", "lore/abbey/trash/"):
        assert player.post(f"/w/ferrymark/{page}").status_code == 404, page


def test_the_tree_counts_the_entries_of_each_folder(entries: None, master: Client) -> None:
    page: Any = master.get(LIST, {"view": "tree"})
    folders = [(each.path, each.depth, each.count) for each in page.context["folders"]]
    assert folders == [("North", 0, 2), ("North/Carrow", 1, 1), ("Northern coast", 0, 1)]
    assert page.context["unfiled"] == 2


def test_a_filter_is_saved_for_its_user_and_deleted(
    entries: None, master: Client, world: World, admin_client: Client
) -> None:
    sent = {"name": "Rivers", "filter": "tag=river&sort=-title&nonsense=1"}
    master.post("/w/ferrymark/lore/filters/", sent)
    saved = SavedFilter.objects.get()
    assert (saved.name, saved.query) == ("Rivers", "tag=river&sort=-title")
    assert f"?{saved.query}".replace("&", "&amp;") in master.get(LIST).content.decode()
    assert "Rivers" not in admin_client.get(LIST).content.decode()
    delete = f"/w/ferrymark/lore/filters/{saved.pk}/delete/"
    assert admin_client.post(delete).status_code == 404
    master.post(delete)
    assert not SavedFilter.objects.exists()


def test_the_list_reads_with_a_constant_number_of_queries(
    master: Client, write: Write, django_assert_max_num_queries: Any, lanternbearers: Party
) -> None:
    write("Abbey", folder="North", tags=["old"])
    with django_assert_max_num_queries(40) as few:
        master.get(LIST, {"view": "tree"})
    for number in range(30):
        write(f"Entry {number}", folder=f"North/{number}", tags=[f"tag {number}"])
    with django_assert_max_num_queries(len(few)):
        master.get(LIST, {"view": "tree"})


def test_names_stand_in_the_order_of_the_alphabet(master: Client, write: Write) -> None:
    for title in ("Яма", "Ёлка", "отец Варлаам", "Единорог", "Жабры", "the Abbey", "Zephyr"):
        write(title, kind="place")
    slugs = dict.fromkeys(ROW.findall(unquote(master.get(LIST).content.decode())))
    assert [slug for slug in slugs if slug not in ("bulk", "filters", "new")] == [
        *("the-abbey", "zephyr", "единорог", "ёлка", "жабры", "отец-варлаам", "яма")
    ]
