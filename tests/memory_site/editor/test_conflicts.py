"""Two tabs with one thing on the site: the second save shows both texts, and the merge is saved."""

from typing import Any

import pytest
from django.test import Client

from knowledge.models import Lore
from npcs.models import NPC
from tests.memory_site.demo.browser_form import BrowserForm
from tests.memory_site.editor.conftest import form_data
from tests.memory_site.editor.test_editing import W, edit, make
from worlds.models import World

QUAY = f"{W}/lore/the-quay/edit/"
TAM = f"{W}/npcs/tam-reed/edit/"
BODY = "Wet.\n\nOld.\n\nQuiet."


def merge_of(page: Any) -> dict[str, Any]:
    assert page.status_code == 409
    form = BrowserForm(page.content.decode(), "conflict_form")
    assert form.is_found
    return dict(form.fields)


def test_of_two_editors_the_second_sees_both_texts_and_saves_the_merge(
    master: Client, world: World
) -> None:
    make(master, "place", "The Quay", body=BODY)
    opened = form_data(master.get(QUAY))
    master.post(QUAY, {**opened, "body": BODY.replace("Wet", "Damp"), "tags": ["north"]})
    page = master.post(QUAY, {**opened, "body": BODY.replace("Quiet", "Loud"), "folder": "Harbour"})
    assert Lore.objects.get().body.replace("\r\n", "\n") == BODY.replace("Wet", "Damp")
    shown = page.content.decode()
    assert "<del>Damp</del><ins>Wet</ins>" in shown
    assert "<del>Quiet</del><ins>Loud</ins>" in shown

    assert master.post(QUAY, merge_of(page)).status_code == 302
    entry = Lore.objects.get()
    assert entry.body.replace("\r\n", "\n") == "Damp.\n\nOld.\n\nLoud."
    assert (entry.tags, entry.folder, entry.version) == (["north"], "Harbour", 3)


def test_what_both_changed_stands_in_the_merge_twice(master: Client, world: World) -> None:
    make(master, "place", "The Quay", body="Wet.")
    opened = form_data(master.get(QUAY))
    master.post(QUAY, {**opened, "body": "Damp."})
    merged = merge_of(master.post(QUAY, {**opened, "body": "Dry."}))
    assert "Damp." in merged["body"][0]
    assert "Dry." in merged["body"][0]
    refused = master.post(QUAY, merged)
    assert refused.status_code == 422
    assert refused.context["form"].errors["body"][0].startswith("Line 1: ")
    assert Lore.objects.get().version == 2
    master.post(QUAY, {**merged, "body": "Damp, then dry."})
    assert Lore.objects.get().body == "Damp, then dry."


def test_while_the_merge_is_read_a_third_writer_is_noticed(master: Client, world: World) -> None:
    make(master, "place", "The Quay", body="Wet.")
    opened = form_data(master.get(QUAY))
    master.post(QUAY, {**opened, "body": "Damp."})
    merged = merge_of(master.post(QUAY, {**opened, "folder": "Harbour"}))
    edit(master, "lore/the-quay", body="Flooded.")
    assert master.post(QUAY, merged).status_code == 409
    assert Lore.objects.get().body == "Flooded."


@pytest.mark.parametrize("part", ["role", "goals"])
def test_two_editors_of_a_person_lose_neither_fields_nor_secrets(
    master: Client, world: World, part: str
) -> None:
    make(master, "biography", "Tam Reed", **{"secrets-0-text": "He owes."})
    opened = form_data(master.get(TAM))
    first = {**opened, "play_now": ["Quick, dry"], "secrets-1-text": "He is a spy."}
    assert master.post(TAM, first).status_code == 302
    page = master.post(TAM, {**opened, part: "Ferryman, at dusk"})
    assert getattr(NPC.objects.get(), part) in ("", [])
    assert master.post(TAM, merge_of(page)).status_code == 302
    npc = NPC.objects.get()
    assert getattr(npc, part) in ("Ferryman, at dusk", ["Ferryman, at dusk"])
    assert npc.play_now == ["Quick, dry"]
    assert set(npc.secrets.values_list("text", flat=True)) == {"He owes.", "He is a spy."}
