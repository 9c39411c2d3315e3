"""The tables of the classes: what a character of each class has at each level."""

from collections.abc import Iterator
from typing import Any

from knowledge.srd.sections import SrdRule
from knowledge.srd.statblocks import Row, challenge, labels
from retrieval.errors import Invalid

ORDINALS = (
    "",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)
SLOTS = "spell_slots_level_"
UNLIMITED = 9999
DICE = ("bardic_inspiration_die", "song_of_rest_die", "martial_arts_die")
"""Columns that hold the sides of a die."""
CHALLENGE_RATINGS = ("destroy_undead_cr", "wild_shape_max_cr")
FEET = ("aura_range", "unarmored_movement", "unarmored_movement_bonus")
ABBREVIATIONS = {"cr": "challenge rating", "max": "maximum", "lvl": "level"}


def class_levels(rows: list[Row]) -> Iterator[SrdRule]:
    """Render one rule for each class and level. Raises `Invalid` for a row of another shape.

    Each level is a rule of its own, so that a question such as "third-level slots of a level 5
    wizard" finds one short text with the number. What subclasses get is among their features.
    """
    for row in rows:
        if row.get("subclass"):
            continue
        try:
            yield class_level(row)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            message = f"levels, {row.get('index')}: the row is not as expected ({problem!r})."
            raise Invalid(message) from problem


def class_level(row: Row) -> SrdRule:
    name, level = str(row["class"]["name"]), int(row["level"])
    magic = row.get("spellcasting") or {}
    features = ", ".join(str(feature["name"]) for feature in row.get("features") or [])
    columns = {**(row.get("class_specific") or {}), **magic}
    own = [(column_label(key), column_value(key, value)) for key, value in columns.items()]
    body = labels(
        ("Class", name),
        ("Level", level),
        ("Proficiency Bonus", f"+{row['prof_bonus']}"),
        ("Features", features),
        *((label, text) for label, text in own if not label.startswith("Spell Slots")),
        ("Spell Slots", "; ".join(slots(magic))),
    )
    return SrdRule(
        path=f"class-levels/{row['index']}",
        kind="class",
        title=f"{name}, level {level}",
        body=f"*What a {name.lower()} has at level {level} ({ordinal(level)} level)*\n\n{body}",
        breadcrumb=("Classes", name, "Levels"),
        aliases=(f"level {level} {name.lower()}", f"{ordinal(level)}-level {name.lower()}"),
        data={"class": name, "level": level, "proficiency_bonus": row["prof_bonus"], **columns},
    )


def slots(magic: Row) -> Iterator[str]:
    """Yield `3rd-level (third-level) slots: 2` for each level of spells."""
    for level in range(1, len(ORDINALS)):
        if count := magic.get(f"{SLOTS}{level}"):
            yield f"{ordinal(level)}-level ({ORDINALS[level]}-level) slots: {count}"


def ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def column_label(key: str) -> str:
    if key.startswith(SLOTS):
        return "Spell Slots"
    return " ".join(ABBREVIATIONS.get(word, word) for word in key.split("_")).title()


def column_value(key: str, value: Any) -> str:
    """Return what a table of the book would print, empty for what a level does not have."""
    if isinstance(value, dict):
        return f"{value['dice_count']}d{value['dice_value']}"
    if isinstance(value, list):
        costs = (f"{ordinal(x['spell_slot_level'])} {x['sorcery_point_cost']}" for x in value)
        return ", ".join(costs)
    if isinstance(value, bool):
        return "yes" if value else ""
    if not value:
        return ""
    if key in CHALLENGE_RATINGS:
        return challenge(value)
    if key in DICE:
        return f"d{value}"
    if key in FEET:
        return f"{value} feet"
    return "unlimited" if value == UNLIMITED else f"{value:g}"
