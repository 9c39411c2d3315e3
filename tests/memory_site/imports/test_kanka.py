"""Kanka: what an export of today holds beside texts, and what of it players may see."""

from pathlib import Path
from typing import Any

import pytest

from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge
from knowledge.graph.protocol import View
from knowledge.importers.drafts import LoreDraft
from knowledge.models import Lore, LorePassage
from npcs.models import NPC
from tests.memory_site.imports.uploads import (
    PIXEL,
    Files,
    drafts_by_title,
    formats_of,
    import_files,
    read_files,
)
from worlds.audiences import PUBLIC
from worlds.models import World

ADMINS = 2
PORTRAIT, SECRET_MAP = "aaaa-1111", "bbbb-2222"


def entity(row_id: int, name: str, entry: str = "", **fields: Any) -> dict[str, Any]:
    """An entity as Kanka exports it. `shared` is what all modules have; its id is 1000 higher."""
    private = int(fields.pop("private", False))
    shared = {"id": 1000 + row_id, "entity_id": row_id, "name": name, "is_private": private}
    return {
        "id": row_id,
        "name": name,
        "entry": entry,
        "type": None,
        "is_private": private,
        **fields,
        "entity": shared | fields.pop("shared", {}),
    }


def gallery_row(picture: str, visibility: int) -> dict[str, Any]:
    return {"id": picture, "ext": "png", "is_folder": 0, "visibility_id": visibility}


MIRA = entity(
    1,
    "Mira",
    "<p>Keeps the ledger of [location:1021]. Fears [character:1002], or "
    "[character:1002|a voice]. See [organisation:1031|anchor:dues].</p>",
    age="34",
    is_dead=1,
    location_id=None,
    characterTraits=[
        {"name": "Hair", "entry": "Grey", "section_id": 1, "is_private": 0},
        {"name": "Scar", "entry": "Branded", "section_id": 1, "is_private": 1},
        {"name": "Fear", "entry": "Water", "section_id": 2, "is_private": 0},
        {"name": "Lover", "entry": "The judge", "section_id": 2, "is_private": 1},
    ],
    characterFamilies=[
        {"family_id": 41, "is_private": 0},
        {"family_id": 42, "is_private": 1},
    ],
    characterRaces=[{"race_id": 51}],
    organisationMemberships=[{"organisation_id": 31, "role": "Clerk", "is_private": 0}],
    shared={
        "image_uuid": PORTRAIT,
        "header_uuid": SECRET_MAP,
        "entityTags": [{"tag_id": 61}, {"tag_id": 62}],
        "entityLocations": [{"location_id": 21}],
        "assets": [
            {"type_id": 3, "name": "Ink", "visibility_id": 1},
            {"type_id": 3, "name": "The Forger", "visibility_id": ADMINS},
            {"type_id": 2, "name": "Wiki", "metadata": {"url": "https://example.org"}},
        ],
        "entityAttributes": [
            {"name": "Rank", "value": "Third", "is_private": 0, "type_id": 1},
            {"name": "Sworn", "value": "1", "is_private": 0, "type_id": 3},
            {"name": "True name", "value": "Ysolt", "is_private": 1, "type_id": 1},
            {"name": "Price", "value": "Six bells", "is_hidden": 1, "type_id": 1},
        ],
        "inventories": [
            {"item_id": 71, "amount": 2, "visibility_id": 1, "description": "Worn"},
            {"item_id": None, "name": "Poison", "amount": 1, "visibility_id": ADMINS},
        ],
        "abilities": [{"ability_id": 81, "note": "At dusk", "visibility_id": 1}],
    },
)
QUEST = entity(
    91,
    "The missing coin",
    instigator_id=1001,
    date="1203-4-2",
    elements=[
        {"entity_id": 1001, "role": "Witness", "description": "<p>Saw it.</p>"},
        {"entity_id": 1002, "role": "Culprit", "description": "Did it.", "visibility_id": ADMINS},
        {"entity_id": None, "name": "A ledger", "role": None, "description": None},
    ],
)
CHRONICLE = entity(
    95,
    "Chronicle",
    eras=[{"id": 7, "name": "Age of Bells", "start_year": 1, "end_year": 900, "entry": "Bells."}],
    elements=[
        {"era_id": 7, "name": "The pact", "entry": "Sworn.", "visibility_id": 2, "position": 2},
        {"era_id": 7, "name": "Founding", "date": "1 AB", "entry": "Walls.", "position": 1},
        {"era_id": 7, "entity_id": 1002, "entry": "A voice.", "position": 3},
    ],
)
FILES: Files = {
    "campaign.json": {"id": 7, "name": "Carrow", "entry": "<p>Wet.</p>", "locale": "en"},
    "settings/custom-modules.json": [{"id": 35, "code": "ship", "singular": "Ship"}],
    f"gallery/{PORTRAIT}.json": gallery_row(PORTRAIT, 1),
    f"gallery/{SECRET_MAP}.json": gallery_row(SECRET_MAP, ADMINS),
    f"gallery/{PORTRAIT}.png": PIXEL,
    f"gallery/{SECRET_MAP}.png": PIXEL + b" ",
    "characters/mira.json": MIRA,
    "characters/whisperer.json": entity(2, "The Whisperer", "[location:1022] is mine.", private=1),
    "locations/carrow.json": entity(21, "Carrow", location_id=None),
    "locations/vault.json": entity(22, "The Vault", private=1, location_id=21),
    "organisations/guild.json": entity(31, "Guild"),
    "families/voss.json": entity(41, "House Voss"),
    "families/korr.json": entity(42, "House Korr"),
    "races/tidefolk.json": entity(51, "Tidefolk"),
    "tags/clerks.json": entity(61, "Clerks"),
    "tags/traitors.json": entity(62, "Traitors", private=1),
    "items/seal.json": entity(71, "Seal", character_id=1, price="10"),
    "abilities/lies.json": entity(81, "Hear lies"),
    "creatures/eel.json": entity(85, "Mire eel"),
    "quests/coin.json": QUEST,
    "timelines/chronicle.json": CHRONICLE,
    "ship_35/heron.json": {
        "entity": {"id": 1200, "entity_id": None, "name": "Heron", "entry": "A barge."}
    },
}


@pytest.fixture
def drafts(tmp_path: Path) -> dict[str, LoreDraft]:
    return drafts_by_title(read_files(tmp_path, FILES))


@pytest.fixture
def imported(world: World, tmp_path: Path) -> World:
    import_files(world, tmp_path, FILES)
    return world


def seen_by_players() -> str:
    return " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))


def relations_of(draft: LoreDraft) -> set[tuple[str, str, bool]]:
    return {(each.words, each.target, each.private) for each in draft.relations}


def test_every_file_of_an_export_is_known_and_the_campaign_is_no_entry(tmp_path: Path) -> None:
    reading = read_files(tmp_path, FILES)
    assert set(formats_of(reading).values()) == {"kanka", "picture"}
    assert [problem for problem in reading.problems if problem.is_error] == []
    assert [draft.where for draft in reading.drafts if draft.entry.title == "Carrow"] == [
        "locations/carrow.json"
    ]


def test_a_person_brings_families_race_places_tags_and_other_names(
    drafts: dict[str, LoreDraft],
) -> None:
    mira = drafts["Mira"]
    assert relations_of(mira) == {
        ("member: Clerk", "Guild", False),
        ("member of", "House Voss", False),
        ("member of", "House Korr", True),
        ("race", "Tidefolk", False),
        ("lives in", "Carrow", False),
    }
    assert (mira.entry.aliases, mira.entry.tags) == (["Ink"], ["Clerks"])
    assert mira.entry.extra["tags"] == ["Traitors"]
    assert mira.person
    assert (mira.person.home, mira.person.faction) == ("Carrow", "Guild")
    assert mira.person.summary == "- Hair: Grey"


def test_attributes_inventory_and_abilities_are_text(drafts: dict[str, LoreDraft]) -> None:
    body = drafts["Mira"].entry.body
    for line in (
        *("| **Age** | 34 |", "| **Is dead** | yes |", "| **Rank** | Third |"),
        *("| **Sworn** | yes |", "- 2 × [[Seal]]: Worn", "- [[Hear lies]]: At dusk"),
    ):
        assert line in body


def test_portrait_and_header_come_from_the_gallery(drafts: dict[str, LoreDraft]) -> None:
    found = [(each.file, each.is_portrait, each.is_hidden) for each in drafts["Mira"].pictures]
    assert found == [
        (f"gallery/{PORTRAIT}.png", True, False),
        (f"gallery/{SECRET_MAP}.png", False, True),
    ]


def test_a_quest_names_who_is_in_it(drafts: dict[str, LoreDraft]) -> None:
    quest = drafts["The missing coin"]
    assert quest.entry.in_world_label == "1203-4-2"
    assert "- [[Mira]] (Witness): Saw it.\n- A ledger\n" in quest.entry.body
    assert relations_of(quest) == {
        ("given by", "Mira", False),
        ("involves", "Mira", False),
        ("involves", "The Whisperer", True),
    }


def test_a_timeline_has_its_eras_in_order(drafts: dict[str, LoreDraft]) -> None:
    assert drafts["Chronicle"].entry.body == (
        "## Age of Bells (1–900)\n\nBells.\n\n### Founding (1 AB)\n\nWalls.\n\n"
        ":::secret\n### The pact\n\nSworn.\n:::\n\n"
        "### ???\n\nA voice.\n\n:::secret\n## Hidden names\n\n- [[The Whisperer]]: ???\n:::"
    )


def test_modules_of_the_campaign_are_kinds_of_their_own(drafts: dict[str, LoreDraft]) -> None:
    heron = drafts["Heron"]
    assert (heron.entry.body, heron.template, heron.relations) == ("A barge.", "Ship", ())


def test_what_a_field_of_the_npc_states_is_one_relation(imported: World) -> None:
    edges = GraphEdge.objects.believed_now().filter(src__name="Mira", dst__name="Carrow")
    assert list(edges.values_list("label", flat=True)) == ["lives in"]


def test_words_that_say_what_the_relation_says_are_no_label(imported: World) -> None:
    edge = GraphEdge.objects.believed_now().get(src__name="Seal", dst__name="Mira")
    assert (edge.relation_id, edge.label) == ("OWNED_BY", "")


def test_a_species_is_no_person(imported: World) -> None:
    assert Lore.objects.get(title="Mire eel").kind == "custom"
    assert not NPC.objects.filter(name="Mire eel").exists()


def test_players_see_nothing_that_kanka_hides(imported: World) -> None:
    seen = seen_by_players()
    for shown in ("Water", "Third", "Saw it", "Walls", "a voice", "Worn"):
        assert shown in seen
    for hidden in (
        *("Branded", "judge", "Ysolt", "Six bells", "Poison", "Culprit", "pact", "Sworn."),
        *("Whisperer", "Vault", "Forger", "Traitors", "anchor:"),
    ):
        assert hidden not in seen
    mira = NPC.objects.get(name="Mira")
    assert (mira.summary, "The Forger" in mira.aliases) == ("- Hair: Grey", False)
    known = View(imported, PUBLIC).facts().filter(src__name="Mira", source_kind="import")
    assert "House Korr" not in known.values_list("dst__name", flat=True)
    assert GraphEdge.objects.filter(src__name="Mira", dst__name="House Korr").exists()


def test_the_name_of_a_private_entity_stays_out_of_open_texts(tmp_path: Path) -> None:
    reading = read_files(tmp_path, FILES)
    drafts = drafts_by_title(reading)
    assert drafts["Mira"].entry.body.startswith(
        "Keeps the ledger of [[Carrow]]. Fears ???, or a voice. See [[Guild]]."
    )
    assert drafts["Mira"].entry.body.endswith(
        ":::secret\n## Hidden names\n\n- [[The Whisperer]]: a voice\n:::"
    )
    assert drafts["The Whisperer"].entry.body == "[[The Vault]] is mine."
    notes = {problem.file: problem.message for problem in reading.problems}
    assert "The Whisperer" in notes["characters/mira.json"]


@pytest.mark.parametrize(
    ("origin", "body"),
    [("", "A rumour."), ("worldanvil:7", "A rumour."), ("kanka:old", "[[The Vault]] is mine.")],
)
def test_a_private_entity_does_not_replace_what_players_see(
    world: World, tmp_path: Path, origin: str, body: str
) -> None:
    save_entry(
        Lore(
            world=world,
            slug="the-whisperer",
            title="The Whisperer",
            body="A rumour.",
            origin=origin,
            status="published",
            visibility="public",
        )
    )
    report = import_files(world, tmp_path, FILES)
    assert Lore.objects.get(slug="the-whisperer").body == body
    notes = [str(problem) for problem in report.problems if "players see an entry" in str(problem)]
    assert len(notes) == (body == "A rumour.")
