"""Packs of the Pathfinder system of Foundry VTT: actors, items, journals; inline rolls are words,
links lead to what comes along, what only the game master sees stays secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from knowledge.importers.foundry_pf2e import enricher_words
from knowledge.importers.html import html_to_markdown
from knowledge.models import Lore, LorePassage
from npcs.models import NPC
from tests.memory_site.imports.uploads import (
    drafts_by_title,
    formats_of,
    import_files,
    read_files,
)
from worlds.audiences import PUBLIC
from worlds.models import World

PUBLICATION = {"license": "ORC", "remaster": True, "title": "Book of Tolls"}
TRAITS = {"rarity": "unique", "size": {"value": "med"}, "value": ["human", "humanoid"]}


def item(name: str, kind: str, **system: Any) -> dict[str, Any]:
    return {"_id": name.lower()[:16], "name": name, "type": kind, "system": system}


MIRA: dict[str, Any] = {
    "_id": "aaaaaaaaaaaaaaaa",
    "name": "Mira Voss",
    "type": "npc",
    "img": "systems/pf2e/icons/default-icons/npc.svg",
    "items": [
        item("Ledger", "equipment", traits={"value": []}),
        item(
            "Boat Hook",
            "melee",
            bonus={"value": 12},
            damageRolls={"x": {"damage": "1d4+2", "damageType": "piercing"}},
            traits={"value": ["agile"]},
        ),
        item(
            "Toll the Bell",
            "action",
            actionType={"value": "action"},
            actions={"value": 2},
            category="offensive",
            description={
                "value": "<p>Each foe in a @Template[type:emanation|distance:20] takes "
                "@Damage[2d6[sonic],1d4[persistent,bleed]] "
                "(@Check[fortitude|dc:21|basic]) or is "
                "@UUID[Compendium.pf2e.conditionitems.Item.Stunned]{Stunned 1}. "
                "Not again for [[/gmr 1d4 #rounds]]{1d4 rounds}.</p>"
            },
            traits={"value": ["sonic"]},
        ),
        item("Tides Lore", "lore", mod={"value": 9}),
        {
            **item("Tide Spells", "spellcastingEntry", spelldc={"dc": 21, "value": 13}),
            "_id": "eeeeeeeeeeeeeeee",
        },
        item(
            "Fog",
            "spell",
            level={"value": 2},
            location={"value": "eeeeeeeeeeeeeeee"},
            traits={"value": []},
        ),
        item(
            "Light",
            "spell",
            level={"value": 1},
            location={"value": "eeeeeeeeeeeeeeee"},
            traits={"value": ["cantrip"]},
        ),
    ],
    "system": {
        "abilities": {"str": {"mod": 1}, "cha": {"mod": 4}},
        "attributes": {
            "ac": {"value": 18, "details": "19 on a boat"},
            "hp": {"max": 46, "details": ""},
            "speed": {"value": 25, "otherSpeeds": [{"type": "swim", "value": 20}]},
            "immunities": [{"type": "sleep"}],
            "resistances": [{"type": "cold", "value": 5}],
        },
        "details": {
            "blurb": "Clerk of the quay",
            "languages": {"value": ["common"], "details": ""},
            "level": {"value": 3},
            "privateNotes": "<p>She forged the ledger.</p>",
            "publicNotes": "<p>She keeps the @UUID[Compendium.tolls.items.Item.Ledger]{ledger} of "
            "@UUID[Compendium.tolls.actors.Actor.aaaaaaaaaaaaaaab].</p>",
            "publication": PUBLICATION,
        },
        "perception": {"mod": 8, "senses": [{"type": "darkvision"}]},
        "saves": {"fortitude": {"value": 7}, "reflex": {"value": 12}, "will": {"value": 10}},
        "skills": {"diplomacy": {"base": 11}},
        "traits": TRAITS,
    },
}
EEL = {
    "_id": "aaaaaaaaaaaaaaab",
    "name": "Harbor Eel",
    "type": "npc",
    "items": [],
    "system": {
        "details": {"publicNotes": "", "publication": PUBLICATION, "level": {"value": 1}},
        "traits": {"rarity": "common", "size": {"value": "lg"}, "value": ["animal"]},
    },
}
LEDGER = {
    "_id": "bbbbbbbbbbbbbbbb",
    "name": "Ledger",
    "type": "equipment",
    "system": {
        "description": {"gm": "<p>Forged.</p>", "value": "<p>A <b>heavy</b> book.</p>"},
        "level": {"value": 2},
        "price": {"value": {"gp": 35}},
        "publication": PUBLICATION,
        "traits": {"rarity": "rare", "value": ["magical"]},
    },
    "ownership": {"default": 2},
}
SPELL = {
    "_id": "cccccccccccccccc",
    "name": "Fog",
    "type": "spell",
    "folder": "ffffffffffffffff",
    "system": {
        "area": {"type": "burst", "value": 20},
        "damage": {"0": {"formula": "2d6", "type": "cold"}},
        "defense": {"save": {"basic": True, "statistic": "reflex"}},
        "description": {"value": "<p>Fog.</p>"},
        "level": {"value": 2},
        "publication": PUBLICATION,
        "time": {"value": "2"},
        "traits": {"rarity": "common", "value": ["cold"]},
    },
}
FOLDER = {"_id": "ffffffffffffffff", "name": "Characters", "sorting": "a", "type": "Item"}


def test_a_unique_creature_is_an_npc_with_a_table_of_its_statistics(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"mira.json": MIRA, "eel.json": EEL, "ledger.json": LEDGER})
    assert set(formats_of(reading).values()) == {"foundry"}
    assert reading.problems == []
    draft = drafts_by_title(reading)["Mira Voss"]
    assert (draft.entry.kind, draft.template) == ("biography", "character")
    assert draft.person is not None
    assert draft.person.summary == "Clerk of the quay"
    assert [(each.target, each.words) for each in draft.relations] == [("Ledger", "owns")]
    body = draft.entry.body
    assert body.startswith("*Level 3, unique, Medium, human, humanoid*\n\nClerk of the quay")
    for row in (
        "| **Perception** | +8; darkvision |",
        "| **Skills** | Diplomacy +11, Tides Lore +9 |",
        "| **AC** | 18; 19 on a boat |",
        "| **Saves** | Fortitude +7; Reflex +12; Will +10 |",
        "| **Resistances** | cold 5 |",
        "| **Speed** | 25 feet, swim 20 feet |",
    ):
        assert row in body
    assert "She keeps the [[Ledger|ledger]] of [[Harbor Eel]]." in body
    assert ":::secret\nShe forged the ledger.\n:::" in body
    assert "- **Boat Hook +12 (agile)** 1d4+2 piercing" in body
    assert (
        "**Toll the Bell [two actions] (sonic).** Each foe in a 20-foot emanation takes "
        "2d6 sonic plus 1d4 persistent bleed (DC 21 basic Fortitude save) or is Stunned 1. "
        "Not again for 1d4 rounds." in body
    )
    assert "## Tide Spells\n\nDC 21; attack +13\n\n- Rank 2: Fog\n- Cantrips: Light" in body
    assert body.endswith("*Source: Book of Tolls, ORC*")


def test_a_common_creature_is_a_monster_and_a_spell_is_a_rule_in_any_folder(
    tmp_path: Path,
) -> None:
    pack = "\n".join(json.dumps(each) for each in (EEL, SPELL, FOLDER))
    reading = read_files(tmp_path, {"tolls.db": pack})
    assert formats_of(reading) == {"tolls.db": "foundry"}
    drafts = drafts_by_title(reading)
    assert drafts["Harbor Eel"].template == "monster"
    fog = drafts["Fog"]
    assert (fog.entry.kind, fog.folder) == ("custom", "Characters")
    assert "| **Defense** | basic Reflex |" in fog.entry.body
    assert "| **Area** | 20-foot burst |" in fog.entry.body
    assert "| **Damage** | 2d6 cold |" in fog.entry.body


def test_notes_for_the_game_master_stay_secret(world: World, tmp_path: Path) -> None:
    page = "<p>Wet.</p><p data-visibility='gm'>Mined <b>deep</b>.</p><p>Cold.</p>"
    journal = {
        "_id": "dddddddddddddddd",
        "name": "The Quay",
        "ownership": {"default": 2},
        "pages": [{"name": "Below", "text": {"content": page}}],
    }
    files = {
        "mira.json": {**MIRA, "ownership": {"default": 2}},
        "ledger.json": LEDGER,
        "quay.json": journal,
    }
    import_files(world, tmp_path, files)
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert {"Wet", "Cold", "heavy"} <= set(seen.replace(".", " ").replace("*", " ").split())
    assert "forged" not in seen.lower()
    assert "Mined" not in seen
    assert NPC.objects.get().name == "Mira Voss"


def test_a_players_hidden_notes_are_secrets(tmp_path: Path) -> None:
    biography = {
        "appearance": "<p>Tall.</p>",
        "backstory": "<p>A spy.</p>",
        "campaignNotes": "<p>Owes the guild.</p>",
        "visibility": {"appearance": True, "backstory": False},
    }
    system = {"details": {"biography": biography, "publication": PUBLICATION}}
    hero = {"_id": "h", "name": "Hero", "type": "character", "items": [], "system": system}
    body = drafts_by_title(read_files(tmp_path, {"hero.json": hero}))["Hero"].entry.body
    assert body == (
        "## Appearance\n\nTall.\n\n:::secret\n## Backstory\n\nA spy.\n:::\n\n"
        ":::secret\n## Campaign notes\n\nOwes the guild.\n:::\n\n*Source: Book of Tolls, ORC*"
    )


def test_inline_rolls_are_no_links_in_texts_and_data(tmp_path: Path) -> None:
    rolls = "[[/r 2d6[fire]]]{fire} [[/award 15GP]] [[lookup @abilities.wis.mod]] [[1d4]]"
    actor = {**EEL, "system": {**EEL["system"], "notes": rolls}}  # type: ignore[dict-item]
    journal = {"_id": "j", "name": "Loot", "pages": [{"text": {"content": f"<p>{rolls}</p>"}}]}
    drafts = drafts_by_title(read_files(tmp_path, {"a.json": actor, "j.json": journal}))
    assert "[[" not in json.dumps(drafts["Harbor Eel"].entry.extra)
    assert drafts["Loot"].entry.body == "fire `15GP` `@abilities.wis.mod` `1d4`"


def test_two_documents_of_one_name_in_a_file_are_two_entries(world: World, tmp_path: Path) -> None:
    twin = {**MIRA, "_id": "aaaaaaaaaaaaaaac", "ownership": {"default": 2}}
    import_files(world, tmp_path, {"pair.json": [{**twin, "_id": "x"}, twin]})
    assert set(Lore.objects.values_list("slug", flat=True)) == {"mira-voss", "mira-voss-2"}
    assert set(NPC.objects.values_list("biography__slug", flat=True)) == {
        "mira-voss",
        "mira-voss-2",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@Check[reflex|dc:17]", "DC 17 Reflex save"),
        ("@Check[type:will|dc:17|basic:true]", "DC 17 basic Will save"),
        ("@Check[crafting|defense:fortitude]", "Crafting check against fortitude"),
        ("@Check[athletics|dc:resolve(@actor.x)]", "Athletics check"),
        ("@Check[flat|dc:5]{a flat check}", "a flat check"),
        ("@Damage[8d6[healing]|options:area-damage]", "8d6 healing"),
        ("@Damage[(1d6+2)[fire]]", "1d6+2 fire"),
        ("@Template[cone|distance:15]", "15-foot cone"),
        ("@Localize[PF2E.NPC.Abilities.Glossary.Grab]", ""),
        ('<span class="action-glyph">2</span>', "[two actions]"),
        ("@Check[", "@Check["),
        ("@Damage[[[[", "@Damage[[[["),
    ],
)
def test_inline_rolls_become_words(text: str, words: str) -> None:
    assert enricher_words(text) == words


def test_hidden_elements_end_where_they_close() -> None:
    html = "a<div data-visibility='gm'>b<div>c</div>d</div>e<br data-visibility='gm'>f"
    text = html_to_markdown(html)
    assert text == "a\n\n:::secret\n\nb\n\nc\n\nd\n\n:::\n\ne\nf"


@pytest.mark.parametrize(
    "changes",
    [
        {"items": [None, 5, {"type": "melee"}, {"type": "action", "system": []}]},
        {"system": {"publication": PUBLICATION, "details": [], "traits": 5, "skills": "x"}},
        {"system": {"details": {"publication": 4}, "attributes": {"ac": "x", "speed": []}}},
    ],
)
def test_actors_of_other_shapes_are_read_or_named(tmp_path: Path, changes: Any) -> None:
    files = {"odd.json": {**MIRA, **changes, "name": "Odd"}, "eel.json": EEL}
    reading = read_files(tmp_path, files)
    assert "Harbor Eel" in drafts_by_title(reading)
    assert "Odd" in drafts_by_title(reading) or [each.file for each in reading.errors] == [
        "odd.json"
    ]
