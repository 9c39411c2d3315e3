"""The Pathfinder system (pf2e) of Foundry VTT: statistics of actors and items as tables, and inline
rolls as words."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from knowledge.importers.entry_text import (
    as_dict,
    as_list,
    heading_of,
    join_blocks,
    named_paragraph,
    readable,
    secret_block,
    section,
    source_line,
    stat_table,
    table,
)

Document = dict[str, Any]
Text = Callable[[Any], str]
"""Turns HTML with links into Markdown."""

ENRICHER = re.compile(
    r"@(?P<name>Check|Damage|Template|Localize|Embed)"
    r"\[(?P<options>(?:[^\[\]]|\[[^\[\]]{0,200}\]){0,400})\](?:\{(?P<words>[^{}\n]{0,200})\})?"
)
GLYPH = re.compile(r'<span class="action-glyph">\s*([^<>]{1,12})\s*</span>', re.IGNORECASE)
GLYPHS = {
    **dict.fromkeys(("1", "a"), "one action"),
    **dict.fromkeys(("2", "d"), "two actions"),
    **dict.fromkeys(("3", "t"), "three actions"),
    "r": "reaction",
    "f": "free action",
}
SAVES = {"fortitude": "Fortitude", "reflex": "Reflex", "will": "Will"}
SIZES = {
    "tiny": "Tiny",
    "sm": "Small",
    "med": "Medium",
    "lg": "Large",
    "huge": "Huge",
    "grg": "Gargantuan",
}
ABILITIES = ("str", "dex", "con", "int", "wis", "cha")
CATEGORIES = {
    "interaction": "General Abilities",
    "defensive": "Defensive Abilities",
    "offensive": "Offensive Abilities",
}
PF2E_THINGS = ("armor", "shield", "treasure", "ammo", "kit", "book")
"""Types of items that lie in a world, beyond those of other systems."""
HIDDEN_PARTS = ("campaignNotes",)
NOTES = ("publicNotes", "description", "disable", "routine", "reset")


def is_pf2e(document: Document) -> bool:
    if as_dict(document.get("_stats")).get("systemId") == "pf2e":
        return True
    system = as_dict(document.get("system"))
    details = as_dict(system.get("details"))
    return "publication" in system or "publication" in details


def is_unique(document: Document) -> bool:
    """Whether an actor is one certain creature: the rarity of whoever has a name."""
    return as_dict(as_dict(document.get("system")).get("traits")).get("rarity") == "unique"


def enricher_words(text: str) -> str:
    """`@Check[reflex|dc:20|basic]` is `DC 20 basic Reflex check`; words that stand beside count."""
    words = GLYPH.sub(lambda found: f"[{GLYPHS.get(found[1].strip().lower(), found[1])}]", text)
    return ENRICHER.sub(_words, words)


def _words(found: re.Match[str]) -> str:
    if found["words"]:
        return found["words"]
    first, *rest = found["options"].split("|")
    options = dict(
        part.partition(":")[::2] for part in (first, *rest) if not part.startswith("options")
    )
    if found["name"] == "Damage":
        return _damage_words(found["options"])
    if found["name"] == "Template":
        shape = options.get("type") or first
        return f"{options.get('distance', '')}-foot {shape}".strip("-")
    if found["name"] == "Check":
        return _check_words(first, options)
    return ""


def _check_words(first: str, options: dict[str, str]) -> str:
    kind = (options.get("type") or first).replace("-", " ").title()
    dc = options.get("dc", "")
    parts = [
        f"DC {dc}" if dc.isdigit() else "",
        "basic" if "basic" in options else "",
        kind,
        "save" if kind.lower() in SAVES else "check",
    ]
    against = options.get("against") or options.get("defense")
    return " ".join(filter(None, parts)) + (
        f" against {against.replace('-', ' ')}" if against else ""
    )


def _damage_words(options: str) -> str:
    """`2d6[fire],1d4[persistent,bleed]|options:…` is `2d6 fire plus 1d4 persistent bleed`."""
    formula = re.split(r"\|(?:options|traits|shortLabel|name)", options)[0]
    rolls = re.findall(r"([^\[\],|]+)(?:\[([^\[\]]*)\])?", formula)
    words = [f"{roll.strip(' ()')} {kind.replace(',', ' ')}".strip() for roll, kind in rolls]
    return " plus ".join(filter(None, words))


# --- actors


def actor_text(document: Document, text: Text) -> str:
    system = as_dict(document.get("system"))
    details = as_dict(system.get("details"))
    items = [each for each in as_list(document.get("items")) if isinstance(each, dict)]
    biography = as_dict(details.get("biography"))
    return join_blocks(
        [
            _head(system),
            text(details.get("blurb")),
            stat_table(_facts(system, items)),
            _modifiers(as_dict(system.get("abilities"))),
            *(text(details.get(name)) for name in NOTES),
            *_biography(biography, text),
            secret_block(text(details.get("privateNotes"))),
            _strikes(items),
            *_abilities(items, text),
            *_spells(items),
            _publication(details.get("publication")),
        ]
    )


def _biography(biography: Document, text: Text) -> Iterator[str]:
    """What a player wrote of a character; parts that are not shown to others are secrets."""
    visibility = as_dict(biography.get("visibility"))
    for name, each in biography.items():
        if isinstance(each, str):
            part = section(heading_of(name), text(each))
            is_shown = name not in HIDDEN_PARTS and visibility.get(name) is not False
            yield part if is_shown else secret_block(part)


def _head(system: Document) -> str:
    traits = as_dict(system.get("traits"))
    level = _value(as_dict(system.get("details")).get("level"))
    size = SIZES.get(_value(traits.get("size")), _value(traits.get("size")))
    words = [
        f"Level {level}" if level else "",
        _value(traits.get("rarity")).replace("common", "") or "",
        size,
        ", ".join(map(str, as_list(traits.get("value")))),
    ]
    line = ", ".join(filter(None, words))
    return f"*{line}*" if line else ""


def _value(value: Any) -> str:
    """A value that stands alone, or inside of `{value: …}`."""
    if isinstance(value, dict):
        value = value.get("value")
    return readable(value)


def _facts(system: Document, items: list[Document]) -> dict[str, str]:
    attributes = as_dict(system.get("attributes"))
    saves = as_dict(system.get("saves"))
    perception = as_dict(system.get("perception"))
    languages = as_dict(as_dict(system.get("details")).get("languages"))
    hp = as_dict(attributes.get("hp"))
    stealth = as_dict(attributes.get("stealth"))
    lore = {
        str(each.get("name")): as_dict(each.get("system")) for each in items if _is(each, "lore")
    }
    skills = {
        **{heading_of(name): each for name, each in as_dict(system.get("skills")).items()},
        **{name: as_dict(each.get("mod")) for name, each in lore.items()},
    }
    return {
        "Perception": _join_parts([_bonus(perception.get("mod")), _senses(perception)]),
        "Languages": _join_parts([_value(languages), str(languages.get("details") or "")]),
        "Skills": ", ".join(
            f"{name} {_bonus(as_dict(each).get('base', as_dict(each).get('value')))}".strip()
            for name, each in skills.items()
        ),
        "Stealth": _join_parts([_bonus(stealth.get("value")), str(stealth.get("details") or "")]),
        "AC": _join_parts(
            [_value(attributes.get("ac")), str(as_dict(attributes.get("ac")).get("details") or "")]
        ),
        "Saves": _join_parts(
            [
                *(
                    f"{label} {_bonus(as_dict(saves[name]).get('value'))}"
                    for name, label in SAVES.items()
                    if name in saves
                ),
                _value(attributes.get("allSaves")),
            ]
        ),
        "HP": _join_parts([readable(hp.get("max")), str(hp.get("details") or "")]),
        "Hardness": _value(attributes.get("hardness")).strip("0"),
        "Immunities": _defences(attributes.get("immunities")),
        "Weaknesses": _defences(attributes.get("weaknesses")),
        "Resistances": _defences(attributes.get("resistances")),
        "Speed": _speed(as_dict(attributes.get("speed"))),
    }


def _is(item: Document, kind: str) -> bool:
    return item.get("type") == kind


def _join_parts(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)


def _bonus(value: Any) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:+d}" if is_number else readable(value)


def _senses(perception: Document) -> str:
    senses = [
        " ".join(readable(each.get(key)) for key in ("acuity", "type", "range") if each.get(key))
        for each in as_list(perception.get("senses"))
        if isinstance(each, dict)
    ]
    return ", ".join([*senses, *filter(None, [str(perception.get("details") or "")])])


def _defences(value: Any) -> str:
    return ", ".join(
        f"{str(each.get('type') or '').replace('-', ' ')} {readable(each.get('value'))}".strip()
        for each in as_list(value)
        if isinstance(each, dict)
    )


def _speed(speed: Document) -> str:
    walk = speed.get("value")
    others = [
        f"{each.get('type')} {readable(each.get('value'))} feet"
        for each in as_list(speed.get("otherSpeeds"))
        if isinstance(each, dict)
    ]
    return ", ".join([*([f"{readable(walk)} feet"] if walk else []), *others])


def _modifiers(abilities: Document) -> str:
    cells = [_bonus(as_dict(abilities.get(name)).get("mod")) for name in ABILITIES]
    return table([name.upper() for name in ABILITIES], [cells]) if any(cells) else ""


def _traits(system: Document) -> str:
    names = ", ".join(map(str, as_list(as_dict(system.get("traits")).get("value"))))
    return f" ({names})" if names else ""


def _strikes(items: list[Document]) -> str:
    lines = []
    for item in items:
        system = as_dict(item.get("system"))
        if not _is(item, "melee"):
            continue
        damage = " plus ".join(
            f"{readable(each.get('damage'))} {readable(each.get('damageType'))}".strip()
            for each in as_dict(system.get("damageRolls")).values()
            if isinstance(each, dict)
        )
        bonus = _bonus(as_dict(system.get("bonus")).get("value"))
        name = f"{item.get('name')} {bonus}{_traits(system)}"
        lines.append(f"- **{name}** {damage}".rstrip())
    return section("Strikes", "\n".join(lines))


def _abilities(items: list[Document], text: Text) -> Iterator[str]:
    parts: dict[str, list[str]] = {}
    for item in items:
        system = as_dict(item.get("system"))
        if _is(item, "action"):
            name = f"{item.get('name')}{_cost(system)}{_traits(system)}"
            body = named_paragraph(name, text(as_dict(system.get("description")).get("value")))
            category = CATEGORIES.get(str(system.get("category")), CATEGORIES["interaction"])
            parts.setdefault(category, []).append(body)
    for heading in CATEGORIES.values():
        yield section(heading, join_blocks(parts.get(heading, ())))


def _cost(system: Document) -> str:
    """How many actions something takes."""
    kind = _value(system.get("actionType"))
    count = _value(system.get("actions"))
    words = GLYPHS.get(count, "") if kind == "action" else kind
    return f" [{words}]" if words and words != "passive" else ""


def _spells(items: list[Document]) -> Iterator[str]:
    """The spells of each way of casting, by their rank."""
    for entry in items:
        if not _is(entry, "spellcastingEntry"):
            continue
        ranks: dict[int, list[str]] = {}
        for spell in items:
            system = as_dict(spell.get("system"))
            place = as_dict(system.get("location"))
            if _is(spell, "spell") and place.get("value") == entry.get("_id"):
                level = place.get("heightenedLevel") or as_dict(system.get("level")).get("value")
                rank = level if isinstance(level, int) else 0
                traits = as_list(as_dict(system.get("traits")).get("value"))
                ranks.setdefault(0 if "cantrip" in traits else rank, []).append(
                    str(spell.get("name"))
                )
        numbers = as_dict(as_dict(entry.get("system")).get("spelldc"))
        known = [
            f"DC {numbers['dc']}" if numbers.get("dc") else "",
            f"attack {_bonus(numbers['value'])}" if numbers.get("value") else "",
        ]
        lines = [
            f"- {f'Rank {rank}' if rank else 'Cantrips'}: {', '.join(names)}"
            for rank, names in sorted(ranks.items(), reverse=True)
        ]
        text = join_blocks([_join_parts(known), "\n".join(lines)])
        yield section(str(entry.get("name") or "Spells"), text)


def _publication(value: Any) -> str:
    about = as_dict(value)
    return source_line(about.get("title"), about.get("license")) if about.get("title") else ""


# --- items


def item_text(document: Document, text: Text) -> str:
    system = as_dict(document.get("system"))
    description = as_dict(system.get("description"))
    facts = {
        "Level": _value(system.get("level")),
        "Rarity": _value(as_dict(system.get("traits")).get("rarity")),
        "Traits": ", ".join(map(str, as_list(as_dict(system.get("traits")).get("value")))),
        "Actions": _cost(system).strip(" []"),
        "Cast": _value(system.get("time")),
        "Price": _price(system.get("price")),
        "Bulk": _value(system.get("bulk")),
        "Usage": _value(system.get("usage")).replace("-", " "),
        "Damage": _weapon_damage(as_dict(system.get("damage"))),
        "AC Bonus": _bonus(system.get("acBonus")) if system.get("acBonus") else "",
        "Range": _value(system.get("range")),
        "Area": _area(as_dict(system.get("area"))),
        "Targets": _value(system.get("target")),
        "Defense": _defence(as_dict(system.get("defense"))),
        "Duration": _value(system.get("duration")),
        "Prerequisites": ", ".join(
            _value(each) for each in as_list(as_dict(system.get("prerequisites")).get("value"))
        ),
    }
    return join_blocks(
        [
            stat_table({name: value for name, value in facts.items() if value not in ("0", "")}),
            text(description.get("value")),
            secret_block(text(description.get("gm"))),
            _publication(system.get("publication")),
        ]
    )


def _price(value: Any) -> str:
    coins = as_dict(as_dict(value).get("value"))
    return ", ".join(f"{amount} {coin}" for coin, amount in coins.items() if amount)


def _weapon_damage(value: Document) -> str:
    if "die" in value:
        dice = f"{value.get('dice', 1)}{value.get('die')}"
        return f"{dice} {value.get('damageType') or ''}".strip()
    rolls = [each for each in value.values() if isinstance(each, dict)]
    return " plus ".join(
        f"{readable(each.get('formula'))} {readable(each.get('type'))}".strip() for each in rolls
    )


def _area(value: Document) -> str:
    return f"{value['value']}-foot {value.get('type', '')}".strip() if value.get("value") else ""


def _defence(value: Document) -> str:
    save = as_dict(value.get("save"))
    basic = "basic " if save.get("basic") else ""
    statistic = str(save.get("statistic") or _value(value.get("passive")))
    return f"{basic}{statistic.title()}".strip()
