"""A monster's row as the stat block that people know."""

from typing import Any

ABILITIES = ("strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma")
PARTS = (
    ("special_abilities", ""),
    ("actions", "### Actions"),
    ("reactions", "### Reactions"),
    ("legendary_actions", "### Legendary Actions"),
)
FRACTIONS = {0.125: "1/8", 0.25: "1/4", 0.5: "1/2"}


def monster(row: dict[str, Any]) -> str:
    told = f"{row['desc']}\n\n" if isinstance(row.get("desc"), str) else ""
    return told + "\n\n".join(
        part for part in (_head(row), _scores(row), _traits(row), *_abilities(row)) if part
    )


def challenge(rating: float) -> str:
    return FRACTIONS.get(rating, f"{rating:g}")


def _head(row: dict[str, Any]) -> str:
    subtype = f" ({row['subtype']})" if row.get("subtype") else ""
    return "  \n".join(
        (
            f"*{row['size']} {row['type']}{subtype}, {row['alignment']}*",
            f"**Armor Class** {', '.join(_armour(each) for each in row['armor_class'])}",
            f"**Hit Points** {row['hit_points']} ({row['hit_points_roll']})",
            f"**Speed** {', '.join(_speed(kind, value) for kind, value in row['speed'].items())}",
        )
    )


def _armour(value: dict[str, Any]) -> str:
    worn = ", ".join(each["name"].lower() for each in value.get("armor", []))
    note = worn or value.get("desc") or (value["type"] if value["type"] != "dex" else "")
    return f"{value['value']}{f' ({note})' if note else ''}"


def _speed(kind: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"({kind})"
    return str(value) if kind == "walk" else f"{kind} {value}"


def _scores(row: dict[str, Any]) -> str:
    cells = [f"{row[name]} ({(row[name] - 10) // 2:+d})" for name in ABILITIES]
    return "\n".join(
        (
            "| " + " | ".join(name[:3].upper() for name in ABILITIES) + " |",
            "|" + "---|" * len(ABILITIES),
            "| " + " | ".join(cells) + " |",
        )
    )


def _traits(row: dict[str, Any]) -> str:
    trained = [
        (each["proficiency"]["name"], each["value"]) for each in row.get("proficiencies", [])
    ]
    lines = {
        "Saving Throws": _bonuses(trained, "Saving Throw: "),
        "Skills": _bonuses(trained, "Skill: "),
        "Damage Vulnerabilities": "; ".join(row.get("damage_vulnerabilities", [])),
        "Damage Resistances": "; ".join(row.get("damage_resistances", [])),
        "Damage Immunities": "; ".join(row.get("damage_immunities", [])),
        "Condition Immunities": ", ".join(
            each["name"] for each in row.get("condition_immunities", [])
        ),
        "Senses": ", ".join(
            f"{kind.replace('_', ' ')} {value}" for kind, value in row.get("senses", {}).items()
        ),
        "Languages": row.get("languages", ""),
        "Challenge": f"{challenge(row['challenge_rating'])} ({row['xp']:,} XP)",
    }
    return "  \n".join(f"**{label}** {value}" for label, value in lines.items() if value)


def _bonuses(trained: list[tuple[str, int]], prefix: str) -> str:
    return ", ".join(
        f"{name.removeprefix(prefix)} {bonus:+d}"
        for name, bonus in trained
        if name.startswith(prefix)
    )


def _abilities(row: dict[str, Any]) -> list[str]:
    told = []
    for key, heading in PARTS:
        abilities = [
            f"***{each['name']}.*** {each.get('desc', '')}".strip() for each in row.get(key) or []
        ]
        if abilities:
            told.append("\n\n".join([heading, *abilities]).strip())
    return told
