"""Designers manage the kinds of their world on the site; entries outlive their kind."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.entry_store import save_entry
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore
from knowledge.trash import trash_lore
from tests import cast
from worlds.models import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def deity(world: World) -> LoreKind:
    return LoreKind.objects.create(world=world, slug="deity", name="Deity", template="## Domain\n")


def address(world: World, page: str, *slug: str) -> str:
    return reverse(page, args=[world.slug, *slug])


def entry(world: World, title: str, kind: LoreKind) -> Lore:
    row = Lore(
        world=world, slug=title.lower(), title=title, body="Old.", kind="custom", custom_kind=kind
    )
    save_entry(row)
    return row


def text_of(answer: Any) -> str:
    text: str = answer.content.decode()
    return text


def test_a_kind_is_added_and_its_template_begins_an_entry(world: World, master: Client) -> None:
    values = {"name": "Корабль", "icon": "⛵", "template": "## Команда\n"}
    assert master.post(address(world, "kind-new"), values).status_code == 302
    kind = LoreKind.objects.get(world=world)
    assert (kind.slug, kind.icon) == ("корабль", "⛵")
    page = text_of(master.get(address(world, "lore-new"), {"kind": "own:корабль"}))
    assert "## Команда" in page
    assert address(world, "kinds") in page, "the kinds are one click from the form"
    listed = text_of(master.get(address(world, "kinds")))
    assert "⛵" in listed
    assert "Place" in listed


@pytest.mark.parametrize("name", ["deity", "DEITY", "Place", "", "  "])
def test_a_name_that_is_taken_or_empty_is_refused(
    world: World, master: Client, deity: LoreKind, name: str
) -> None:
    answer = master.post(address(world, "kind-new"), {"name": name})
    assert answer.status_code == 422
    assert LoreKind.objects.count() == 1


def test_an_own_kind_never_has_the_word_of_a_built_in_one(world: World, master: Client) -> None:
    master.post(address(world, "kind-new"), {"name": "Place!"})
    assert LoreKind.objects.get().slug == "place-2"


def test_a_renamed_kind_keeps_its_address_and_its_entries(
    world: World, master: Client, deity: LoreKind
) -> None:
    row = entry(world, "Eel", deity)
    page = master.get(address(world, "kind-edit", "deity"))
    edited = page.context["form"].initial["edited"]
    values = {"name": "God", "icon": "", "template": "## Domain\r\n", "edited": edited}
    assert master.post(address(world, "kind-edit", "deity"), values).status_code == 302
    row.refresh_from_db()
    assert row.kind_name == "God"
    deity.refresh_from_db()
    assert (deity.slug, deity.template.strip()) == ("deity", "## Domain")
    again = master.post(address(world, "kind-edit", "deity"), {**values, "name": "Idol"})
    assert again.status_code == 422, "the second of two tabs does not overwrite the first"
    assert "Somebody else changed this kind" in text_of(again)
    deity.refresh_from_db()
    assert deity.name == "God"


def test_a_broken_secret_in_a_template_is_refused(world: World, master: Client) -> None:
    values = {"name": "Ship", "template": "## Crew\n:::secret\nnever closed"}
    assert master.post(address(world, "kind-new"), values).status_code == 422
    assert not LoreKind.objects.exists()


@pytest.mark.parametrize(
    ("choice", "kind", "own"), [("item", "item", None), ("own:ship", "custom", "ship")]
)
def test_entries_of_a_deleted_kind_get_the_chosen_one(
    world: World, master: Client, deity: LoreKind, choice: str, kind: str, own: str | None
) -> None:
    LoreKind.objects.create(world=world, slug="ship", name="Ship")
    live, trashed = entry(world, "Eel", deity), entry(world, "Pike", deity)
    trash_lore([trashed], by="anna")
    page = text_of(master.get(address(world, "kind-delete", "deity")))
    assert "1 entry is of this kind" in page
    assert 'value="own:deity"' not in page
    assert master.post(address(world, "kind-delete", "deity"), {"kind": choice}).status_code == 302
    assert not LoreKind.objects.filter(slug="deity").exists()
    for row in Lore.with_trash.filter(pk__in=[live.pk, trashed.pk]):
        found = row.custom_kind.slug if row.custom_kind else None
        assert (row.kind, found, row.body) == (kind, own, "Old.")
    assert live.history.count() == 2, "the change is in the history"


def test_a_kind_cannot_be_replaced_by_itself_or_by_one_of_another_world(
    world: World, master: Client, deity: LoreKind
) -> None:
    LoreKind.objects.create(world=cast.create_world(slug="other"), slug="ship", name="Ship")
    for choice in ("own:deity", "own:ship", "spell", ""):
        answer = master.post(address(world, "kind-delete", "deity"), {"kind": choice})
        assert answer.status_code == 422
    assert LoreKind.objects.filter(world=world).exists()


def test_players_and_strangers_manage_no_kinds(
    world: World, deity: LoreKind, player: Client, stranger: Client
) -> None:
    for client in (player, stranger):
        for page, slug in (("kinds", ()), ("kind-new", ()), ("kind-edit", ("deity",))):
            assert client.get(address(world, page, *slug)).status_code == 404
        kind = {"kind": "item"}
        assert client.post(address(world, "kind-delete", "deity"), kind).status_code == 404
    assert LoreKind.objects.exists()
