"""Rows of the SRD data set as rules in readable Markdown. Pure tables of what to show; both editions are understood."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from knowledge.srd.sections import Written, by_heading
from knowledge.srd.statblocks import monster
from retrieval.errors import Invalid

Row = dict[str, Any]
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}
ABILITIES = {
    "STR": "Strength",
    "DEX": "Dexterity",
    "CON": "Constitution",
    "INT": "Intelligence",
    "WIS": "Wisdom",
    "CHA": "Charisma",
}

CHARACTERISTICS = (
    ("personality_traits", "Personality Traits"),
    ("ideals", "Ideals"),
    ("bonds", "Bonds"),
    ("flaws", "Flaws"),
)

SHOWN_BESIDE = ("challenge_rating", "xp", "type", "size", "ritual", "concentration")


def rules_of(tables: dict[str, list[Row]]) -> Iterator[Written]:
    """Render everything that is text; `tables` maps a table's name to its rows."""
    yield from _chapters(tables)
    for table, (kind, folder, label, render) in RENDERERS.items():
        for row in tables.get(table, []):
            title = str(row.get("full_name") or row["name"])
            try:
                body = render(row).strip()
            except (KeyError, TypeError, AttributeError) as problem:
                raise Invalid(
                    f"{table}, {title}: the row is not as expected ({problem!r})."
                ) from problem
            if body:
                yield Written(
                    path=f"{folder}/{row['index']}",
                    kind=kind,
                    title=title,
                    body=body,
                    breadcrumb=tuple(filter(None, (label, *_where(row)))),
                    aliases=_aliases(row),
                    data=_data(row),
                )


def _chapters(tables: dict[str, list[Row]]) -> Iterator[Written]:
    above = {
        part["index"]: rule["name"]
        for rule in tables.get("rules", [])
        for part in rule["subsections"]
    }
    for section in tables.get("rule_sections", []):
        chapter = above.get(section["index"])
        yield from by_heading(
            section["index"], section["name"], section["desc"], above=(chapter,) if chapter else ()
        )


def _where(row: Row) -> list[str]:
    """The class, race or weapon group that a row belongs to."""
    owners = [row.get(key) for key in ("class", "subclass", "race", "parent")]
    return [owner["name"] for owner in owners if isinstance(owner, dict)]


def _aliases(row: Row) -> tuple[str, ...]:
    """Short and turned-around names: `DEX`, and `light crossbow` for `Crossbow, light`."""
    name = str(row["name"])
    first, comma, rest = name.partition(", ")
    turned = f"{rest} {first}" if comma and "," not in rest else ""
    short = row.get("abbreviation") or (name if row.get("full_name") else "")
    return tuple(filter(None, (turned, short)))


def _data(row: Row) -> Row:
    kept: Row = {key: row[key] for key in SHOWN_BESIDE if key in row}
    if isinstance(row.get("level"), int):
        kept["level"] = row["level"]
    if isinstance(row.get("school"), dict):
        kept["school"] = row["school"]["index"]
    if isinstance(row.get("rarity"), dict):
        kept["rarity"] = row["rarity"]["name"]
    return kept


# --- pieces


def prose(row: Row) -> str:
    """The row's own text, whatever its edition calls it; lines of one list or table stay together."""
    value = row.get("desc") or row.get("description") or ""
    return _joined(value) if isinstance(value, list) else str(value)


def _joined(lines: Iterable[str]) -> str:
    text = ""
    before = ""
    for line in lines:
        close = (
            bool(before)
            and before[:1] in "-|*"
            and line[:1] == before[:1]
            and not line.startswith("**")
        )
        text += ("\n" if close else "\n\n" if text else "") + line
        before = line
    return text


def facts(*pairs: tuple[str, Any]) -> str:
    """`**Label** value` for each value that says something."""
    return "  \n".join(
        f"**{label}** {value}" for label, value in pairs if value not in (None, "", [], False)
    )


def names(values: Iterable[Any] | None) -> str:
    return ", ".join(
        str(value["name"] if isinstance(value, dict) else value) for value in values or []
    )


def name(value: Any) -> str:
    return str(value["name"]) if isinstance(value, dict) else ""


def _blocks(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part.strip())


# --- one function a table


def spell(row: Row) -> str:
    level = row["level"]
    school = name(row["school"]).lower()
    kind = (
        f"{school} cantrip".capitalize()
        if level == 0
        else f"{ORDINALS.get(level, f'{level}th')}-level {school}"
    )
    material = f" ({row['material'].rstrip('.')})" if row.get("material") else ""
    return _blocks(
        f"*{kind}{' (ritual)' if row.get('ritual') else ''}*",
        facts(
            ("Casting Time", row["casting_time"]),
            ("Range", row["range"]),
            ("Components", ", ".join(row["components"]) + material),
            (
                "Duration",
                f"{'Concentration, ' if row.get('concentration') else ''}{row['duration']}",
            ),
            ("Classes", names(row.get("classes"))),
        ),
        prose(row),
        f"***At Higher Levels.*** {_joined(row['higher_level'])}"
        if row.get("higher_level")
        else "",
    )


def feature(row: Row) -> str:
    level = row["level"] if isinstance(row.get("level"), int) else None
    owner = name(row.get("subclass")) or name(row.get("class"))
    head = " ".join(
        filter(None, (owner, "feature" if owner else "", f"(level {level})" if level else ""))
    )
    return _blocks(f"*{head}*" if head else "", prose(row)) if prose(row) else ""


def trait(row: Row) -> str:
    owners = names(row.get("races")) or names(row.get("species"))
    return _blocks(f"*Trait: {owners}*" if owners else "", prose(row))


def ancestry(row: Row) -> str:
    bonuses = ", ".join(
        f"{name(b['ability_score'])} +{b['bonus']}" for b in row.get("ability_bonuses", [])
    )
    return _blocks(
        prose(row),
        facts(
            ("Type", row.get("type")),
            ("Ability Score Increase", bonuses),
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
    feature_of = row.get("feature") or {}
    return _blocks(
        facts(
            ("Ability Scores", names(row.get("ability_scores"))),
            ("Feat", name(row.get("feat"))),
            ("Proficiencies", names(row.get("starting_proficiencies") or row.get("proficiencies"))),
            (
                "Equipment",
                "; ".join(
                    option["desc"]
                    for option in row.get("equipment_options", [])
                    if "desc" in option
                ),
            ),
        ),
        f"### Feature: {feature_of['name']}\n\n{_joined(feature_of['desc'])}" if feature_of else "",
        *(f"### {label}\n\n{_options(row[key])}" for key, label in CHARACTERISTICS if key in row),
    )


def _options(choice: Row) -> str:
    texts = (
        option.get("string") or option.get("desc") for option in choice["from"].get("options", [])
    )
    return "\n".join(f"- {text}" for text in texts if text)


def feat(row: Row) -> str:
    wanted = row.get("prerequisites")
    scores = (
        [
            f"{name(each['ability_score'])} {each['minimum_score']}"
            for each in wanted or []
            if isinstance(each, dict)
        ]
        if isinstance(wanted, list)
        else []
    )
    level = (
        f"level {wanted['minimum_level']}"
        if isinstance(wanted, dict) and "minimum_level" in wanted
        else ""
    )
    return _blocks(facts(("Prerequisite", ", ".join(filter(None, (*scores, level))))), prose(row))


def character_class(row: Row) -> str:
    needs = [
        f"{name(need['ability_score'])} {need['minimum_score']}"
        for need in (row.get("multi_classing") or {}).get("prerequisites", [])
    ]
    spellcasting = row.get("spellcasting") or {}
    return _blocks(
        facts(
            ("Primary Ability", (row.get("primary_ability") or {}).get("desc")),
            ("Hit Die", f"d{row['hit_die']}"),
            ("Hit Points at 1st Level", f"{row['hit_die']} + your Constitution modifier"),
            ("Saving Throws", names(row.get("saving_throws"))),
            ("Proficiencies", names(row.get("proficiencies"))),
            ("Skills", "; ".join(choice["desc"] for choice in row.get("proficiency_choices", []))),
            (
                "Equipment",
                "; ".join(
                    o["desc"] for o in row.get("starting_equipment_options", []) if o.get("desc")
                ),
            ),
            ("Multiclassing", f"requires {', '.join(needs)}" if needs else ""),
            ("Subclasses", names(row.get("subclasses"))),
        ),
        *(
            f"### Spellcasting: {info['name']}\n\n{prose(info)}"
            for info in spellcasting.get("info", [])
        ),
    )


def subclass(row: Row) -> str:
    told = [
        f"### {each['name']} (level {each['level']})\n\n{prose(each)}"
        for each in row.get("features", [])
    ]
    owner = f"{name(row.get('class'))} subclass"
    return _blocks(
        f"*{row.get('subclass_flavor') or owner}* {row.get('summary', '')}".strip(),
        prose(row),
        *told,
    )


def equipment(row: Row) -> str:
    cost, armour = row.get("cost") or {}, row.get("armor_class") or {}
    dexterity = " + Dex modifier" if armour.get("dex_bonus") else ""
    most = f" (max {armour['max_bonus']})" if armour.get("max_bonus") else ""
    reach, thrown = row.get("range") or {}, row.get("throw_range") or {}
    return _blocks(
        facts(
            ("Category", _category(row)),
            ("Cost", f"{cost['quantity']} {cost['unit']}" if cost else ""),
            ("Weight", f"{row['weight']:g} lb." if row.get("weight") else ""),
            ("Damage", _damage(row.get("damage"))),
            ("Two-Handed Damage", _damage(row.get("two_handed_damage"))),
            ("Properties", names(row.get("properties"))),
            ("Mastery", name(row.get("mastery"))),
            ("Range", f"{reach['normal']}/{reach['long']} ft." if reach.get("long") else ""),
            ("Thrown", f"{thrown['normal']}/{thrown['long']} ft." if thrown.get("long") else ""),
            ("Armor Class", f"{armour['base']}{dexterity}{most}" if armour else ""),
            ("Strength", row.get("str_minimum") or ""),
            ("Stealth", "Disadvantage" if row.get("stealth_disadvantage") else ""),
            (
                "Speed",
                f"{row['speed']['quantity']:g} {row['speed']['unit']}"
                if isinstance(row.get("speed"), dict)
                else "",
            ),
            ("Capacity", row.get("capacity")),
            (
                "Contents",
                ", ".join(
                    f"{part['quantity']} × {name(part['item'])}" for part in row.get("contents", [])
                ),
            ),
        ),
        prose(row),
        _joined(row.get("special", [])),
    )


def _category(row: Row) -> str:
    detail = (
        row.get("category_range")
        or row.get("armor_category")
        or row.get("tool_category")
        or row.get("vehicle_category")
    )
    groups = name(row.get("equipment_category")) or names(row.get("equipment_categories"))
    return ", ".join(
        str(part) for part in (groups, detail or name(row.get("gear_category"))) if part
    )


def _damage(value: Row | None) -> str:
    return (
        f"{value['damage_dice']} {name(value.get('damage_type')).lower()}".strip() if value else ""
    )


def magic_item(row: Row) -> str:
    variants = names(row.get("variants"))
    return _blocks(facts(("Rarity", name(row.get("rarity"))), ("Variants", variants)), prose(row))


def poison(row: Row) -> str:
    return _blocks(facts(("Type", row.get("type")), ("Cost", f"{row['cost']} gp")), prose(row))


def skill(row: Row) -> str:
    ability = name(row.get("ability_score"))
    return _blocks(facts(("Ability", ABILITIES.get(ability, ability))), prose(row))


def ability(row: Row) -> str:
    return _blocks(prose(row), facts(("Skills", names(row.get("skills")))))


def language(row: Row) -> str:
    return _blocks(
        facts(
            ("Type", row.get("type") or ("Rare" if row.get("is_rare") else "Standard")),
            ("Typical Speakers", ", ".join(row.get("typical_speakers", []))),
            ("Script", row.get("script")),
        ),
        prose(row) or str(row.get("note") or ""),
    )


RENDERERS: dict[str, tuple[str, str, str, Callable[[Row], str]]] = {
    "conditions": ("condition", "conditions", "Conditions", prose),
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
    "weapon_properties": ("term", "weapon-properties", "Weapon properties", prose),
    "weapon_mastery_properties": ("term", "weapon-masteries", "Weapon masteries", prose),
    "skills": ("skill", "skills", "Skills", skill),
    "ability_scores": ("skill", "ability-scores", "Ability scores", ability),
    "damage_types": ("term", "damage-types", "Damage types", prose),
    "magic_schools": ("term", "magic-schools", "Schools of magic", prose),
    "languages": ("term", "languages", "Languages", language),
    "alignments": ("term", "alignments", "Alignment", prose),
}
