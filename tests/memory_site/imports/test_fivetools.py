"""5e.tools: creatures with their statistics, spells, items and chapters; tags are words and links;
broken files are named and leave the rest alone."""

import time
from pathlib import Path
from typing import Any

import pytest

from knowledge.importers.files import Bundle
from knowledge.importers.fivetools_text import EntryTreeWriter
from knowledge.importers.markup import PictureCollector
from knowledge.models import Lore
from npcs.models import NPC
from tests.memory_site.imports.uploads import (
    PIXEL,
    drafts_by_title,
    formats_of,
    import_files,
    read_files,
)
from worlds.models import World

EEL: dict[str, Any] = {
    "name": "Harbor Eel",
    "source": "TOLL",
    "page": 12,
    "size": ["L"],
    "type": {"type": "beast", "tags": ["fish"]},
    "alignment": ["U"],
    "ac": [{"ac": 13, "from": ["natural armor"]}],
    "hp": {"average": 22, "formula": "3d10 + 6"},
    "speed": {"walk": 5, "swim": 40},
    "str": 16,
    "dex": 14,
    "con": 14,
    "int": 2,
    "wis": 10,
    "cha": 4,
    "skill": {"stealth": "+4"},
    "resist": ["cold", {"resist": ["piercing"], "note": "from nonmagical attacks"}],
    "senses": ["darkvision 60 ft."],
    "passive": 10,
    "cr": "1",
    "trait": [{"name": "Slippery", "entries": ["It escapes {@condition grappled|PHB} eels."]}],
    "action": [
        {
            "name": "Bite",
            "entries": ["{@atk mw} {@hit 5} to hit. {@h}7 ({@damage 1d8 + 3}) damage, {@dc 13}."],
        }
    ],
    "environment": ["coastal"],
}
WARDEN = {
    "name": "Mira Voss",
    "source": "TOLL",
    "isNpc": True,
    "_copy": {
        "name": "Harbor Eel",
        "source": "TOLL",
        "_mod": {"*": {"mode": "replaceTxt", "replace": "It", "with": "Mira"}},
    },
    "alignment": ["L", "G"],
}
LANTERN = {
    "name": "Drowned Lantern",
    "source": "TOLL",
    "type": "LA|PHB",
    "rarity": "rare",
    "reqAttune": "by a {@creature harbor eel|TOLL}",
    "entries": ["Lights {@creature harbor eel|TOLL|the eel} and {@creature kraken}."],
}
SPELL = {
    "name": "Toll the Tide",
    "source": "TOLL",
    "level": 3,
    "school": "V",
    "time": [{"number": 1, "unit": "action"}],
    "range": {"type": "cone", "distance": {"type": "feet", "amount": 30}},
    "components": {"v": True, "m": {"text": "a bell"}},
    "duration": [
        {"type": "timed", "concentration": True, "duration": {"type": "minute", "amount": 10}}
    ],
    "entries": [
        "Deals {@damage 6d6}.",
        {"type": "list", "items": ["one", {"type": "item", "name": "Two", "entry": "two"}]},
    ],
    "entriesHigherLevel": [{"type": "entries", "name": "At Higher Levels", "entries": ["More."]}],
}
HOMEBREW = {
    "_meta": {
        "sources": [
            {
                "json": "TOLL",
                "full": "Book of Tolls",
                "authors": ["Ana Ruiz"],
                "license": "CC BY 4.0",
            }
        ]
    },
    "monster": [EEL, WARDEN],
    "monsterFluff": [{"name": "Harbor Eel", "source": "TOLL", "entries": ["It eats rope."]}],
    "item": [LANTERN],
    "spell": [SPELL],
}
ADVENTURE = {
    "data": [
        {
            "type": "section",
            "name": "The Quay",
            "page": 3,
            "id": "000",
            "entries": [
                "Meet {@creature Mira Voss|TOLL}.",
                {"type": "insetReadaloud", "entries": ["Fog. So much fog."]},
                {
                    "type": "table",
                    "caption": "Catch",
                    "colLabels": ["d4", "Fish"],
                    "rows": [
                        [{"type": "cell", "roll": {"min": 1, "max": 3}}, "Cod"],
                        ["4", "{@creature harbor eel|TOLL}"],
                    ],
                },
                {"type": "entries", "name": "Below", "entries": ["Wet."]},
                {"type": "image", "href": {"type": "internal", "path": "img/quay.png"}},
            ],
        },
        {"type": "section", "name": "The Tower", "entries": ["Tall."]},
    ]
}
INDEX = {"adventure": [{"name": "Low Water", "id": "LW", "source": "LW", "storyline": "Tolls"}]}


def text_of(entry: Any, **names: str) -> str:
    return EntryTreeWriter(names, PictureCollector(Bundle())).write(entry)


class TestAHomebrewFile:
    def test_it_is_recognised_and_a_creature_has_a_table_of_its_statistics(
        self, tmp_path: Path
    ) -> None:
        reading = read_files(tmp_path, {"tolls.json": HOMEBREW})
        assert formats_of(reading) == {"tolls.json": "fivetools"}
        assert reading.problems == []
        eel = drafts_by_title(reading)["Harbor Eel"].entry
        assert eel.kind == "custom"
        assert eel.tags == ["monster", "beast"]
        assert "*Large beast (fish), unaligned*" in eel.body
        for row in (
            "| **Armor Class** | 13 (natural armor) |",
            "| **Hit Points** | 22 (3d10 + 6) |",
            "| **Speed** | 5 ft., swim 40 ft. |",
            "| **Damage Resistances** | cold, piercing from nonmagical attacks |",
            "| **Senses** | darkvision 60 ft., passive Perception 10 |",
            "| 16 (+3) | 14 (+2) | 14 (+2) | 2 (-4) | 10 (+0) | 4 (-3) |",
        ):
            assert row in eel.body
        assert "**Slippery.** It escapes grappled eels." in eel.body
        assert (
            "**Bite.** *Melee Weapon Attack:* +5 to hit. *Hit:* 7 (1d8 + 3) damage, DC 13."
            in eel.body
        )
        assert "## Lore\n\nIt eats rope." in eel.body
        assert eel.body.endswith("*Source: Book of Tolls, page 12, Ana Ruiz, CC BY 4.0*")
        assert eel.extra == {"environment": ["coastal"]}

    def test_a_named_creature_is_an_npc_with_what_it_copies(
        self, world: World, tmp_path: Path
    ) -> None:
        import_files(world, tmp_path, {"tolls.json": HOMEBREW})
        mira = NPC.objects.get()
        assert (mira.name, mira.summary) == ("Mira Voss", "Large beast (fish), lawful good")
        body = Lore.objects.get(title="Mira Voss").body
        assert "Based on Harbor Eel (TOLL)." in body
        assert "**Slippery.** Mira escapes grappled eels." in body

    def test_a_tag_links_to_what_the_upload_has_and_is_words_otherwise(
        self, tmp_path: Path
    ) -> None:
        drafts = drafts_by_title(read_files(tmp_path, {"tolls.json": HOMEBREW}))
        lantern = drafts["Drowned Lantern"].entry
        assert lantern.kind == "item"
        assert "Lights [[Harbor Eel|the eel]] and kraken." in lantern.body
        assert "| **Type** | light armor |" in lantern.body

    def test_a_spell_tells_how_it_is_cast(self, tmp_path: Path) -> None:
        body = drafts_by_title(read_files(tmp_path, {"a.json": HOMEBREW}))[
            "Toll the Tide"
        ].entry.body
        assert "| **Level** | level 3 evocation |" in body
        assert "| **Range** | 30 feet (cone) |" in body
        assert "| **Components** | V, M (a bell) |" in body
        assert "| **Duration** | concentration, up to 10 minutes |" in body
        assert "Deals 6d6.\n\n- one\n- **Two.** two\n\n### At Higher Levels\n\nMore." in body


def test_chapters_of_an_adventure_are_entries_in_a_folder_of_its_name(tmp_path: Path) -> None:
    files = {
        "adventures.json": INDEX,
        "adventure-lw.json": ADVENTURE,
        "bestiary.json": {"monster": [EEL, WARDEN]},
        "img/quay.png": PIXEL,
    }
    reading = read_files(tmp_path, files)
    assert not reading.problems
    quay = drafts_by_title(reading)["The Quay"]
    assert (quay.folder, quay.entry.kind, quay.template) == ("Low Water", "quest", "adventure")
    assert "Meet [[Mira Voss]]." in quay.entry.body
    assert "> Fog. So much fog." in quay.entry.body
    assert "| 1–3 | Cod |\n| 4 | [[Harbor Eel\\|harbor eel]] |" in quay.entry.body
    assert "## Below\n\nWet." in quay.entry.body
    assert [picture.file for picture in quay.pictures] == ["img/quay.png"]
    assert "![](import:0)" in quay.entry.body
    assert quay.entry.body.endswith("*Source: Low Water, page 3*")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{@b very {@i wet}}", "**very *wet***"),
        ("{@dice 2d6|two dice}", "two dice"),
        ("{@recharge 5}", "(Recharge 5–6)"),
        ("{@recharge}", "(Recharge 6)"),
        ("{@atk mw,rw}", "*Melee or Ranged Weapon Attack:*"),
        ("{@chance 30}", "30 percent"),
        ("{@hit -1} and {@hit 4}", "-1 and +4"),
        ("{@link site|https://example.org}", "[site](<https://example.org>)"),
        ("{@link site|javascript:alert(1)}", "site"),
        ("{@filter goblins|bestiary|cr=1}", "goblins"),
        ("{@unheardOf thing|x}", "thing"),
        ("{@creature <b>x</b>]]}", "<b>x</b>]]"),
        ("an open {@b brace", "an open {@b brace"),
        ("{@scaledamage 8d6|3-9|1d6}", "1d6"),
    ],
)
def test_tags_become_words(text: str, words: str) -> None:
    assert text_of(text) == words


def test_a_name_in_a_link_cannot_break_it() -> None:
    assert text_of("{@item a|x|b]] c}", a="A]] [[B|C") == "[[A B C|b c]]"


def test_a_spell_list_names_levels_and_how_often() -> None:
    entry = {
        "type": "spellcasting",
        "name": "Spellcasting",
        "headerEntries": ["She knows:"],
        "will": ["{@spell light}"],
        "daily": {"1e": ["{@spell fog}", "{@spell sleep}"]},
        "spells": {"1": {"slots": 4, "spells": ["{@spell shield}"]}},
    }
    assert text_of(entry) == (
        "**Spellcasting.** She knows:\n\n- At will: light\n- 1/day each: fog, sleep\n"
        "- Level 1 (4 slots): shield"
    )


def nested(depth: int) -> Any:
    entry: Any = "deep"
    for _level in range(depth):
        entry = {"type": "entries", "entries": [entry]}
    return entry


BROKEN: list[Any] = [
    7,
    {"name": "No source"},
    {"name": "Odd", "source": 3, "ac": "x", "hp": [], "speed": [1], "cr": {}, "skill": [2]},
    {"name": "Odd too", "source": "X", "action": {"a": [None]}, "trait": 5, "spellcasting": [None]},
    {"name": "Deep", "source": "X", "entries": [nested(200)]},
    {"name": "", "source": "X"},
    {"name": {"a": 1}, "source": "X", "type": {"type": {"choose": ["a", "b"]}, "tags": [{}]}},
]


def test_broken_creatures_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"b.json": {"monster": [EEL, *BROKEN, WARDEN]}})
    titles = set(drafts_by_title(reading))
    assert titles >= {"Harbor Eel", "Mira Voss", "No source", "Odd"}
    named = {problem.file for problem in reading.errors}
    assert named >= {"b.json: monster 2", "b.json: monster 6", "b.json: monster 7"}
    assert "nested too deeply" in next(
        problem.message for problem in reading.errors if problem.file == "b.json: monster 6"
    )


def test_html_in_a_name_is_text_on_the_page(world: World, tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    import_files(world, tmp_path, {"b.json": {"monster": [{**EEL, "name": name}]}})
    assert Lore.objects.get().title == name


def test_500_creatures_are_read_in_seconds(tmp_path: Path) -> None:
    monsters = [{**EEL, "name": f"Eel {number}"} for number in range(500)]
    started = time.process_time()
    reading = read_files(tmp_path, {"bestiary.json": {"monster": monsters}})
    assert len(reading.drafts) == 500
    assert time.process_time() - started < 5
