"""A program that changes a thing sends what it knows of it: the rest stays as people wrote it."""

from typing import Any

import pytest
from django.test import RequestFactory

from knowledge.graph.models import GraphNode
from knowledge.models import Lore, Rule
from npcs.models import NPC
from tests import cast
from tests.conftest import ApiClient
from worlds.models import Campaign, World
from worlds.schemas import WorldChange
from worlds.world_resource import change_world

pytestmark = pytest.mark.django_db

NPC_FIELDS: dict[str, Any] = {
    "npc_id": "mira-voss",
    "name": "Mira Voss",
    "aliases": ["Мира Восс"],
    "role": "Harbour clerk",
    "summary": "Ink on her cuffs.",
    "faction": "The Guild",
    "faction_visibility": "gm",
    "home": "Lower Landing",
    "family": [{"relation": "mother", "npc": "Selka"}],
    "voice": "Dry.",
    "goals": ["Page nine"],
    "secrets": ["The ninth boat was hers."],
    "play_now": ["Quick, dry"],
    "milestones": [{"text": "Clerk", "at": 3}],
    "language": "en",
    "base": -5,
    "half_life": 12,
    "visibility": "public",
    "known_to": ["party:lanternbearers"],
}


def values_of(model: Any, **key: Any) -> dict[str, Any]:
    changing = {"version", "updated_at", "rev", "name_keys", "role", "body"}
    [row] = model.objects.filter(**key).values()
    return {name: value for name, value in row.items() if name not in changing}


def test_what_is_not_sent_of_an_npc_stays(
    engine: ApiClient, world: World, lanternbearers: Any
) -> None:
    Lore.objects.create(world=world, slug="lower-landing", title="Lower Landing")
    status, answer = engine.put("world/npcs", {**NPC_FIELDS, "biography": "lower-landing"})
    assert status == 200, answer
    GraphNode.objects.filter(slug="mira-voss").update(since=1, until=411)
    before, secrets = values_of(NPC), list(NPC.objects.get().secrets.values_list("pk", "text"))
    npc = {"npc_id": "mira-voss", "name": "Mira Voss", "role": "Fugitive"}
    assert engine.put("world/npcs", npc)[1]["outcome"] == "changed"
    assert (values_of(NPC), NPC.objects.get().role) == (before, "Fugitive")
    assert list(NPC.objects.get().secrets.values_list("pk", "text")) == secrets
    node = GraphNode.objects.get(slug="mira-voss")
    assert (node.since, node.until) == (1, 411), "a dead NPC stays dead"
    assert engine.put("world/npcs", npc)[1]["outcome"] == "unchanged"
    engine.put("world/npcs", {**npc, "goals": [], "secrets": [], "home": ""})
    mira = NPC.objects.get()
    assert (mira.goals, mira.secrets.count(), mira.home, mira.home_lore) == ([], 0, "", None)
    assert mira.faction == "The Guild"


def test_what_is_not_sent_of_a_rule_stays(engine: ApiClient, campaign: Campaign) -> None:
    rule = {
        "rule_id": "house/fog",
        "title": "Fog",
        "body": "Wait.",
        "kind": "condition",
        "aliases": ["туман"],
        "breadcrumb": ["Weather"],
        "language": "en",
        "data": {"level": 3},
        "visibility": "gm",
        "campaign": campaign.slug,
    }
    assert engine.put("world/rules", rule)[0] == 200
    before = values_of(Rule, key="house/fog")
    change = {"rule_id": "house/fog", "title": "Fog", "body": "Wait longer."}
    assert engine.put("world/rules", change)[1]["outcome"] == "changed"
    assert values_of(Rule, key="house/fog") == before
    assert Rule.objects.get(key="house/fog").body == "Wait longer."


def test_what_is_not_sent_of_an_entry_stays(engine: ApiClient, world: World) -> None:
    cast.create_campaign(world)
    entry = {
        "title": "Quay",
        "slug": "quay",
        "body": "Wet.",
        "kind": "place",
        "aliases": ["부두"],
        "tags": ["wet"],
        "folder": "North",
        "origin": "obsidian:North/Quay.md",
        "extra": {"mood": "grey"},
        "in_world_at": 3,
        "in_world_label": "Third",
        "status": "published",
        "visibility": "public",
        "author": "Dana",
    }
    assert engine.put("world/lore", entry)[0] == 200
    before = values_of(Lore)
    assert engine.put("world/lore", {"title": "Quay", "slug": "quay", "body": "Dry."})[0] == 200
    assert (values_of(Lore), Lore.objects.get().body) == (before, "Dry.")


@pytest.mark.parametrize("title", ["노의 전당", "Зал вёсел", "⚓ ⚓"])
def test_an_entry_without_a_slug_is_locked_by_its_title_in_any_script(
    engine: ApiClient, title: str
) -> None:
    assert engine.put("world/lore", {"title": title, "body": "One."})[0] == 200
    entry = {"title": title, "body": "Two."}
    assert engine.put("world/lore", entry, **{"If-Match": '"7"'})[0] == 412
    status, answer = engine.put("world/lore", entry, **{"If-Match": '"1"'})
    assert (status, answer["outcome"], answer["version"]) == (200, "changed", 2)
    assert engine.put("world/lore", entry, **{"If-Match": '"1"'})[0] == 412
    assert Lore.objects.count() == 1


def test_what_others_changed_in_a_world_meanwhile_stays(world: World) -> None:
    read_before = World.objects.get(pk=world.pk)
    World.objects.filter(pk=world.pk).update(description="A town of ferries.")
    change_world(RequestFactory().patch("/"), read_before, WorldChange(name="Ferrymark"))
    assert World.objects.get(pk=world.pk).description == "A town of ferries."
