"""Datasworn of both versions: oracles, moves, assets, foes, places, truths and the basics."""

from pathlib import Path
from typing import Any

import pytest

from tests.memory_site.imports.uploads import drafts_by_title, formats_of, read_files

SOURCE = {
    "title": "Book of Tolls",
    "page": 12,
    "authors": [{"name": "Ana Ruiz"}],
    "license": "https://example.org/license",
}
OLD: dict[str, Any] = {
    "_id": "tolls",
    "datasworn_version": "0.0.10",
    "type": "ruleset",
    "title": "Book of Tolls",
    "authors": [{"name": "Ana Ruiz"}],
    "license": "https://example.org/license",
    "rules": {
        "stats": {"edge": {"label": "edge", "description": "Quick."}},
        "condition_meters": {
            "health": {"label": "health", "min": 0, "max": 5, "description": "Hurt or not."}
        },
    },
    "oracles": {
        "sea": {
            "_id": "tolls/collections/oracles/sea",
            "type": "oracle_collection",
            "name": "Characters",
            "description": "Ask the sea.",
            "contents": {
                "catch": {
                    "_id": "tolls/oracles/sea/catch",
                    "type": "oracle_rollable",
                    "name": "Catch",
                    "canonical_name": "Oracle 1: Catch",
                    "dice": "1d100",
                    "column_labels": {"roll": "Roll", "text": "Result"},
                    "rows": [
                        {"min": 1, "max": 60, "text": "Cod | eel"},
                        {"min": 61, "max": 100, "text": "A [Toll Eel](id:tolls/npcs/sea/eel)"},
                    ],
                    "_source": SOURCE,
                }
            },
        }
    },
    "moves": {
        "sea": {
            "_id": "tolls/collections/moves/sea",
            "name": "Sea Moves",
            "contents": {
                "row": {
                    "_id": "tolls/moves/sea/row",
                    "name": "Row Out",
                    "roll_type": "action_roll",
                    "trigger": {"text": "When you row..."},
                    "text": "When __you row__, see [the quay](id:tolls/atlas/coast/quay) or "
                    "[x](id:no).",
                    "outcomes": {"miss": {"text": "Wet."}},
                    "mood": "grim",
                }
            },
        }
    },
    "assets": {
        "path": {
            "_id": "tolls/collections/assets/path",
            "name": "Paths",
            "contents": {
                "diver": {
                    "_id": "tolls/assets/path/diver",
                    "name": "Diver",
                    "category": "Path",
                    "requirement": "If you swim...",
                    "abilities": [
                        {"enabled": True, "text": "Dive."},
                        {
                            "enabled": False,
                            "text": "Deeper.",
                            "moves": {
                                "sink": {
                                    "name": "Sink",
                                    "trigger": {"text": "When you sink..."},
                                    "outcomes": {"miss": {"text": "You drown."}},
                                }
                            },
                        },
                    ],
                }
            },
        }
    },
    "npcs": {
        "sea": {
            "_id": "tolls/collections/npcs/sea",
            "name": "Sea",
            "contents": {
                "eel": {
                    "_id": "tolls/npcs/sea/eel",
                    "name": "Toll Eel",
                    "rank": 2,
                    "nature": "Animal",
                    "features": ["Slippery"],
                    "drives": ["Eat rope"],
                    "description": "It waits.",
                    "quest_starter": "Who feeds it?",
                    "variants": {"old": {"name": "Old Eel", "rank": 3, "description": "Vast."}},
                }
            },
        }
    },
    "atlas": {
        "coast": {
            "_id": "tolls/collections/atlas/coast",
            "name": "Coast",
            "contents": {
                "quay": {"_id": "tolls/atlas/coast/quay", "name": "The Quay", "features": ["Fog"]},
                "catch": {"_id": "tolls/atlas/coast/catch", "name": "Catch", "summary": "A cape."},
            },
        }
    },
    "truths": {
        "tide": {
            "_id": "tolls/truths/tide",
            "name": "The Tide",
            "dice": "1d100",
            "options": [
                {"min": 1, "max": 50, "description": "It rises.", "quest_starter": "Why?"},
                {"min": 51, "max": 100, "description": "It falls."},
            ],
        }
    },
}
GLOW = "oracle_rollable.table_text2:deep/deep/light/glow"
NEW = {
    "_id": "deep",
    "datasworn_version": "0.1.0",
    "type": "expansion",
    "ruleset": "tolls",
    "title": "The Deep",
    "oracles": {
        "deep": {
            "_id": "oracle_collection:deep/deep",
            "name": "Deep",
            "collections": {
                "light": {
                    "_id": "oracle_collection:deep/deep/light",
                    "name": "Light",
                    "contents": {
                        "glow": {
                            "_id": "oracle_rollable.table_text2:deep/deep/light/glow",
                            "name": "Glow",
                            "rows": [
                                {"roll": {"min": 1, "max": 1}, "text": "Dim", "text2": "Green"},
                                {"roll": None, "text": "None"},
                            ],
                        }
                    },
                }
            },
        }
    },
    "moves": {
        "deep": {
            "_id": "move_category:deep/deep",
            "name": "Deep Moves",
            "contents": {
                "look": {
                    "_id": "move.action_roll:deep/deep/look",
                    "name": "Look Down",
                    "text": f"Roll [a glow](datasworn:{GLOW}).\n\n{{{{table>{GLOW}}}}}",
                }
            },
        }
    },
    "delve_sites": {
        "cave": {
            "_id": "delve_site:deep/cave",
            "name": "Sea Cave",
            "rank": 3,
            "denizens": [{"roll": {"min": 1, "max": 27}, "name": "Eels", "frequency": "common"}],
        }
    },
}


def test_each_part_of_a_ruleset_becomes_what_it_is(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"tolls.json": OLD})
    assert formats_of(reading) == {"tolls.json": "datasworn"}
    assert reading.problems == []
    drafts = drafts_by_title(reading)
    assert {title: draft.entry.kind for title, draft in drafts.items()} == {
        "Book of Tolls: basics of the rules": "custom",
        "Characters": "custom",
        "Catch (Characters)": "custom",
        "Catch (Coast)": "place",
        "Row Out": "custom",
        "Diver": "custom",
        "Toll Eel": "custom",
        "The Quay": "place",
        "The Tide": "custom",
    }
    catch = drafts["Catch (Characters)"]
    assert (catch.folder, catch.template) == ("Book of Tolls/Oracles/Characters", "roll table")
    assert catch.entry.aliases == ["Oracle 1: Catch"]
    assert "| Roll | Result |\n| --- | --- |\n| 1–60 | Cod \\| eel |" in catch.entry.body
    assert "| 61–100 | A [[Toll Eel]] |" in catch.entry.body
    assert catch.entry.body.endswith(
        "*Source: Book of Tolls, page 12, Ana Ruiz, https://example.org/license*"
    )


def test_texts_of_moves_assets_foes_truths_and_basics(tmp_path: Path) -> None:
    drafts = drafts_by_title(read_files(tmp_path, {"tolls.json": OLD}))
    move = drafts["Row Out"].entry
    assert "When __you row__, see [[The Quay|the quay]] or x." in move.body
    assert "| **Roll type** | action roll |" in move.body
    assert move.extra == {"mood": "grim"}
    asset = drafts["Diver"].entry.body
    assert "If you swim...\n\n- ☑ Dive.\n- ☐ Deeper." in asset
    assert "**Miss.** You drown." in asset
    eel = drafts["Toll Eel"].entry.body
    assert "| **Rank** | 2 |" in eel
    assert "### Features\n\n- Slippery" in eel
    assert "#### Old Eel" in eel
    assert "### Quest starter\n\nWho feeds it?" in eel
    assert "### 1–50\n\nIt rises.\n\n**Quest starter.** Why?" in drafts["The Tide"].entry.body
    basics = drafts["Book of Tolls: basics of the rules"].entry.body
    assert "## Stats\n\n- **edge.** Quick." in basics
    assert "- **health.** Hurt or not. (0 to 5)" in basics


def test_ids_rolls_and_macros_of_the_newer_version(tmp_path: Path) -> None:
    drafts = drafts_by_title(read_files(tmp_path, {"deep.json": NEW, "tolls.json": OLD}))
    assert drafts["Glow"].folder == "The Deep/Oracles/Deep/Light"
    assert "| 1 | Dim | Green |\n|  | None |  |" in drafts["Glow"].entry.body
    assert drafts["Look Down"].entry.body.startswith("Roll [[Glow|a glow]].\n\n[[Glow]]")
    cave = drafts["Sea Cave"].entry
    assert cave.kind == "place"
    assert "| 1–27 | Eels |" in cave.body


def nested(depth: int) -> Any:
    node: dict[str, Any] = {"name": "x"}
    for _level in range(depth):
        node = {"name": "x", "contents": {"x": node}}
    return {"datasworn_version": "0.1.0", "oracles": {"x": node}, "truths": OLD["truths"]}


@pytest.mark.parametrize(
    "content",
    [
        nested(300),
        {**OLD, "oracles": [1], "moves": {"a": 5}, "npcs": {"a": {"contents": {"b": None}}}},
        {**OLD, "oracles": {"a": {"name": 5, "rows": {"a": 1}, "contents": None}}},
    ],
)
def test_broken_parts_leave_the_others_alone(tmp_path: Path, content: Any) -> None:
    reading = read_files(tmp_path, {"b.json": content})
    assert "The Tide" in drafts_by_title(reading)
    assert all(problem.file.startswith("b.json") for problem in reading.errors)
