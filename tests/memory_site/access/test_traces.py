"""What is hidden leaves no trace in what is stored and shown of the rest."""

from typing import Any

import pytest

from episodes.models import Episode
from knowledge.models import Lore, LorePassage, Rule
from memory_site.after_migrations import cut_texts_with_secrets
from tests.conftest import ApiClient
from tests.people import member
from worlds.models import Party, World

pytestmark = pytest.mark.django_db

BODY = "The inn at the pier.\n\n:::secret\n{}\n:::\n\nIt smells of eel."


@pytest.mark.parametrize("kind", ["lore", "rules"])
def test_a_hidden_text_in_another_language_does_not_change_the_language(
    engine: ApiClient, kind: str
) -> None:
    hidden = "Хозяин постоялого двора давно мёртв, и никто в городе об этом не знает."
    entry = {"title": "Inn", "body": BODY.format(hidden)}
    if kind == "rules":
        entry["rule_id"] = "house/inn"
    status, answer = engine.put(f"world/{kind}", entry)
    assert status < 300, answer
    model: Any = Rule if kind == "rules" else Lore
    assert model.objects.get().language == "en"


def test_a_hidden_part_of_an_episode_does_not_change_its_language(
    engine: ApiClient, lanternbearers: Party
) -> None:
    told = "They slept at the inn. :::secret Хозяин постоялого двора давно мёртв. :::"
    entry = {"summary_id": "inn", "party_id": "lanternbearers", "what": told}
    assert engine.post("world/episodes", entry)[0] < 300
    assert Episode.objects.get().language == "en"


def test_a_retracted_episode_is_there_for_game_masters_alone(
    engine: ApiClient, lanternbearers: Party
) -> None:
    told = {"summary_id": "inn", "party_id": "lanternbearers", "what": "They slept at the inn."}
    engine.post("world/episodes", told)
    world = lanternbearers.world
    player = member(world, "pat", role="player", party=lanternbearers)
    page = f"/w/{world.slug}/episodes/inn/"
    assert player.get(page).status_code == 200
    engine.post("world/episodes/inn/retract", {"reason": "It was a dream."})
    assert player.get(page).status_code == 404
    assert member(world, "gus", role="gm").get(page).status_code == 200
    assert engine.get("world/episodes/inn")[0] == 200


def test_texts_from_before_are_cut_anew(engine: ApiClient, world: World) -> None:
    engine.put("world/lore", {"title": "Inn", "body": BODY.format("A trapdoor."), "kind": "place"})
    entry, passages = Lore.objects.get(), LorePassage.objects.order_by("position")
    texts = [passage.text for passage in passages]
    # Cut as it was before: at the place of the secret.
    LorePassage.objects.filter(text=texts[0]).update(text="The inn at the pier.")
    LorePassage.objects.create(lore=entry, world=world, position=9, text="It smells of eel.")
    cut_texts_with_secrets()
    assert [passage.text for passage in passages.all()] == texts
    assert texts[0] == "The inn at the pier.\n\nIt smells of eel."
