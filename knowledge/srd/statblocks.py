"""A monster's row as a stat block in Markdown."""

from typing import Any

Row = dict[str, Any]
ABILITY_NAMES = ("strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma")
PARTS = (
    ("special_abilities", ""),
    ("actions", "### Actions"),
    ("reactions", "### Reactions"),
    ("legendary_actions", "### Legendary Actions"),
)
FRACTIONS = {0.125: "1/8", 0.25: "1/4", 0.5: "1/2"}


def monster(row: Row) -> str:
    description = row["desc"] if isinstance(row.get("desc"), str) else None
    parts = [_head(row), _ability_table(row), _traits(row)]
    for key, heading in PARTS:
        if abilities := row.get(key):
            texts = (f"***{each['name']}.*** {each.get('desc', '')}".strip() for each in abilities)
            parts.append("\n\n".join([heading, *texts]).strip())
    text = "\n\n".join(filter(None, parts))
    return text if description is None else f"{description}\n\n{text}"


def labels(*pairs: tuple[str, Any]) -> str:
    """`**Label** value` for each value that is not empty, one per line."""
    pairs = tuple(pair for pair in pairs if pair[1] not in (None, "", [], False))
    return "  \n".join(f"**{label}** {value}" for label, value in pairs)


def challenge(rating: float) -> str:
    return FRACTIONS.get(rating, f"{rating:g}")


def _head(row: Row) -> str:
    subtype = f" ({row['subtype']})" if row.get("subtype") else ""
    speeds = ", ".join(_speed(kind, value) for kind, value in row["speed"].items())
    numbers = labels(
        ("Armor Class", ", ".join(map(_armour, row["armor_class"]))),
        ("Hit Points", f"{row['hit_points']} ({row['hit_points_roll']})"),
        ("Speed", speeds),
    )
    return f"*{row['size']} {row['type']}{subtype}, {row['alignment']}*  \n{numbers}"


def _armour(value: Row) -> str:
    pieces = ", ".join(each["name"].lower() for each in value.get("armor", []))
    # Armour class from Dexterity is the usual case and gets no note.
    note = pieces or value.get("desc") or (value["type"] if value["type"] != "dex" else "")
    return f"{value['value']}{f' ({note})' if note else ''}"


def _speed(kind: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"({kind})"
    return str(value) if kind == "walk" else f"{kind} {value}"


def _ability_table(row: Row) -> str:
    # The modifier of an ability is half of what it exceeds 10, rounded down.
    cells = [f"{row[name]} ({(row[name] - 10) // 2:+d})" for name in ABILITY_NAMES]
    lines = (
        "| " + " | ".join(name[:3].upper() for name in ABILITY_NAMES) + " |",
        "|" + "---|" * len(ABILITY_NAMES),
        "| " + " | ".join(cells) + " |",
    )
    return "\n".join(lines)


def _traits(row: Row) -> str:
    proficiencies = row.get("proficiencies", [])
    bonuses = [(each["proficiency"]["name"], each["value"]) for each in proficiencies]
    immunities = (each["name"] for each in row.get("condition_immunities", []))
    senses = (f"{kind.replace('_', ' ')} {value}" for kind, value in row.get("senses", {}).items())
    return labels(
        ("Saving Throws", _bonuses(bonuses, "Saving Throw: ")),
        ("Skills", _bonuses(bonuses, "Skill: ")),
        ("Damage Vulnerabilities", "; ".join(row.get("damage_vulnerabilities", []))),
        ("Damage Resistances", "; ".join(row.get("damage_resistances", []))),
        ("Damage Immunities", "; ".join(row.get("damage_immunities", []))),
        ("Condition Immunities", ", ".join(immunities)),
        ("Senses", ", ".join(senses)),
        ("Languages", row.get("languages")),
        ("Challenge", f"{challenge(row['challenge_rating'])} ({row['xp']:,} XP)"),
    )


def _bonuses(bonuses: list[tuple[str, int]], prefix: str) -> str:
    fitting = [(name, bonus) for name, bonus in bonuses if name.startswith(prefix)]
    return ", ".join(f"{name.removeprefix(prefix)} {bonus:+d}" for name, bonus in fitting)
