"""Whoever gives a thing a name that another one has is told, with a link to it; nothing is
refused."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from knowledge.entry_store import save_entry
from knowledge.links import claims_of_entry
from knowledge.models import Lore
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from npcs.models import NPC
from npcs.upsert import store_npc
from tests.conftest import ApiClient
from tests.memory_site.demo.browser_form import BrowserForm
from tests.memory_site.editor.conftest import member
from tests.memory_site.editor.test_editing import edit, make
from worlds.models import Campaign, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def ferry(world: World) -> Lore:
    entry = Lore(world=world, slug="north-ferry", title="North <Ferry>", aliases=["The Ferry"])
    save_entry(entry)
    return entry


def warnings_of(answer: Any) -> list[str]:
    return [str(each) for each in get_messages(answer.wsgi_request) if each.level_tag == "warning"]


def test_the_form_of_the_site_names_the_other_thing_with_a_link(
    world: World, ferry: Lore, mira: NPC
) -> None:
    store_npc(mira)
    master = member(world, "anna", role="gm")
    answer = make(master, "place", "South Ferry", aliases=["the ferry", "MIRA VOSS"])
    assert answer.status_code == 302
    [first, second] = warnings_of(answer)
    assert '<a href="/w/ferrymark/lore/north-ferry/">North &lt;Ferry&gt;</a>' in first
    assert '<a href="/w/ferrymark/npcs/mira-voss/">Mira Voss</a>' in second
    assert Lore.objects.get(slug="south-ferry").aliases == ["the ferry", "MIRA VOSS"]
    assert warnings_of(edit(master, "lore/south-ferry", body="Wet.")) == []
    person = make(master, "biography", "Mira", aliases=["Мира Восс"])
    assert ["mira-voss" in each for each in warnings_of(person)] == [True]


def test_the_admin_names_it(admin_client: Client, ferry: Lore, mira: NPC) -> None:
    store_npc(mira)
    other = Lore(world=ferry.world, slug="quay", title="Quay")
    save_entry(other)
    for row, form_id, field in ((other, "lore_form", "aliases"), (mira, "npc_form", "aliases")):
        url = f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"
        form = BrowserForm(admin_client.get(url).content.decode(), form_id)
        answer = admin_client.post(url, {**form.fields, field: ["The Ferry"]})
        assert answer.status_code == 302
        assert any("lore/north-ferry/" in each for each in warnings_of(answer)), row


def test_the_answer_of_the_api_names_it(engine: ApiClient, ferry: Lore) -> None:
    entry = {"slug": "south", "title": "South Ferry", "aliases": ["The Ferry"]}
    status, answer = engine.put("world/lore", entry)
    assert (status, answer["outcome"]) == (200, "created")
    assert ["The Ferry" in each and "North <Ferry>" in each for each in answer["warnings"]] == [
        True
    ]
    npc = {"npc_id": "tam", "name": "Tam", "aliases": ["South Ferry"]}
    status, answer = engine.put("world/npcs", npc)
    assert (status, len(answer["warnings"])) == (200, 1)
    assert engine.put("world/lore", {"slug": "hill", "title": "Hill"})[1]["warnings"] == []


def test_a_thing_and_what_replaces_it_in_a_campaign_share_their_names(
    ferry: Lore, campaign: Campaign
) -> None:
    own = {"world": ferry.world, "campaign": campaign, "title": ferry.title}
    overlay = Lore(**own, slug="north-ferry", overrides=ferry, aliases=["The Ferry"])
    addition = Lore(**own, slug="new-ferry")
    for entry in (overlay, addition):
        save_entry(entry)
    assert [claim.thing.slug for claim in claims_of_entry(overlay)] == ["new-ferry"]
    assert [claim.thing.slug for claim in claims_of_entry(addition)] == ["north-ferry"]
    assert claims_of_entry(ferry) == []


def test_the_report_of_an_import_lists_names_that_the_world_has(
    world: World, ferry: Lore, tmp_path: Path
) -> None:
    (tmp_path / "South Ferry.md").write_text("---\naliases: [The Ferry]\n---\nWet.", "utf-8")
    (tmp_path / "Hill.md").write_text("High.", "utf-8")
    for _again in range(2):
        report = import_path(world, tmp_path, ImportOptions(), dry_run=False)
        notes = [each for each in report.problems if "The Ferry" in each.message]
        assert [(each.file, each.is_error) for each in notes] == [("South Ferry.md", False)]
        assert "North <Ferry>" in notes[0].message
    assert Lore.objects.filter(title="South Ferry").count() == 1
