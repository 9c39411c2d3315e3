"""Render rows of the SRD data set, in either edition, as Markdown rules."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from knowledge.srd.class_levels import class_levels
from knowledge.srd.sections import SrdRule, split_by_heading
from knowledge.srd.statblocks import ABILITY_NAMES, Row, labels, monster
from knowledge.srd.tables import character_advancement, spell_lists
from retrieval.errors import Invalid

ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}
ABILITIES = {name[:3].upper(): name.title() for name in ABILITY_NAMES}
CHARACTERISTICS = ("personality_traits", "ideals", "bonds", "flaws")
GLUED_PRICE = re.compile(r"(\d)([cegps]p)\b")
"""The data set writes `300gp` here and there: as one word, nobody who asks for 300 finds it."""
DATA_COLUMNS = ("challenge_rating", "xp", "type", "size", "ritual", "concentration")


def render_rules(tables: dict[str, list[Row]]) -> Iterator[SrdRule]:
    """Render the text of all tables (name: rows). Raises `Invalid` for a row of another shape."""
    chapters = {
        part["index"]: rule["name"]
        for rule in tables.get("rules", [])
        for part in rule["subsections"]
    }
    for section in tables.get("rule_sections", []):
        above = tuple(filter(None, [chapters.get(section["index"])]))
        yield from split_by_heading(section["index"], section["name"], section["desc"], above=above)
    yield from class_levels(tables.get("levels", []))
    yield from character_advancement(tables.get("levels", []))
    yield from spell_lists(tables.get("spells", []))
    for table, (kind, folder, label, render) in RENDERERS.items():
        for row in tables.get(table, []):
            title = str(row.get("full_name") or row["name"])
            try:
                body = GLUED_PRICE.sub(r"\1 \2", render(row).strip())
            except (KeyError, TypeError, ValueError, AttributeError) as problem:
                message = f"{table}, {title}: the row is not as expected ({problem!r})."
                raise Invalid(message) from problem
            # The class, race or weapon group that the row belongs to.
            owners = (name(row.get(key)) for key in ("class", "subclass", "race", "parent"))
            if body:
                yield SrdRule(
                    path=f"{folder}/{row['index']}",
                    kind=kind,
                    title=title,
                    body=body,
                    breadcrumb=(label, *filter(None, owners)),
                    aliases=_aliases(row),
                    data=_data(row),
                )


def _aliases(row: Row) -> tuple[str, ...]:
    """Short and inverted names: `DEX`, and `light crossbow` for `Crossbow, light`."""
    first, comma, rest = str(row["name"]).partition(", ")
    everyday_name = f"{rest} {first}" if comma and "," not in rest else ""
    short = row.get("abbreviation") or (str(row["name"]) if row.get("full_name") else "")
    return tuple(filter(None, (everyday_name, short)))


def _data(row: Row) -> Row:
    data: Row = {key: row[key] for key in DATA_COLUMNS if key in row}
    if isinstance(row.get("level"), int):
        data["level"] = row["level"]
    if isinstance(row.get("school"), dict):
        data["school"] = row["school"]["index"]
    if isinstance(row.get("rarity"), dict):
        data["rarity"] = row["rarity"]["name"]
    return data


# --- parts of a text


def description(row: Row) -> str:
    value = row.get("desc") or row.get("description") or ""  # the editions name it differently
    return join_lines(value) if isinstance(value, list) else str(value)


def join_lines(lines: Iterable[str]) -> str:
    """Join lines as paragraphs; lines of one list or table stay together."""
    text = before = ""
    for line in lines:
        # `**` begins bold text, not an item of a list.
        same_block = before[:1] in tuple("-|*") and line[:1] == before[:1] and line[:2] != "**"
        text += ("\n" if same_block else "\n\n" if text else "") + line
        before = line
    return text


def names(values: Iterable[Any] | None) -> str:
    each_name = (value["name"] if isinstance(value, dict) else value for value in values or [])
    return ", ".join(map(str, each_name))


def name(value: Any) -> str:
    return str(value["name"]) if isinstance(value, dict) else ""


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part.strip())


def option_texts(options: Iterable[Row]) -> str:
    return "; ".join(option["desc"] for option in options if option.get("desc"))


def price(value: Row | None) -> str:
    return f"{value['quantity']:g} {value['unit']}" if value else ""


# --- one function a table


def spell(row: Row) -> str:
    level, school = row["level"], name(row["school"]).lower()
    kind = f"{ORDINALS.get(level, f'{level}th')}-level {school}"
    if level == 0:
        kind = f"{school} cantrip".capitalize()
    material = f" ({row['material'].rstrip('.')})" if row.get("material") else ""
    concentration = "Concentration, " if row.get("concentration") else ""
    higher = row.get("higher_level")
    return paragraphs(
        f"*{kind}{' (ritual)' if row.get('ritual') else ''}*",
        labels(
            ("Casting Time", row["casting_time"]),
            ("Range", row["range"]),
            ("Components", ", ".join(row["components"]) + material),
            ("Duration", concentration + row["duration"]),
            ("Classes", names(row.get("classes"))),
        ),
        description(row),
        f"***At Higher Levels.*** {join_lines(higher)}" if higher else "",
    )


def feature(row: Row) -> str:
    if not description(row):
        return ""
    level = row["level"] if isinstance(row.get("level"), int) else None
    owner = name(row.get("subclass")) or name(row.get("class"))
    parts = (f"{owner} feature" if owner else "", f"(level {level})" if level else "")
    head = " ".join(filter(None, parts))
    return paragraphs(f"*{head}*" if head else "", description(row))


def trait(row: Row) -> str:
    owners = names(row.get("races")) or names(row.get("species"))
    return paragraphs(f"*Trait: {owners}*" if owners else "", description(row))


def ancestry(row: Row) -> str:
    bonuses = (f"{name(b['ability_score'])} +{b['bonus']}" for b in row.get("ability_bonuses", []))
    return paragraphs(
        description(row),
        labels(
            ("Type", row.get("type")),
            ("Ability Score Increase", ", ".join(bonuses)),
            ("Age", row.get("age")),
            ("Alignment", row.get("alignment")),
            ("Size", row.get("size_description") or row.get("size")),
            ("Speed", f"{row['speed']} feet" if row.get("speed") else ""),
            ("Languages", row.get("language_desc")),
            ("Traits", names(row.get("traits") or row.get("racial_traits"))),
            ("Kinds", names(row.get("subraces") or row.get("subspecies"))),
        ),
    )


def background(row: Row) -> str:
    own = row.get("feature")
    lists = []
    for key in CHARACTERISTICS:
        options = row[key]["from"].get("options", []) if key in row else []
        texts = (option.get("string") or option.get("desc") for option in options)
        bullets = "\n".join(f"- {text}" for text in texts if text)
        lists += [f"### {key.replace('_', ' ').title()}\n\n{bullets}"] if key in row else []
    return paragraphs(
        labels(
            ("Ability Scores", names(row.get("ability_scores"))),
            ("Feat", name(row.get("feat"))),
            ("Proficiencies", names(row.get("starting_proficiencies") or row.get("proficiencies"))),
            ("Equipment", option_texts(row.get("equipment_options", []))),
        ),
        f"### Feature: {own['name']}\n\n{join_lines(own['desc'])}" if own else "",
        *lists,
    )


def feat(row: Row) -> str:
    # Edition 2014 lists ability scores, edition 2024 has one object with a level.
    conditions = row.get("prerequisites") or []
    needs = []
    if isinstance(conditions, list):
        scores = [each for each in conditions if isinstance(each, dict)]
        needs = [f"{name(each['ability_score'])} {each['minimum_score']}" for each in scores]
    elif "minimum_level" in conditions:
        needs = [f"level {conditions['minimum_level']}"]
    return paragraphs(labels(("Prerequisite", ", ".join(needs))), description(row))


def character_class(row: Row) -> str:
    multiclassing = (row.get("multi_classing") or {}).get("prerequisites", [])
    needs = ", ".join(f"{name(x['ability_score'])} {x['minimum_score']}" for x in multiclassing)
    spellcasting = (row.get("spellcasting") or {}).get("info", [])
    skills = (choice["desc"] for choice in row.get("proficiency_choices", []))
    return paragraphs(
        labels(
            ("Primary Ability", (row.get("primary_ability") or {}).get("desc")),
            ("Hit Die", f"d{row['hit_die']}"),
            ("Hit Points at 1st Level", f"{row['hit_die']} + your Constitution modifier"),
            ("Saving Throws", names(row.get("saving_throws"))),
            ("Proficiencies", names(row.get("proficiencies"))),
            ("Skills", "; ".join(skills)),
            ("Equipment", option_texts(row.get("starting_equipment_options", []))),
            ("Multiclassing", f"requires {needs}" if needs else ""),
            ("Subclasses", names(row.get("subclasses"))),
        ),
        *(f"### Spellcasting: {part['name']}\n\n{description(part)}" for part in spellcasting),
    )


def subclass(row: Row) -> str:
    flavor = row.get("subclass_flavor") or f"{name(row.get('class'))} subclass"
    features = (
        f"### {each['name']} (level {each['level']})\n\n{description(each)}"
        for each in row.get("features", [])
    )
    head = f"*{flavor}* {row.get('summary', '')}".strip()
    return paragraphs(head, description(row), *features)


def equipment(row: Row) -> str:
    armour = row.get("armor_class") or {}
    dexterity = " + Dex modifier" if armour.get("dex_bonus") else ""
    most = f" (max {armour['max_bonus']})" if armour.get("max_bonus") else ""
    speed = row["speed"] if isinstance(row.get("speed"), dict) else None
    contents = (f"{part['quantity']} × {name(part['item'])}" for part in row.get("contents", []))
    return paragraphs(
        labels(
            ("Category", _category(row)),
            ("Cost", price(row.get("cost"))),
            ("Weight", f"{row['weight']:g} lb." if row.get("weight") else ""),
            ("Damage", _damage(row.get("damage"))),
            ("Two-Handed Damage", _damage(row.get("two_handed_damage"))),
            ("Properties", names(row.get("properties"))),
            ("Mastery", name(row.get("mastery"))),
            ("Range", _reach(row.get("range"))),
            ("Thrown", _reach(row.get("throw_range"))),
            ("Armor Class", f"{armour['base']}{dexterity}{most}" if armour else ""),
            ("Strength", row.get("str_minimum") or ""),
            ("Stealth", "Disadvantage" if row.get("stealth_disadvantage") else ""),
            ("Speed", price(speed)),
            ("Capacity", row.get("capacity")),
            ("Contents", ", ".join(contents)),
        ),
        description(row),
        join_lines(row.get("special", [])),
    )


def _category(row: Row) -> str:
    keys = ("category_range", "armor_category", "tool_category", "vehicle_category")
    detail = next((row[key] for key in keys if row.get(key)), "") or name(row.get("gear_category"))
    groups = name(row.get("equipment_category")) or names(row.get("equipment_categories"))
    return ", ".join(str(part) for part in (groups, detail) if part)


def _damage(value: Row | None) -> str:
    if not value:
        return ""
    return f"{value['damage_dice']} {name(value.get('damage_type')).lower()}".strip()


def _reach(value: Row | None) -> str:
    return f"{value['normal']}/{value['long']} ft." if value and value.get("long") else ""


def magic_item(row: Row) -> str:
    rarity, variants = name(row.get("rarity")), names(row.get("variants"))
    return paragraphs(labels(("Rarity", rarity), ("Variants", variants)), description(row))


def poison(row: Row) -> str:
    head = labels(("Type", row.get("type")), ("Cost", f"{row['cost']} gp"))
    return paragraphs(head, description(row))


def skill(row: Row) -> str:
    ability = name(row.get("ability_score"))
    return paragraphs(labels(("Ability", ABILITIES.get(ability, ability))), description(row))


def ability_score(row: Row) -> str:
    return paragraphs(description(row), labels(("Skills", names(row.get("skills")))))


def language(row: Row) -> str:
    kind = row.get("type") or ("Rare" if row.get("is_rare") else "Standard")
    speakers = ", ".join(row.get("typical_speakers", []))
    return paragraphs(
        labels(("Type", kind), ("Typical Speakers", speakers), ("Script", row.get("script"))),
        description(row) or str(row.get("note") or ""),
    )


# Table: (kind of the rule, folder in its id, label in its breadcrumb, renderer).
RENDERERS: dict[str, tuple[str, str, str, Callable[[Row], str]]] = {
    "conditions": ("condition", "conditions", "Conditions", description),
    "spells": ("spell", "spells", "Spells", spell),
    "monsters": ("monster", "monsters", "Monsters", monster),
    "classes": ("class", "classes", "Classes", character_class),
    "subclasses": ("class", "subclasses", "Subclasses", subclass),
    "features": ("feature", "features", "Class features", feature),
    "races": ("ancestry", "races", "Races", ancestry),
    "subraces": ("ancestry", "subraces", "Subraces", ancestry),
    "species": ("ancestry", "species", "Species", ancestry),
    "subspecies": ("ancestry", "subspecies", "Species", ancestry),
    "traits": ("feature", "traits", "Racial traits", trait),
    "backgrounds": ("background", "backgrounds", "Backgrounds", background),
    "feats": ("feat", "feats", "Feats", feat),
    "equipment": ("equipment", "equipment", "Equipment", equipment),
    "magic_items": ("magic_item", "magic-items", "Magic items", magic_item),
    "poisons": ("equipment", "poisons", "Poisons", poison),
    "weapon_properties": ("term", "weapon-properties", "Weapon properties", description),
    "weapon_mastery_properties": ("term", "weapon-masteries", "Weapon masteries", description),
    "skills": ("skill", "skills", "Skills", skill),
    "ability_scores": ("skill", "ability-scores", "Ability scores", ability_score),
    "damage_types": ("term", "damage-types", "Damage types", description),
    "magic_schools": ("term", "magic-schools", "Schools of magic", description),
    "languages": ("term", "languages", "Languages", language),
    "alignments": ("term", "alignments", "Alignment", description),
}
