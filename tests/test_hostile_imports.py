"""No reader of imported files is slow for any text in them, nor the one of calendars and dates: the
texts of `test_hostile_texts`, as the body of what an export holds."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.formats import FORMATS
from tests.test_hostile_texts import MOST_SECONDS, seconds_of, units
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_parser import parse_date
from worlds.calendars.imported import read_calendar_file
from worlds.calendars.presets import preset

NAMES = {"name": "Pier", "title": "Pier"}
FIFTY = range(50)
FILES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "kanka": (
        "locations/pier.json",
        lambda text: {"name": "Pier", "entity": {"entry": text, "posts": [{"entry": text[:9000]}]}},
    ),
    "foundry": (
        "journal.json",
        lambda text: {
            **NAMES,
            "pages": [{"name": "Pier", "type": "text", "text": {"content": text}}],
        },
    ),
    "worldanvil": (
        "pier.json",
        lambda text: {"title": "Pier", "templateType": "location", "content": text},
    ),
    "legendkeeper": (
        "pier.json",
        lambda text: {
            "resources": [
                {
                    "id": "a",
                    "name": "Pier",
                    "documents": [
                        {
                            "id": "b",
                            "name": "Main",
                            "type": "page",
                            "content": {
                                "type": "doc",
                                "content": [
                                    {
                                        "type": "paragraph",
                                        "content": [{"type": "text", "text": text}],
                                    }
                                ],
                            },
                        }
                    ],
                }
            ]
        },
    ),
    "fivetools": (
        "fivetools.json",
        lambda text: {"monster": [{**NAMES, "source": "X", "entries": [text], "type": text[:999]}]},
    ),
    "sillytavern": ("info.json", lambda text: {"entries": {"0": {"key": ["a"], "content": text}}}),
    "novelai": (
        "a.lorebook",
        lambda text: {"lorebookVersion": 4, "entries": [{"text": text, "displayName": "Pier"}]},
    ),
    "card": (
        "card.json",
        lambda text: {"spec": "chara_card_v2", "data": {**NAMES, "description": text}},
    ),
    "csv": ("table.csv", lambda text: f"title,body\n{text}"),
    "notion": (f"Pier {'0' * 32}.md", lambda text: f"# Pier\n\n{text}"),
    "obsidian": ("Pier.md", lambda text: text),
    "markdown": ("pier.md", lambda text: f"---\nslug: pier\ntitle: Pier\n---\n{text}"),
}
CALENDARS: dict[str, Callable[[str], Any]] = {
    "text": lambda text: text,
    "a name": lambda text: {"name": text, "months": [], "weekdays": []},
    "months": lambda text: {
        "name": "Tides",
        "months": [{"name": f"{text[:500]}{number}", "length": 30} for number in FIFTY],
        "weekdays": [f"{number}{text[:50]}" for number in FIFTY],
        "years": {str(number): text[:90] for number in FIFTY},
    },
}


CONTROL = dict.fromkeys(FILES, "By the water.") | {"csv": "Pier,By the water."}
"""Texts of no malice, which show that the file is read at all."""


def read(name: str, text: str) -> list[LoreDraft]:
    file_name, wrap = FILES[name]
    value = wrap(text)
    content = (value if isinstance(value, str) else json.dumps(value)).encode()
    bundle = Bundle([SourceFile(file_name, len(content), lambda: content)])
    return list(FORMATS[name].read(bundle))


@pytest.mark.parametrize("name", FILES)
def test_no_reader_of_an_export_is_slow_for_a_hostile_text(name: str) -> None:
    assert any("By the water." in str(draft.entry) for draft in read(name, CONTROL[name]))
    taken = {unit: seconds_of(lambda text: read(name, text), unit) for unit in units(name)}
    assert {unit: each for unit, each in taken.items() if each > 4 * MOST_SECONDS} == {}


@pytest.mark.parametrize("name", CALENDARS)
def test_no_calendar_file_is_slow(name: str) -> None:
    def read_file(text: str) -> None:
        read_calendar_file(json.dumps(CALENDARS[name](text)).encode())

    taken = {unit: seconds_of(read_file, unit) for unit in units(name)}
    assert {unit: each for unit, each in taken.items() if each > MOST_SECONDS} == {}


@pytest.mark.parametrize("language", ["en", "ru", "ko"])
def test_no_date_is_slow_to_read(language: str) -> None:
    calendar = Calendar(preset("gregorian", language))
    texts = units(f"dates {language}")
    taken = {
        unit: seconds_of(lambda text: parse_date(calendar, text, language), unit) for unit in texts
    }
    assert {unit: each for unit, each in taken.items() if each > MOST_SECONDS} == {}
