"""Open5e: pages of both versions of its API, lists, single objects; broken ones are named."""

from pathlib import Path
from typing import Any

import pytest

from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.open5e import is_open5e
from tests.memory_site.imports.uploads import drafts_by_title, formats_of, read_files

DOCUMENT = {
    "document__slug": "tolls",
    "document__title": "Book of Tolls",
    "document__license_url": "https://example.org/license",
    "document__url": "https://example.org/tolls",
}
EEL: dict[str, Any] = {
    "name": "Harbor Eel",
    "slug": "harbor-eel",
    "desc": "It eats rope.",
    "size": "Large",
    "type": "Beast",
    "subtype": "fish",
    "alignment": "unaligned",
    "armor_class": 13,
    "armor_desc": "natural armor",
    "hit_points": 22,
    "hit_dice": "3d10+6",
    "speed": {"walk": 5, "swim": 40, "hover": True},
    "strength": 16,
    "dexterity": 14,
    "constitution": 14,
    "intelligence": 2,
    "wisdom": 10,
    "charisma": 4,
    "dexterity_save": 4,
    "skills": {"stealth": 4},
    "damage_resistances": "cold",
    "senses": "darkvision 60 ft., passive Perception 10",
    "languages": "",
    "challenge_rating": "1",
    "cr": 1.0,
    "special_abilities": [{"name": "Slippery", "desc": "It escapes."}],
    "actions": [{"name": "Bite", "desc": "It bites.", "attack_bonus": 5}],
    "legendary_actions": None,
    "legendary_desc": "",
    "environments": ["coast"],
    "page_no": 12,
    **DOCUMENT,
}
CRAB = {
    "key": "tolls_crab",
    "url": "https://api.open5e.com/v2/creatures/tolls_crab/",
    "name": "Toll Crab",
    "document": {
        "key": "tolls",
        "name": "Book of Tolls",
        "publisher": {"name": "Ferry Press", "key": "ferry"},
        "permalink": "https://example.org/tolls",
    },
    "size": {"name": "Small", "key": "small"},
    "type": {"name": "Beast", "key": "beast"},
    "alignment": "unaligned",
    "armor_class": 15,
    "armor_detail": "shell",
    "hit_points": 7,
    "hit_dice": "2d6",
    "ability_scores": {"strength": 8, "dexterity": 14, "constitution": 10, "wisdom": 8},
    "saving_throws": {},
    "skill_bonuses": {"sleight_of_hand": 2},
    "resistances_and_immunities": {"damage_immunities_display": "poison"},
    "speed": {"unit": "feet", "walk": 30.0},
    "languages": {"as_string": "", "data": []},
    "darkvision_range": 60.0,
    "passive_perception": 9,
    "challenge_rating_text": "1/4",
    "traits": [{"name": "Shell", "desc": "Hard."}],
    "actions": [
        {"name": "Pinch", "desc": "It pinches.", "action_type": "ACTION"},
        {"name": "Snap", "desc": "It snaps.", "action_type": "REACTION"},
    ],
    "experience_points": 50,
}
SPELL = {
    "name": "Toll the Tide",
    "slug": "toll-the-tide",
    "desc": "The tide turns.",
    "higher_level": "It turns further.",
    "level": "3rd-level",
    "level_int": 3,
    "school": "evocation",
    "casting_time": "1 action",
    "range": "30 feet",
    "components": "V, M",
    "material": "a bell",
    "duration": "10 minutes",
    "concentration": "yes",
    "ritual": "no",
    "dnd_class": "Druid, Wizard",
    "archetype": "Circle of Salt",
    **DOCUMENT,
}
LANTERN = {
    "name": "Drowned Lantern",
    "slug": "drowned-lantern",
    "type": "Wondrous item",
    "desc": "It lights the depths.\r\n\r\nAt night.",
    "rarity": "rare",
    "requires_attunement": "requires attunement",
    **DOCUMENT,
}
SECTION = {
    "name": "Tides",
    "slug": "tides",
    "desc": "## Ebb\n\nIt goes.",
    "parent": "Rules/Sea",
    **DOCUMENT,
}


def page(*rows: Any) -> dict[str, Any]:
    return {"count": len(rows), "next": None, "previous": None, "results": [*rows]}


def test_a_page_of_monsters(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"monsters.json": page(EEL)})
    assert formats_of(reading) == {"monsters.json": "open5e"}
    assert reading.problems == []
    entry = reading.drafts[0].entry
    assert (entry.kind, entry.tags) == ("custom", ["monster", "beast"])
    assert entry.body.startswith("*Large Beast (fish), unaligned*\n\n|")
    for row in (
        "| **Armor Class** | 13 (natural armor) |",
        "| **Hit Points** | 22 (3d10+6) |",
        "| **Speed** | 5 ft., swim 40 ft. |",
        "| **Saving Throws** | Dexterity +4 |",
        "| **Skills** | Stealth +4 |",
        "| **Challenge** | 1 |",
        "| 16 (+3) | 14 (+2) | 14 (+2) | 2 (-4) | 10 (+0) | 4 (-3) |",
    ):
        assert row in entry.body
    assert "It eats rope.\n\n## Traits\n\n**Slippery.** It escapes." in entry.body
    assert entry.body.endswith("*Source: Book of Tolls, page 12, https://example.org/license*")
    assert entry.extra == {"environments": ["coast"]}


def test_a_creature_of_the_second_version(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"crab.json": CRAB})
    assert formats_of(reading) == {"crab.json": "open5e"}
    body = reading.drafts[0].entry.body
    assert body.startswith("*Small Beast, unaligned*")
    assert "| **Senses** | darkvision 60.0 ft., passive Perception 9 |" in body
    assert "| **Damage Immunities** | poison |" in body
    assert "| **Skills** | Sleight Of Hand +2 |" in body
    assert "## Actions\n\n**Pinch.** It pinches." in body
    assert "## Reactions\n\n**Snap.** It snaps." in body
    assert "Book of Tolls, Ferry Press, https://example.org/tolls" in body
    assert reading.drafts[0].entry.extra == {"experience_points": 50}


def test_spells_items_and_sections(tmp_path: Path) -> None:
    files = {"a.json": page(SPELL), "magicitems.json": [LANTERN], "sections.json": page(SECTION)}
    reading = read_files(tmp_path, files)
    assert set(formats_of(reading).values()) == {"open5e"}
    drafts = drafts_by_title(reading)
    spell, lantern, tides = (drafts[name] for name in ("Toll the Tide", "Drowned Lantern", "Tides"))
    assert "| **Level** | 3rd-level, evocation |" in spell.entry.body
    assert "| **Components** | V, M (a bell) |" in spell.entry.body
    assert "| **Duration** | concentration, 10 minutes |" in spell.entry.body
    assert "**At Higher Levels.** It turns further." in spell.entry.body
    assert spell.entry.extra == {"archetype": "Circle of Salt"}
    assert lantern.entry.kind == "item"
    assert "It lights the depths.\n\nAt night." in lantern.entry.body
    assert tides.folder == "Rules/Sea"
    assert tides.entry.body.startswith("## Ebb\n\nIt goes.")


def test_the_fields_of_other_things_are_facts_and_sections(tmp_path: Path) -> None:
    row = {
        "name": "Ferryman",
        "desc": "A trade.",
        "feature_desc": "x" * 500,
        "skill_proficiencies": "Athletics",
        **DOCUMENT,
    }
    body = read_files(tmp_path, {"backgrounds.json": page(row)}).drafts[0].entry.body
    assert "| **Skill proficiencies** | Athletics |" in body
    assert f"## Feature desc\n\n{'x' * 500}" in body


def test_rows_of_a_data_dump(tmp_path: Path) -> None:
    rows = [{"model": "api_v2.creature", "pk": "tolls_eel", "fields": EEL}]
    reading = read_files(tmp_path, {"Creature.json": rows})
    assert formats_of(reading) == {"Creature.json": "open5e"}
    assert reading.drafts[0].entry.origin == "open5e:harbor-eel"


BROKEN: list[Any] = [7, None, {"name": ""}, {**EEL, "name": "Odd", "actions": 5, "skills": "x"}]


def test_broken_rows_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"m.json": page(EEL, *BROKEN, {**EEL, "name": "Last"})})
    assert set(drafts_by_title(reading)) == {"Harbor Eel", "Odd", "Last"}
    assert [problem.file for problem in reading.errors] == ["m.json: 2", "m.json: 3", "m.json: 4"]


@pytest.mark.parametrize(
    "content",
    [[], {}, {"results": []}, {"results": 5}, [1, 2], [{"name": "a"}], {"a": {"results": [1]}}],
)
def test_other_json_is_not_taken_for_it(tmp_path: Path, content: Any) -> None:
    reading = read_files(tmp_path, {"x.json": content})
    assert formats_of(reading)["x.json"] != "open5e"


def test_a_list_is_recognised_by_its_address() -> None:
    row = b'[{"name": "A", "desc": "", "url": "https://api.open5e.com/v2/feats/a/"}]'
    assert is_open5e(SourceFile("x.json", len(row), lambda: row), Bundle()) > 0
