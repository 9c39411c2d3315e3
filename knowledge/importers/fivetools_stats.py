"""The statistics of 5e.tools: what stands in the head of a creature, a spell or an item."""

from collections.abc import Callable
from typing import Any

from knowledge.importers.entry_text import ABILITIES, as_dict, as_list, heading_of, readable

SIZES = {
    "F": "Fine",
    "D": "Diminutive",
    "T": "Tiny",
    "S": "Small",
    "M": "Medium",
    "L": "Large",
    "H": "Huge",
    "G": "Gargantuan",
    "C": "Colossal",
    "V": "Varies",
}
ALIGNMENTS = {
    "L": "lawful",
    "N": "neutral",
    "NX": "neutral",
    "NY": "neutral",
    "C": "chaotic",
    "G": "good",
    "E": "evil",
    "U": "unaligned",
    "A": "any alignment",
}
SCHOOLS = {
    "A": "abjuration",
    "V": "evocation",
    "E": "enchantment",
    "I": "illusion",
    "D": "divination",
    "N": "necromancy",
    "T": "transmutation",
    "C": "conjuration",
    "P": "psionic",
}
ITEM_TYPES = {
    "A": "ammunition",
    "AF": "ammunition",
    "AT": "artisan's tools",
    "EXP": "explosive",
    "FD": "food and drink",
    "G": "adventuring gear",
    "GS": "gaming set",
    "HA": "heavy armor",
    "INS": "instrument",
    "LA": "light armor",
    "M": "melee weapon",
    "MA": "medium armor",
    "MNT": "mount",
    "P": "potion",
    "R": "ranged weapon",
    "RD": "rod",
    "RG": "ring",
    "S": "shield",
    "SC": "scroll",
    "SCF": "spellcasting focus",
    "T": "tools",
    "TAH": "tack and harness",
    "TG": "trade good",
    "VEH": "vehicle",
    "WD": "wand",
    "$": "treasure",
}
SPELL_HEAD = ("level", "school", "time", "range", "components", "duration", "meta")
ITEM_HEAD = ("type", "rarity", "reqAttune", "weight", "value", "dmg1", "dmg2", "dmgType", "ac")
CREATURE_HEAD = (
    *("size", "type", "alignment", "ac", "hp", "speed", "save", "skill", "senses", "passive"),
    *("languages", "cr", "pbNote", "resist", "immune", "vulnerable", "conditionImmune"),
    *("alignmentPrefix", "level", "gear", *ABILITIES),
)
Line = Callable[[Any], str]
"""Turns a value with tags into one line."""


def kind_of_creature(creature: dict[str, Any]) -> str:
    """`Medium humanoid (human), neutral evil`."""
    kind = creature.get("type")
    if isinstance(kind, dict):
        tags = [
            each if isinstance(each, str) else readable(list(as_dict(each).values())[::-1])
            for each in as_list(kind.get("tags"))
        ]
        name = kind.get("type")
        name = (
            " or ".join(map(str, as_list(name.get("choose")))) if isinstance(name, dict) else name
        )
        kind = f"{name} ({', '.join(tags)})" if tags else name
    sizes = " or ".join(SIZES.get(str(size), str(size)) for size in as_list(creature.get("size")))
    head = f"{sizes} {kind or ''}".strip()
    return ", ".join(filter(None, [head, alignment(creature.get("alignment"))]))


def alignment(value: Any) -> str:
    parts = as_list(value)
    if any(isinstance(part, dict) for part in parts):
        words = [
            str(part.get("special") or alignment(part.get("alignment")))
            for part in parts
            if isinstance(part, dict)
        ]
        return " or ".join(filter(None, words))
    codes = [str(part) for part in parts]
    if codes in (["N"], ["L", "NX", "C", "NY", "E"]):
        return "neutral" if codes == ["N"] else "any non-good alignment"
    return " ".join(ALIGNMENTS.get(code, code) for code in codes)


def creature_facts(creature: dict[str, Any], line: Line) -> dict[str, str]:
    return {
        "Armor Class": "; ".join(_armor(each, line) for each in as_list(creature.get("ac"))),
        "Hit Points": _hit_points(creature.get("hp")),
        "Speed": _speed(creature.get("speed"), line),
        "Saving Throws": _bonuses(creature.get("save"), line),
        "Skills": _bonuses(creature.get("skill"), line),
        "Damage Vulnerabilities": _damage(creature.get("vulnerable"), line),
        "Damage Resistances": _damage(creature.get("resist"), line),
        "Damage Immunities": _damage(creature.get("immune"), line),
        "Condition Immunities": _damage(creature.get("conditionImmune"), line),
        "Senses": ", ".join(
            filter(
                None,
                [
                    *(line(each) for each in as_list(creature.get("senses"))),
                    f"passive Perception {creature['passive']}" if creature.get("passive") else "",
                ],
            )
        ),
        "Languages": ", ".join(map(line, as_list(creature.get("languages")))),
        "Challenge": _challenge(creature.get("cr")),
        "Proficiency Bonus": line(creature.get("pbNote")),
        "Gear": ", ".join(str(each).partition("|")[0] for each in as_list(creature.get("gear"))),
    }


def _armor(value: Any, line: Line) -> str:
    if not isinstance(value, dict):
        return line(value)
    origin = ", ".join(line(each) for each in as_list(value.get("from")))
    parts = [str(value.get("ac") or ""), f"({origin})" if origin else ""]
    return line(" ".join([*parts, str(value.get("condition") or value.get("special") or "")]))


def _hit_points(value: Any) -> str:
    hp = as_dict(value)
    if "special" in hp or not hp:
        return str(hp.get("special") or value or "")
    formula = hp.get("formula")
    return f"{hp.get('average', '')} ({formula})" if formula else str(hp.get("average", ""))


def _speed(value: Any, line: Line) -> str:
    if not isinstance(value, dict):
        return f"{value} ft." if isinstance(value, int) else line(value)
    parts = []
    for name, speed in value.items():
        if name in ("canHover", "choose", "alternate", "hidden"):
            continue
        distance = as_dict(speed).get("number", speed)
        note = line(as_dict(speed).get("condition"))
        words = f"{distance} ft." if isinstance(distance, int) and distance is not True else ""
        label = "" if name == "walk" else name
        parts.append(" ".join(filter(None, [label, words or line(distance), note])))
    return ", ".join(parts)


def _bonuses(value: Any, line: Line) -> str:
    return ", ".join(
        f"{name.title() if len(name) > 3 else name.capitalize()} {line(bonus)}"
        for name, bonus in as_dict(value).items()
        if not isinstance(bonus, list | dict)
    )


def _damage(value: Any, line: Line) -> str:
    parts = []
    for each in as_list(value):
        if not isinstance(each, dict):
            parts.append(line(each))
            continue
        names = next((each[key] for key in DAMAGE_KEYS if key in each), each.get("special"))
        words = [each.get("preNote"), _damage(names, line), each.get("note")]
        parts.append(line(" ".join(str(word) for word in words if word)))
    return ", ".join(filter(None, parts))


DAMAGE_KEYS = ("resist", "immune", "vulnerable", "conditionImmune")


def _challenge(value: Any) -> str:
    rating = as_dict(value)
    if not rating:
        return "" if value is None else readable(value)
    extra = [
        f"{heading_of(key).lower()} {rating[key]}" for key in ("lair", "coven") if rating.get(key)
    ]
    return ", ".join([str(rating.get("cr") or ""), *extra])


def spell_facts(spell: dict[str, Any], line: Line) -> dict[str, str]:
    return {
        "Level": _spell_level(spell),
        "Casting Time": "; ".join(
            " ".join(
                filter(
                    None,
                    [
                        str(as_dict(each).get("number") or ""),
                        str(as_dict(each).get("unit") or ""),
                        line(as_dict(each).get("condition")),
                    ],
                )
            )
            for each in as_list(spell.get("time"))
        ),
        "Range": _range(spell.get("range")),
        "Components": _components(spell.get("components"), line),
        "Duration": "; ".join(_duration(as_dict(each)) for each in as_list(spell.get("duration"))),
    }


def _spell_level(spell: dict[str, Any]) -> str:
    school = SCHOOLS.get(str(spell.get("school")), str(spell.get("school") or ""))
    level = spell.get("level")
    words = f"{school} cantrip" if level == 0 else f"level {level} {school}"
    ritual = " (ritual)" if as_dict(spell.get("meta")).get("ritual") else ""
    return words.strip() + ritual if level is not None else school


def _range(value: Any) -> str:
    reach = as_dict(value)
    distance = as_dict(reach.get("distance"))
    amount, unit = distance.get("amount"), str(distance.get("type") or "")
    words = f"{amount} {unit}" if amount else unit
    shape = str(reach.get("type") or "")
    return words if shape in ("point", "") else f"{words} ({shape})" if words else shape


def _components(value: Any, line: Line) -> str:
    parts = []
    for letter, detail in as_dict(value).items():
        if not detail:
            continue
        text = as_dict(detail).get("text", detail if isinstance(detail, str) else "")
        parts.append(f"{letter.upper()} ({line(text)})" if text else letter.upper())
    return ", ".join(parts)


def _duration(value: dict[str, Any]) -> str:
    kind = str(value.get("type") or "")
    time = as_dict(value.get("duration"))
    if kind != "timed":
        return {"instant": "instantaneous", "permanent": "until dispelled"}.get(kind, kind)
    amount = time.get("amount")
    plural = "s" if isinstance(amount, int) and amount > 1 else ""
    words = f"{amount} {time.get('type', '')}{plural}"
    return f"concentration, up to {words}" if value.get("concentration") else words


def item_facts(item: dict[str, Any], line: Line) -> dict[str, str]:
    code = str(item.get("type") or "").partition("|")[0]
    attuned = item.get("reqAttune")
    worth = item.get("value")
    weight = item.get("weight")
    damage = " or ".join(line(item[key]) for key in ("dmg1", "dmg2") if item.get(key))
    return {
        "Type": ITEM_TYPES.get(code, code),
        "Rarity": line(item.get("rarity")) if item.get("rarity") not in ("none", None) else "",
        "Attunement": "required" if attuned is True else line(attuned) if attuned else "",
        "Armor Class": line(item.get("ac")),
        "Damage": " ".join(filter(None, [damage, DAMAGE_TYPES.get(str(item.get("dmgType")), "")])),
        "Weight": f"{weight} lb." if weight else "",
        # The value is in copper pieces.
        "Value": f"{worth / 100:g} gp" if isinstance(worth, int | float) and worth else "",
    }


DAMAGE_TYPES = {
    "A": "acid",
    "B": "bludgeoning",
    "C": "cold",
    "F": "fire",
    "O": "force",
    "L": "lightning",
    "N": "necrotic",
    "P": "piercing",
    "I": "poison",
    "Y": "psychic",
    "R": "radiant",
    "S": "slashing",
    "T": "thunder",
}
