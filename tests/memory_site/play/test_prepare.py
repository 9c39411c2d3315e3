"""The Prepare page: what the last session left, and what the party does not know yet."""

from typing import Any

import pytest
from django.test import Client

from episodes import running_scenes
from episodes.prep_models import PrepNotes
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore
from memory_site.play.in_play import unknown_parts
from npcs.models import NPC, Secret
from npcs.page_queries import open_threads
from tests.conftest import ApiClient
from tests.memory_site.play.conftest import PLAY, PREPARE, make_entry
from worlds.audiences import Audience
from worlds.models import Character, Party, World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def evening(engine: ApiClient, lanternbearers: Party, mira: NPC, landing: Lore) -> None:
    """A session at the Lower Landing with Mira Voss, who thinks better of the party now."""
    summary = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "session_id": "s1",
        "where": "lower-landing",
        "who": {"players": [], "npcs": ["mira-voss"]},
        "loose_ends": ["Who paid Yeva Rill?"],
        "what": "They pulled eleven people out of the river.",
        "relations_delta": [{"npc": "mira-voss", "delta": 9, "reason": "They asked no pay."}],
    }
    assert engine.post("world/episodes", summary)[0] == 200


def read(client: Client) -> str:
    return client.get(PREPARE).content.decode()


def read_unknown(client: Client) -> str:
    """What the page fetches after it is shown."""
    return client.get(f"{PREPARE}unknown/").content.decode()


def unknown(party: Party) -> list[str]:
    scene = running_scenes.find_open_scene(party)
    return [each.part.text for each in unknown_parts(party, scene, list(open_threads(party)))]


def test_the_page_tells_what_was_and_who_cares(
    anna: Client, evening: None, engine: ApiClient
) -> None:
    steps = {"party_id": "lanternbearers", "title": "The stolen bell", "steps": [{"text": "Hm."}]}
    assert engine.post("world/threads/t-1/steps", steps)[0] == 200
    page = read(anna)
    for words in (
        "They pulled eleven people out",
        "They asked no pay.",
        "The stolen bell",
        "Who paid",
    ):
        assert words in page, words


def test_a_party_that_has_not_played_has_a_page(anna: Client, lanternbearers: Party) -> None:
    assert "Nothing is recorded yet." in read(anna)


def test_what_the_party_does_not_know_is_ranked_by_nearness(
    evening: None,
    engine: ApiClient,
    world: World,
    lanternbearers: Party,
    mira: NPC,
    jory: NPC,
    debt: Secret,
) -> None:
    far = make_entry(world, "Far Isle", body="Far.\n\n:::secret\nA king sleeps.\n:::")
    Secret.objects.create(world=world, npc=jory, text="He forges seals.")
    bell = make_entry(world, "Toll Bell", body="Gone.\n\n:::secret\nIt is in the river.\n:::")
    steps = {"party_id": "lanternbearers", "steps": [{"text": "Who has the Toll Bell?"}]}
    assert engine.post("world/threads/t-1/steps", steps)[0] == 200
    nodes = [
        GraphNode.objects.create(world=world, kind="Character", slug=npc.slug, name=npc.name)
        for npc in (mira, jory)
    ]
    GraphEdge.objects.create(
        world=world,
        src=nodes[0],
        dst=nodes[1],
        relation_id="KNOWS",
        src_kind="Character",
        dst_kind="Character",
    )
    found = unknown(lanternbearers)
    assert found.index("She owes the Tolls.") < found.index("It is in the river.")
    assert found.index("It is in the river.") < found.index("He forges seals.")
    assert "Slip nineteen is mined." in found
    assert "A king sleeps." not in found, "it is not in play"
    scene = running_scenes.open_scene(lanternbearers, place="Far Isle")
    assert scene.place_lore == far
    assert unknown(lanternbearers)[:2] == ["", "A king sleeps."], "the entry is hidden, too"
    assert bell.visibility == "gm"


def test_what_is_further_away_is_read_by_a_click(
    anna: Client, evening: None, lanternbearers: Party, mira: NPC, world: World
) -> None:
    lore = [make_entry(world, f"Pier {n}", body="Old.") for n in range(12)]
    for entry in lore:
        GraphNode.objects.create(
            world=world, kind="Location", slug=entry.slug, name=entry.title, lore=entry
        )
    summary = {
        "summary_id": "ep-2",
        "party_id": "lanternbearers",
        "session_id": "s1",
        "what": f"They saw {', '.join(entry.title for entry in lore)}.",
    }
    assert ApiClient(world).post("world/episodes", summary)[0] == 200
    page, all_of_them = read_unknown(anna), anna.get(f"{PREPARE}?further=1").content.decode()
    shown = [entry.title for entry in lore if f">{entry.title}</a></h3>" in page]
    assert 0 < len(shown) < len(lore)
    assert "Further away" in page
    assert all(f">{entry.title}</a></h3>" in all_of_them for entry in lore)


def test_what_the_party_does_not_know_is_read_after_the_rest_and_at_once_without_scripts(
    anna: Client, evening: None, lanternbearers: Party, debt: Secret
) -> None:
    page = read(anna)
    assert debt.text not in page
    assert f'href="{PREPARE}?further=1#unknown"' in page, "for a browser without scripts"
    assert debt.text in read_unknown(anna)
    assert debt.text in anna.get(f"{PREPARE}?further=1").content.decode()


def test_what_was_revealed_is_not_listed_and_what_others_know_is(
    evening: None, lanternbearers: Party, debt: Secret
) -> None:
    reveal(debt, Audience("npc", "jory-fenn"))
    assert "She owes the Tolls." in unknown(lanternbearers)
    reveal(debt, Audience("party", "lanternbearers"))
    assert "She owes the Tolls." not in unknown(lanternbearers)


def test_what_one_character_alone_knows_is_still_unknown_to_the_party(
    anna: Client, evening: None, world: World, lanternbearers: Party, debt: Secret
) -> None:
    for slug in ("nuri", "kade"):
        Character.objects.create(world=world, slug=slug, name=slug.title(), party=lanternbearers)
    assert 'value="character:nuri"' in read_unknown(anna)
    reveal(debt, Audience("character", "nuri"))
    assert "She owes the Tolls." in unknown(lanternbearers)
    reveal(debt, Audience("character", "kade"))
    assert "She owes the Tolls." not in unknown(lanternbearers), "all of its members know"


# --- notes


def save(client: Client, text: str, version: Any, **headers: str) -> Any:
    fields = {"text": text, "version": version}
    return client.post(PREPARE + "notes/", fields, headers=headers)


def test_notes_are_saved_and_shown_again(anna: Client, lanternbearers: Party) -> None:
    assert "The notes are saved." in save(anna, "Bring fog.", 0, **HTMX).content.decode()
    assert "Bring fog." in read(anna)
    assert save(anna, "Bring rain.", 1).status_code == 302
    row = PrepNotes.objects.get()
    assert (row.text, row.version, row.edited_by) == ("Bring rain.", 2, "anna")


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_two_people_do_not_overwrite_each_others_notes(
    anna: Client, lanternbearers: Party, headers: dict[str, str]
) -> None:
    save(anna, "Bring fog.", 0)
    page = save(anna, "Bring rain.", 0, **headers).content.decode()
    assert "Bring fog." in page
    assert "Bring rain." in page
    assert PrepNotes.objects.get().text == "Bring fog."
    save(anna, "Fog, then rain.", 1)
    assert PrepNotes.objects.get().text == "Fog, then rain."


@pytest.mark.parametrize(("text", "version"), [("a\0b", 0), ("x" * 50_001, 0), ("x", "soon")])
def test_notes_that_cannot_be_stored_are_given_back(
    anna: Client, lanternbearers: Party, text: str, version: Any
) -> None:
    page = save(anna, text, version, **HTMX).content.decode()
    assert 'role="alert"' in page
    assert not PrepNotes.objects.exclude(text="").exists()


def test_players_never_reach_the_page(pat: Client, lanternbearers: Party) -> None:
    assert pat.get(PREPARE).status_code == 404
    assert save(pat, "Mine.", 0).status_code == 404
    assert not PrepNotes.objects.exists()


def test_a_fact_for_game_masters_alone_is_unknown_until_it_is_revealed(
    evening: None, anna: Client, world: World, lanternbearers: Party, pat: Client
) -> None:
    common = {"world": world, "visibility": "public"}
    mira, _new = GraphNode.objects.get_or_create(
        world=world, slug="mira-voss", defaults={"kind": "Character", "name": "Mira Voss"}
    )
    GraphNode.objects.filter(pk=mira.pk).update(visibility="public")
    guild = GraphNode.objects.create(**common, kind="Faction", slug="guild", name="The Guild")
    hidden = {"world": world, "visibility": "gm", "src_kind": "Character", "dst_kind": "Faction"}
    fact = GraphEdge.objects.create(**hidden, src=mira, dst=guild, relation_id="PART_OF")
    assert "Mira Voss is part of The Guild" in unknown(lanternbearers)
    sent = {"kind": "graphedge", "id": fact.pk, "to": f"party:{lanternbearers.slug}"}
    answer = anna.post(PLAY + "reveal/", sent, headers=HTMX)
    assert answer.status_code == 200
    assert "Mira Voss is part of The Guild" not in unknown(lanternbearers)
    page = pat.get("/w/ferrymark/npcs/mira-voss/").content.decode()
    assert "is part of" in page


def test_a_fact_about_what_the_party_does_not_know_says_so(
    evening: None, anna: Client, world: World, lanternbearers: Party
) -> None:
    mira, _new = GraphNode.objects.get_or_create(
        world=world, slug="mira-voss", defaults={"kind": "Character", "name": "Mira Voss"}
    )
    GraphNode.objects.filter(pk=mira.pk).update(visibility="public")
    cult = GraphNode.objects.create(
        world=world, visibility="gm", kind="Faction", slug="cult", name="The Cult"
    )
    hidden = {"world": world, "visibility": "gm", "src_kind": "Character", "dst_kind": "Faction"}
    GraphEdge.objects.create(**hidden, src=mira, dst=cult, relation_id="PART_OF")
    page = read_unknown(anna)
    assert "Mira Voss is part of The Cult" in page
    assert "Lanternbearers does not know “The Cult” yet" in page
