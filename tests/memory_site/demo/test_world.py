"""The demo world is sound: it is what the product is shown with, so nothing in it may point nowhere
or leak.
"""

from collections import Counter

import pytest

from memory_site.demo.world_files import DemoWorld, read_world
from retrieval.text import without_secrets
from tests.memory_site.demo.consistency import contradictions, problems, secrets


@pytest.fixture(scope="module")
def world() -> DemoWorld:
    return read_world()


def test_nothing_is_wrong_with_the_world(world: DemoWorld) -> None:
    assert problems(world) == []


def test_there_is_enough_of_everything(world: DemoWorld) -> None:
    languages = Counter(entry.language for entry in world.lore.values())
    assert len(world.lore) >= 40
    assert languages["ru"] >= 5
    assert languages["ko"] >= 4
    assert {entry.kind for entry in world.lore.values()} == {
        "place",
        "faction",
        "biography",
        "timeline",
        "event",
        "item",
        "custom",
    }
    assert len(world.npcs) == 12
    assert [party.slug for party in world.setting.parties] == ["lanternbearers", "gilded-oath"]
    assert len(world.sessions) == 3
    assert all(3 <= len(session.scenes) <= 5 for session in world.sessions)
    assert len(world.facts) >= 120
    assert 8 <= len(world.art) <= 10


def test_both_parties_play_in_every_session(world: DemoWorld) -> None:
    for session in world.sessions:
        assert {played.scene.party_id for played in session.scenes} == {
            "lanternbearers",
            "gilded-oath",
        }


def test_secrets_exist_for_the_gm_and_for_parties(world: DemoWorld) -> None:
    known_to = [each for entry in world.lore.values() for _text, each in secrets(entry)]
    assert len(known_to) >= 20
    assert ["party:gilded-oath"] in known_to
    assert {entry.visibility for entry in world.lore.values()} == {"public", "gm", "revealed"}


def test_secret_text_is_not_in_the_open_text(world: DemoWorld) -> None:
    for entry in world.lore.values():
        open_text = without_secrets(entry.body)
        assert ":::" not in open_text
        assert not any(text in open_text for text, _known_to in secrets(entry))


def test_one_party_loves_and_the_other_hates_jory_fenn(world: DemoWorld) -> None:
    feeling: Counter[str] = Counter()
    for played in world.scenes:
        for change in played.episode.relations_delta:
            if change.npc == "jory-fenn":
                feeling[played.episode.party_id] += change.delta
    assert feeling["lanternbearers"] >= 36
    assert feeling["gilded-oath"] <= -36


def test_exactly_one_contradiction_is_planted(world: DemoWorld) -> None:
    (pair,) = contradictions(world)
    assert {fact.dst for fact in pair} == {"ferrymens-guild", "house-brackwen"}
    assert {fact.src for fact in pair} == {"ninefold-oar"}


def test_names_are_known_in_three_scripts(world: DemoWorld) -> None:
    ranges = {"ru": ("а", "я"), "ko": ("가", "힣")}
    for npc in world.npcs.values():
        text = "".join(npc.aliases)
        found = {
            name
            for name, (first, last) in ranges.items()
            if any(first <= letter <= last for letter in text)
        }
        assert found == {"ru", "ko"}, npc.slug


def with_body(world: DemoWorld, slug: str, body: str) -> DemoWorld:
    entry = world.lore[slug].model_copy(update={"body": body})
    return world.model_copy(update={"lore": {**world.lore, slug: entry}})


def test_a_hidden_entry_named_in_the_open_is_noticed(world: DemoWorld) -> None:
    leaky = with_body(world, "the-sallow", "They say [[Quiet Water]] runs it.")
    assert problems(leaky) == ["the-sallow is public and names the hidden quiet-water in the open"]


def test_a_link_to_nowhere_is_noticed(world: DemoWorld) -> None:
    broken = with_body(world, "the-sallow", "See [[Atlantis]].")
    assert problems(broken) == ["the-sallow links to 'atlantis', which is no entry"]
