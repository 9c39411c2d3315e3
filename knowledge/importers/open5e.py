"""Open5e: pages of its API (`results`) of both versions, lists of the same objects, or single ones:
monsters, spells, magic items, sections and the rest."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.entry_text import (
    ABILITIES,
    ability_table,
    as_dict,
    as_list,
    join_blocks,
    named_paragraph,
    readable,
    section,
    source_line,
    stat_table,
)
from knowledge.importers.files import Bundle, SourceFile
from retrieval.errors import Invalid

Row = dict[str, Any]

FULL_NAMES = dict(
    zip(
        ABILITIES,
        ("strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma"),
        strict=True,
    )
)
SIGNS: dict[str, tuple[str, ...]] = {
    "monster": ("hit_points", "armor_class"),
    "spell": ("casting_time", "components|verbal"),
    "item": ("rarity|category|cost", "desc", "requires_attunement|weight|properties"),
    "class": ("hit_dice|hp_at_1st_level|prof_armor|subclass_of",),
    "ancestry": ("speed_desc|asi|is_subspecies|subspecies_of",),
    "background": ("feature_desc|benefits|suggested_characteristics",),
    "feat": ("prerequisite|effects_desc",),
}
"""The fields that tell what an object without an address is; `|` separates versions."""
KINDS = {
    **dict.fromkeys(("monsters", "creatures"), "monster"),
    "spells": "spell",
    **dict.fromkeys(("magicitems", "items", "weapons", "armor"), "item"),
    **dict.fromkeys(("races", "species"), "ancestry"),
    "classes": "class",
    "backgrounds": "background",
    "feats": "feat",
    "conditions": "condition",
    "planes": "plane",
    "sections": "section",
    "rules": "section",
    "rulesets": "section",
}
"""The kinds of things by the name of their list in an address, or of the file."""
SECTIONS = {
    **dict.fromkeys(("special_abilities", "traits"), "Traits"),
    "actions": "Actions",
    "bonus_actions": "Bonus Actions",
    "reactions": "Reactions",
    "legendary_actions": "Legendary Actions",
    "mythic_actions": "Mythic Actions",
    "lair_actions": "Lair Actions",
}
ACTION_TYPES = {
    "BONUS_ACTION": "Bonus Actions",
    "REACTION": "Reactions",
    "LEGENDARY_ACTION": "Legendary Actions",
    "MYTHIC_ACTION": "Mythic Actions",
    "LAIR_ACTION": "Lair Actions",
}
MONSTER_FIELDS = (
    *("size", "type", "subtype", "group", "alignment", "armor_class", "armor_desc", "armor_detail"),
    *("hit_points", "hit_dice", "speed", "speed_all", "senses", "languages", "challenge_rating"),
    *("cr", "challenge_rating_text", "challenge_rating_decimal", "skills", "skill_bonuses"),
    *("saving_throws", "saving_throws_all", "skill_bonuses_all", "ability_scores", "modifiers"),
    *("damage_vulnerabilities", "damage_resistances", "damage_immunities", "condition_immunities"),
    *("resistances_and_immunities", "legendary_desc", "perception", "passive_perception"),
    *("darkvision_range", "blindsight_range", "tremorsense_range", "truesight_range"),
    *(name for full in FULL_NAMES.values() for name in (full, f"{full}_save")),
    *SECTIONS,
)
KNOWN = {
    "monster": MONSTER_FIELDS,
    "spell": (
        *("level", "level_int", "spell_level", "school", "casting_time", "range", "range_text"),
        *("components", "material", "verbal", "somatic", "duration", "concentration", "ritual"),
        *("material_specified", "requires_concentration", "can_be_cast_as_ritual", "higher_level"),
        *("requires_verbal_components", "requires_somatic_components", "dnd_class", "classes"),
        *("requires_material_components", "higher_levels", "reaction_condition", "range_unit"),
    ),
    "item": (
        "type",
        "category",
        "rarity",
        "requires_attunement",
        "cost",
        "weight",
        "attunement_detail",
    ),
}
SHARED = (
    *("name", "slug", "key", "desc", "url", "document", "page_no", "page", "v2_converted_path"),
    "parent",
)
MOST_SHORT = 400
"""Longer texts of things without a layout of their own are sections, shorter ones facts."""


def is_open5e(file: SourceFile, _bundle: Bundle) -> int:
    rows = [row for row in rows_of(file.json())[:20] if isinstance(row, dict)]
    if not rows or not all("name" in row or "title" in row for row in rows):
        return 0
    if any("document__slug" in row or "open5e" in str(row.get("url", "")) for row in rows):
        return 85
    if any(as_dict(row.get("document")).get("key") for row in rows):
        return 80
    is_page = isinstance(file.json(), dict) and "results" in file.json()
    if not all("desc" in row for row in rows):
        return 0
    if any(kind_of(row, "") in ("monster", "spell") for row in rows):
        return 65
    return 64 if is_page or file.path.stem.lower() in KINDS else 0


def rows_of(content: Any) -> list[Any]:
    """The objects of a page, of a list, or the only one; rows of a database dump have `fields`."""
    if isinstance(content, dict):
        content = content["results"] if isinstance(content.get("results"), list) else [content]
    rows = content if isinstance(content, list) else []
    return [
        {**row["fields"], "key": row.get("pk")}
        if isinstance(row, dict) and isinstance(row.get("fields"), dict) and "model" in row
        else row
        for row in rows
    ]


def read_open5e(bundle: Bundle) -> Iterator[LoreDraft]:
    for file in bundle.files:
        with bundle.problems_of(file.name):
            rows = rows_of(file.json())
            if not rows:
                raise Invalid(_("The file holds no list of Open5e."))
            for number, row in enumerate(rows, 1):
                where = f"{file.name}: {number}"
                with bundle.problems_of(where):
                    yield _draft(file, row, where)


def kind_of(row: Row, file_name: str) -> str:
    """What an object is: by its address, its fields, or the name of its file."""
    parts = str(row.get("url") or "").rstrip("/").split("/")
    if len(parts) > 2 and parts[-2] in KINDS:
        return KINDS[parts[-2]]
    for kind, signs in SIGNS.items():
        if all(any(name in row for name in sign.split("|")) for sign in signs):
            return kind
    return KINDS.get(file_name.lower(), "section")


def _draft(file: SourceFile, row: Any, where: str) -> LoreDraft:
    if not isinstance(row, dict) or not (row.get("name") or row.get("title")):
        raise Invalid(_("This is no object with a name."))
    kind = kind_of(row, file.path.stem)
    layouts = {"monster": _monster, "spell": _spell, "item": _item}
    body = layouts[kind](row) if kind in layouts else _thing(row)
    known = (
        *SHARED,
        *KNOWN.get(kind, ()),
        *(name for name in row if name.startswith("document__")),
    )
    extra = {} if kind not in layouts else fields_except(row, *known)
    creature_type = _name(row.get("type")) if kind == "monster" else ""
    return make_draft(
        where,
        file=file.name,
        title=row.get("name") or row.get("title"),
        kind=kind,
        is_rule=True,
        body=join_blocks([body, _source(row)]),
        tags=[tag for tag in (kind, creature_type.lower()) if tag],
        folder=str(row.get("parent") or "") if kind == "section" else "",
        source=f"open5e:{row.get('slug') or row.get('key') or row.get('name')}",
        extra=extra,
    )


def _name(value: Any) -> str:
    """A value of version 1, or the name of an object of version 2; of an address, its end."""
    if isinstance(value, dict):
        value = value.get("as_string") or value.get("name") or value.get("key")
    if isinstance(value, list):
        return ", ".join(filter(None, map(_name, value)))
    text = "" if value is None else str(value)
    return text.rstrip("/").rpartition("/")[2] if text.startswith("http") else text


def _text(value: Any) -> str:
    return str(value or "").replace("\r\n", "\n").strip()


def _source(row: Row) -> str:
    document = row.get("document")
    about = as_dict(document)
    title = row.get("document__title") or about.get("name") or _name(document)
    page = row.get("page_no") or row.get("page")
    words = _("page %(number)s") % {"number": page} if page else ""
    publisher = _name(about.get("publisher")) or row.get("document__author")
    licence = _name(about.get("licenses") or about.get("license"))
    address = row.get("document__license_url") or about.get("permalink") or row.get("document__url")
    return source_line(title, words, publisher, licence, address)


def _monster(row: Row) -> str:
    scores = as_dict(row.get("ability_scores")) or row
    head = " ".join(filter(None, [_name(row.get("size")), _name(row.get("type"))]))
    subtype = _name(row.get("subtype"))
    head += f" ({subtype})" if subtype else ""
    head = ", ".join(filter(None, [head, _name(row.get("alignment"))]))
    return join_blocks(
        [
            f"*{head}*" if head else "",
            stat_table(_monster_facts(row)),
            ability_table({short: scores.get(full) for short, full in FULL_NAMES.items()}),
            _text(row.get("desc")),
            *_monster_sections(row),
        ]
    )


def _monster_facts(row: Row) -> dict[str, str]:
    armor = row.get("armor_desc") or row.get("armor_detail")
    dice = row.get("hit_dice")
    saves = as_dict(row.get("saving_throws")) or {
        full: row.get(f"{full}_save") for full in FULL_NAMES.values()
    }
    damage = as_dict(row.get("resistances_and_immunities"))

    def defence(name: str) -> str:
        return _name(row.get(name) or damage.get(f"{name}_display") or damage.get(name))

    return {
        "Armor Class": f"{_name(row.get('armor_class'))} ({armor})"
        if armor
        else _name(row.get("armor_class")),
        "Hit Points": f"{_name(row.get('hit_points'))} ({dice})"
        if dice
        else _name(row.get("hit_points")),
        "Speed": _speed(row.get("speed")),
        "Saving Throws": _bonuses(saves),
        "Skills": _bonuses(as_dict(row.get("skills")) or as_dict(row.get("skill_bonuses"))),
        "Damage Vulnerabilities": defence("damage_vulnerabilities"),
        "Damage Resistances": defence("damage_resistances"),
        "Damage Immunities": defence("damage_immunities"),
        "Condition Immunities": defence("condition_immunities"),
        "Senses": _senses(row),
        "Languages": _name(row.get("languages")),
        "Challenge": _name(
            row.get("challenge_rating_text") or row.get("challenge_rating") or row.get("cr")
        ),
    }


def _senses(row: Row) -> str:
    if row.get("senses"):
        return _name(row["senses"])
    ranges = [
        f"{name} {readable(row[f'{name}_range'])} ft."
        for name in ("blindsight", "darkvision", "tremorsense", "truesight")
        if row.get(f"{name}_range")
    ]
    passive = row.get("passive_perception")
    return ", ".join([*ranges, *([f"passive Perception {passive}"] if passive else [])])


def _speed(value: Any) -> str:
    speeds = as_dict(value)
    if not speeds:
        return _name(value)
    return ", ".join(
        f"{'' if name == 'walk' else f'{name} '}{readable(speed)} ft."
        for name, speed in speeds.items()
        if isinstance(speed, int | float) and not isinstance(speed, bool) and speed
    )


def _bonuses(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ').title()} {bonus:+d}"
        for name, bonus in values.items()
        if isinstance(bonus, int) and not isinstance(bonus, bool)
    )


def _monster_sections(row: Row) -> Iterator[str]:
    texts: dict[str, list[str]] = {}
    for field, heading in SECTIONS.items():
        value = row.get(field)
        if isinstance(value, str):
            texts.setdefault(heading, []).append(_text(value))
            continue
        for action in as_list(value):
            about = as_dict(action)
            place = ACTION_TYPES.get(str(about.get("action_type")), heading)
            text = named_paragraph(str(about.get("name") or ""), _text(about.get("desc")))
            texts.setdefault(place, []).append(text)
    if legendary := _text(row.get("legendary_desc")):
        texts.setdefault("Legendary Actions", []).insert(0, legendary)
    for heading, parts in texts.items():
        yield section(heading, join_blocks(parts))


def _spell(row: Row) -> str:
    classes = _name(row.get("dnd_class") or row.get("classes"))
    facts = {
        "Level": ", ".join(filter(None, [_spell_level(row), _name(row.get("school"))])),
        "Casting Time": " ".join(
            filter(None, [_name(row.get("casting_time")), _name(row.get("reaction_condition"))])
        ),
        "Range": _name(row.get("range_text") or row.get("range")),
        "Components": _components(row),
        "Duration": _duration(row),
        "Ritual": "yes" if row.get("ritual") in (True, "yes") else "",
        "Classes": classes,
    }
    higher = _text(row.get("higher_level") or row.get("higher_levels"))
    parts = [stat_table(facts), _text(row.get("desc"))]
    return join_blocks([*parts, named_paragraph("At Higher Levels", higher) if higher else ""])


def _spell_level(row: Row) -> str:
    level = row.get("level")
    if isinstance(level, int):
        return "cantrip" if level == 0 else f"level {level}"
    return _name(level)


def _components(row: Row) -> str:
    material = row.get("material_specified") or row.get("material")
    letters = row.get("components")
    if not isinstance(letters, str):
        names = {"verbal": "V", "somatic": "S", "material": "M"}
        letters = ", ".join(letter for name, letter in names.items() if row.get(name))
    return f"{letters} ({material})" if isinstance(material, str) and material else letters


def _duration(row: Row) -> str:
    duration = _name(row.get("duration"))
    is_held = row.get("concentration") in (True, "yes")
    return f"concentration, {duration}" if is_held else duration


def _item(row: Row) -> str:
    attuned = row.get("requires_attunement")
    detail = row.get("attunement_detail")
    cost, weight = (row.get(name) for name in ("cost", "weight"))
    facts = {
        "Type": _name(row.get("type") or row.get("category")),
        "Rarity": _name(row.get("rarity")),
        "Attunement": _name(detail) or ("required" if attuned is True else _name(attuned or "")),
        "Cost": _name(cost) if _is_amount(cost) else "",
        "Weight": _name(weight) if _is_amount(weight) else "",
    }
    return join_blocks([stat_table(facts), _text(row.get("desc"))])


def _is_amount(value: Any) -> bool:
    """Whether it says more than nothing: `0.00` is what the API gives where it does not know."""
    return bool(str(value or "").strip("0. "))


def _thing(row: Row) -> str:
    """Facts in a table, long texts as sections: every field of a thing without its own layout."""
    facts, sections = {}, []
    for name, value in row.items():
        if name in SHARED or name.startswith("document__") or value in (None, "", [], {}, False):
            continue
        heading = name.replace("_", " ").capitalize()
        text = _long_text(value)
        if "\n" in text or len(text) > MOST_SHORT:
            sections.append(section(heading, text))
        else:
            facts[heading] = text
    return join_blocks([stat_table(facts), _text(row.get("desc")), *sections])


def _long_text(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return join_blocks(
            named_paragraph(_name(each), _text(as_dict(each).get("desc"))) for each in value
        )
    return _text(value) if isinstance(value, str) else _name(value) or readable(value)
