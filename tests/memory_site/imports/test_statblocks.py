"""Fantasy Statblocks: blocks in the notes of a vault, and the bestiary of the plugin."""

import time
from pathlib import Path
from typing import Any

import pytest

from knowledge.importers.statblocks import stat_block_text, tables_of_stat_blocks
from knowledge.models import LorePassage
from tests.memory_site.imports.uploads import (
    PIXEL,
    drafts_by_title,
    formats_of,
    import_files,
    read_files,
)
from worlds.audiences import PUBLIC
from worlds.models import World

EEL: dict[str, Any] = {
    "name": "Harbor Eel",
    "source": "Book of Tolls",
    "size": "Large",
    "type": "beast",
    "subtype": "fish",
    "alignment": "unaligned",
    "ac": 13,
    "hp": 22,
    "hit_dice": "3d10 + 6",
    "speed": "5 ft., swim 40 ft.",
    "stats": [16, 14, 14, 2, 10, 4],
    "saves": [{"dex": 4}],
    "skillsaves": [{"stealth": 4}],
    "senses": "darkvision 60 ft.",
    "cr": 1,
    "image": "eel.png",
    "layout": "Basic 5e Layout",
    "traits": [{"name": "Slippery", "desc": "It escapes."}],
    "actions": [
        {"name": "Bite", "desc": "It bites.", "traits": [{"name": "Miss", "desc": "It sulks."}]}
    ],
    "spells": ["It casts:", {"Cantrips (at will)": "light, fog"}, {"1st level": "sleep"}],
    "mood": "grim",
    "nastier_traits": [{"name": "Venom", "desc": "Ouch."}],
}
NOTE = """---
type: monster
---
It lives under [[The Quay]].

```statblock
name: Harbor Eel
layout: Basic
ac: 13
stats: [16, 14, 14, 2, 10, 4]
traits:
  - name: Slippery
    desc: "It escapes [[The Quay|the quay]]."
  - name: Hungry
    desc: "It eats [rope](Old%20Rope.md)."
mood: "grim"
image: [[eel.png]]
```

After it.
"""


def test_a_block_in_a_note_becomes_a_table_and_links_in_it_are_links(tmp_path: Path) -> None:
    files = {"Eel.md": NOTE, "The Quay.md": "Wet.", "Old Rope.md": "Tar."}
    reading = read_files(tmp_path, files)
    assert reading.problems == []
    draft = drafts_by_title(reading)["Eel"]
    body = draft.entry.body
    assert "```" not in body
    assert body.startswith("It lives under [[The Quay]].")
    assert "### Harbor Eel" in body
    assert "| **Armor Class** | 13 |" in body
    assert "| **Mood** | grim |" in body
    assert "| 16 (+3) | 14 (+2) |" in body
    assert "#### Traits\n\n**Slippery.** It escapes [[The Quay|the quay]]." in body
    assert "It eats [[Old Rope|rope]]." in body
    assert body.endswith("After it.")
    assert draft.entry.extra == {"statblock_layout": {"layout": "Basic"}}
    assert draft.entry.aliases == ["Harbor Eel"]
    assert draft.template == "monster"


def test_a_block_in_a_comment_stays_secret(world: World, tmp_path: Path) -> None:
    note = (
        "Seen.\n\n%%\n```statblock\nname: Hidden Eel\nac: 13\nsenses: sight\n```\nLurks.\n%%\n"
        "\n```statblock\nname: Open Eel\nspeed: 40%% more\n```\n\nEnd. %%Owes money.%%\n"
    )
    import_files(world, tmp_path, {"a.md": note})
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert "Open Eel" in seen
    assert not {"Hidden", "Owes", "Lurks"} & set(seen.replace(".", " ").split())


@pytest.mark.parametrize(
    "block",
    [
        "```statblock\nname: [\n```",
        "```statblock\n- a\n```",
        "```statblock\nname: Open",
        "```statblock\na: &x 1\nb: *x\n```",
        "```python\nname: x\n```",
    ],
)
def test_a_block_that_cannot_be_read_stays_as_it_is(block: str) -> None:
    assert tables_of_stat_blocks(f"Before.\n{block}\n") == (f"Before.\n{block}\n", [])


def test_many_blocks_without_an_end_take_linear_time() -> None:
    text = "```statblock\nname: x\n" * 50_000
    started = time.process_time()
    assert tables_of_stat_blocks(text) == (text, [])
    assert time.process_time() - started < 2


def test_the_bestiary_of_the_plugin(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"bestiary.json": [EEL], "img/eel.png": PIXEL})
    assert formats_of(reading)["bestiary.json"] == "statblocks"
    assert reading.problems == []
    draft = reading.drafts[0]
    assert (draft.entry.title, draft.entry.kind) == ("Harbor Eel", "custom")
    assert draft.entry.tags == ["monster", "beast"]
    assert draft.entry.body == (
        "*Large beast (fish), unaligned*\n\n"
        "|  |  |\n| --- | --- |\n"
        "| **Armor Class** | 13 |\n"
        "| **Hit Points** | 22 |\n"
        "| **Hit Dice** | 3d10 + 6 |\n"
        "| **Speed** | 5 ft., swim 40 ft. |\n"
        "| **Saving Throws** | Dex +4 |\n"
        "| **Skills** | Stealth +4 |\n"
        "| **Senses** | darkvision 60 ft. |\n"
        "| **Challenge** | 1 |\n"
        "| **Mood** | grim |\n\n"
        "| STR | DEX | CON | INT | WIS | CHA |\n| --- | --- | --- | --- | --- | --- |\n"
        "| 16 (+3) | 14 (+2) | 14 (+2) | 2 (-4) | 10 (+0) | 4 (-3) |\n\n"
        "#### Traits\n\n**Slippery.** It escapes.\n\n"
        "#### Actions\n\n**Bite.** It bites.\n\n- **Miss.** It sulks.\n\n"
        "#### Spells\n\nIt casts:\n\n- Cantrips (at will): light, fog\n- 1st level: sleep\n\n"
        "#### Nastier traits\n\n**Venom.** Ouch.\n\n"
        "*Source: Book of Tolls*"
    )
    assert draft.entry.extra == {"layout": "Basic 5e Layout"}
    assert [picture.file for picture in draft.pictures] == ["img/eel.png"]


def test_the_data_of_the_plugin_holds_names_beside_creatures(tmp_path: Path) -> None:
    data = {"monsters": [["Harbor Eel", EEL]], "version": "4.0.0"}
    reading = read_files(tmp_path, {"data.json": data})
    assert formats_of(reading) == {"data.json": "statblocks"}
    assert [draft.entry.title for draft in reading.drafts] == ["Harbor Eel"]


def test_a_creature_that_builds_on_another_links_to_it() -> None:
    assert stat_block_text({"monster": "Eel ]]"}) == "Statistics as [[Eel]]."


def nested(depth: int) -> Any:
    entry: dict[str, Any] = {"name": "deep", "desc": "x"}
    for _level in range(depth):
        entry = {"name": "deep", "desc": "x", "traits": [entry]}
    return entry


def test_broken_creatures_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    broken = [
        5,
        {"ac": 3},
        {**EEL, "name": "Odd", "stats": "x", "saves": 3, "traits": [None, 4, ["a"]]},
        {**EEL, "name": "Deep", "actions": [nested(100)]},
    ]
    reading = read_files(tmp_path, {"b.json": [EEL, *broken, {**EEL, "name": "Last"}]})
    assert set(drafts_by_title(reading)) == {"Harbor Eel", "Odd", "Last"}
    assert [problem.file for problem in reading.errors] == ["b.json: 2", "b.json: 3", "b.json: 5"]
