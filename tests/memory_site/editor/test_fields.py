"""Each field of the form of a thing: saved when a thing is made and when it is edited, shown as it
is stored, and merged when two people edit one thing."""

from typing import Any

import pytest
from django.test import Client

from knowledge.models import Lore
from memory_site.editor.forms import ThingForm
from npcs.models import NPC
from tests.memory_site.editor.conftest import form_data
from tests.memory_site.editor.test_conflicts import merge_of
from tests.memory_site.editor.test_editing import W, edit, make
from worlds.models import Campaign, Party, World

TAM = f"{W}/npcs/tam-reed/edit/"
REVEALED = {"visibility": "revealed", "parties": ["party:lanternbearers"]}
BELONGS = {"campaign": "low-water"}
FIELDS: dict[str, dict[str, Any]] = {
    "title": {"title": "Old Tam"},
    "kind": {"kind": "place"},
    "status": {"status": "published"},
    "visibility": {"visibility": "public"},
    "parties": REVEALED,
    "npcs": {**REVEALED, "npcs": ["jory-fenn", "mira-voss"]},
    "body": {"body": "He rowed."},
    "aliases": {"aliases": ["Tam", "Там Рид"]},
    "tags": {"tags": ["north", "river"]},
    "folder": {"folder": "North"},
    "language": {"language": "ru"},
    "in_world_label": {"in_world_label": "A cold spring"},
    "in_world_at": {"in_world_at": "12"},
    "in_world_until_label": {"in_world_until_label": "The thaw"},
    "in_world_until": {"in_world_at": "12", "in_world_until": "15"},
    "campaign": BELONGS,
    "overrides": {**BELONGS, "overrides": "the-quay"},
    "author": {"author": "Bo"},
    "is_npc": {"is_npc": "on"},
    "role": {"role": "Ferryman"},
    "summary": {"summary": "An old man."},
    "faction": {"faction": "Tide Wardens"},
    "hides_faction": {"hides_faction": "on"},
    "home": {"home": "Ferrymark"},
    "family": {"family": ["brother: Jory Fenn", "mother: Selka Nobody-Knows"]},
    "voice": {"voice": "Hoarse."},
    "goals": {"goals": ["Rest."]},
    "play_now": {"play_now": ["Slow.", "Kind."]},
    "base": {"base": "12"},
    "reason": {"reason": "So I said."},
}
SHOWN_EMPTY = {"reason"}
HIDDEN = {"version", "npc_version"}


@pytest.fixture
def place(world: World, campaign: Campaign, lanternbearers: Party, mira: NPC, jory: NPC) -> Lore:
    """What the values of the fields name."""
    entry: Lore = Lore.objects.create(world=world, slug="the-quay", title="The Quay", kind="place")
    return entry


def shown(client: Client, name: str) -> Any:
    entry = Lore.objects.exclude(slug="the-quay").get()
    is_person = entry.kind == "biography" and NPC.objects.filter(biography=entry).exists()
    path = "npcs" if is_person else "lore"
    campaign = f"?campaign={entry.campaign.slug}" if entry.campaign and path == "lore" else ""
    return form_data(client.get(f"{W}/{path}/{entry.slug}/edit/{campaign}")).get(name)


def test_every_field_of_the_form_is_tried() -> None:
    assert {*FIELDS, *HIDDEN} == set(ThingForm.base_fields)


@pytest.mark.parametrize("name", FIELDS)
def test_a_new_thing_shows_what_was_written_in_each_field(
    master: Client, place: Lore, name: str
) -> None:
    response = make(master, "biography", "Tam Reed", **FIELDS[name])
    assert response.status_code == 302, response.context["form"].errors
    if name not in SHOWN_EMPTY:
        assert shown(master, name) == FIELDS[name][name]


@pytest.mark.parametrize("name", FIELDS)
def test_an_edited_thing_shows_it_and_is_saved_again(
    master: Client, place: Lore, name: str
) -> None:
    make(master, "biography", "Tam Reed")
    response = edit(master, "npcs/tam-reed", **FIELDS[name])
    assert response.status_code == 302, response.context["form"].errors
    if name not in SHOWN_EMPTY:
        assert shown(master, name) == FIELDS[name][name]


@pytest.mark.parametrize("name", ["family", "npcs", "overrides", "parties", "goals"])
def test_what_one_editor_wrote_in_a_list_stays_when_another_saves_later(
    master: Client, place: Lore, name: str
) -> None:
    make(master, "biography", "Tam Reed", **BELONGS)
    opened = form_data(master.get(TAM))
    assert master.post(TAM, {**opened, "folder": "North"}).status_code == 302
    page = master.post(TAM, {**opened, **FIELDS[name]})
    saved = master.post(TAM, merge_of(page))
    assert saved.status_code == 302, saved.context["form"].errors
    assert (shown(master, "folder"), shown(master, name)) == ("North", FIELDS[name][name])


def test_a_person_with_relatives_is_edited_in_another_field(master: Client, place: Lore) -> None:
    NPC.objects.filter(slug="mira-voss").update(
        family=[{"relation": "brother", "npc": "jory-fenn"}]
    )
    assert edit(master, "npcs/mira-voss", role="Spy").status_code == 302
    mira = NPC.objects.get(slug="mira-voss")
    assert (mira.role, mira.family) == ("Spy", [{"relation": "brother", "npc": "jory-fenn"}])


def test_a_wrong_line_of_the_family_is_refused_and_shown_again(master: Client, place: Lore) -> None:
    lines = ["brother: Jory Fenn", "neighbour: Mira Voss"]
    page = make(master, "biography", "Tam Reed", family=lines)
    assert page.status_code == 422
    assert "neighbour: Mira Voss" in page.context["form"].errors["family"][0]
    assert form_data(page)["family"] == lines
    assert not NPC.objects.filter(slug="tam-reed").exists()
