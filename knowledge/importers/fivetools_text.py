"""The texts of 5e.tools: trees of entries with tags such as `{@spell fireball|PHB|words}`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.entry_text import (
    DEEPEST,
    as_dict,
    as_list,
    join_blocks,
    link_to,
    named_paragraph,
    quotation,
    readable,
    section,
    table,
)
from knowledge.importers.markup import PictureCollector
from retrieval.errors import Invalid

TAG = re.compile(r"\{@(\w{1,40})(?:\s([^{}]*))?\}")
DEEPEST_TAG = 12
ATTACKS = {
    "m": "Melee",
    "r": "Ranged",
    "a": "Area",
    "w": "Weapon",
    "s": "Spell",
    "p": "Power",
}
SAVES = {
    "str": "Strength",
    "dex": "Dexterity",
    "con": "Constitution",
    "int": "Intelligence",
    "wis": "Wisdom",
    "cha": "Charisma",
}
MARKS = {
    **dict.fromkeys(("b", "bold"), "**"),
    **dict.fromkeys(("i", "italic", "note", "tip"), "*"),
    **dict.fromkeys(("s", "strike"), "~~"),
    "code": "`",
}
PHRASES = {
    "h": "*Hit:* ",
    "m": "*Miss:* ",
    "hom": "*Hit or Miss:* ",
    "actSaveSuccess": "*Success:*",
    "actSaveFail": "*Failure:*",
    "actSaveFailBy": "*Failure:*",
    "actSaveSuccessOrFail": "*Failure or Success:*",
    "actTrigger": "*Trigger:*",
    "actResponse": "*Response:*",
}
NAME_FIRST = ("creature", "spell", "item", "race", "background", "feat", "class", "subclass")
LINKED = {
    *NAME_FIRST,
    *("object", "vehicle", "vehupgrade", "language", "trap", "hazard", "cult", "boon", "reward"),
    *("condition", "disease", "status", "action", "skill", "sense", "table", "variantrule"),
    *(
        "optfeature",
        "psionic",
        "recipe",
        "deck",
        "charoption",
        "legroup",
        "facility",
        "itemMastery",
    ),
}
"""Tags of the form `name|source|words`."""
WORDS_AT = {"deity": 3, "card": 3, "classFeature": 5, "subclassFeature": 7, "quickref": 4}
"""Tags whose words stand elsewhere than third."""
LAST_PART = {"scaledice", "scaledamage"}
Names = Mapping[str, str]
"""Titles of the upload's entries by their name in lower case."""


class EntryTreeWriter:
    """Writes Markdown. A tag becomes a link if the upload has an entry of its name, else words:
    rules refer to thousands of things that nobody imports."""

    def __init__(self, names: Names, pictures: PictureCollector) -> None:
        self.names, self.pictures = names, pictures
        self.writers: dict[str, Callable[[dict[str, Any], int, int], str]] = {
            "list": self._list,
            "table": self._table,
            "tableGroup": self._tables,
            "quote": self._quote,
            "image": self._image,
            "gallery": self._gallery,
            "abilityDc": self._save_dc,
            "abilityAttackMod": self._attack_modifier,
            "abilityGeneric": lambda entry, _level, _depth: self.inline(entry.get("text")),
            "bonus": lambda entry, _level, _depth: f"{_number(entry.get('value')):+d}",
            "bonusSpeed": lambda entry, _level, _depth: f"{_number(entry.get('value')):+d} ft.",
            "dice": lambda entry, _level, _depth: _dice(entry),
            "link": self._link,
            "hr": lambda _entry, _level, _depth: "---",
            "statblock": self._stat_block,
            "statblockInline": self._inline_stat_block,
            "spellcasting": lambda entry, _level, depth: self.spellcasting(entry, depth=depth),
            "inline": self._inline_parts,
            "inlineBlock": self._inline_parts,
            **dict.fromkeys(("inset", "insetReadaloud", "variantInner", "variant"), self._inset),
            **dict.fromkeys(
                ("item", "itemSub", "itemSpell", "attack", "actions", "flowBlock"), self._item
            ),
        }

    def write(self, entry: Any, *, level: int = 2, depth: int = 0) -> str:
        """The Markdown of an entry; `level` is that of its heading, `depth` how deep it lies."""
        if depth > DEEPEST:
            raise Invalid(_("The data is nested too deeply."))
        if isinstance(entry, list):
            return join_blocks(self.write(each, level=level, depth=depth + 1) for each in entry)
        if isinstance(entry, dict):
            writer = self.writers.get(str(entry.get("type")), self._entries)
            return writer(entry, level, depth)
        return self.inline(entry)

    def inline(self, text: Any) -> str:
        """The text with its tags resolved, from the inside out."""
        result = "" if text is None else str(text)
        for _round in range(DEEPEST_TAG):
            if "{@" not in result:
                break
            result = TAG.sub(self._tag, result)
        return result

    def line(self, value: Any) -> str:
        """A value in one line, such as a cell or a fact."""
        text = readable(value) if not isinstance(value, dict) else self.write(value)
        return " ".join(self.inline(text).split())

    def spellcasting(self, entry: dict[str, Any], *, depth: int = 0) -> str:
        """The paragraph and the list of spells, by level or by how often."""
        lines = [
            f"- {label}: {', '.join(map(self.line, spells))}"
            for label, spells in _spell_lists(entry)
            if spells
        ]
        header = self.write(as_list(entry.get("headerEntries")), depth=depth + 1)
        footer = self.write(as_list(entry.get("footerEntries")), depth=depth + 1)
        text = join_blocks([header, "\n".join(lines), footer])
        return named_paragraph(self.inline(entry.get("name") or "Spellcasting"), text)

    def _entries(self, entry: dict[str, Any], level: int, depth: int) -> str:
        name = self.inline(entry.get("name"))
        parts = [entry.get(key) for key in ("entry", "entries", "items", "footnotes")]
        deeper = level + 1 if name else level
        text = join_blocks(
            self.write(part, level=deeper, depth=depth + 1) for part in parts if part is not None
        )
        if not name:
            return text
        return section(name, text, level=level) if level <= 6 else named_paragraph(name, text)

    def _item(self, entry: dict[str, Any], _level: int, depth: int) -> str:
        parts = [entry.get(key) for key in ("entry", "entries", "attackEntries", "hitEntries")]
        text = join_blocks(self.write(part, depth=depth + 1) for part in parts if part is not None)
        return named_paragraph(self.inline(entry.get("name")), text)

    def _inset(self, entry: dict[str, Any], _level: int, depth: int) -> str:
        text = self.write(as_list(entry.get("entries")), level=7, depth=depth + 1)
        return quotation(named_paragraph(self.inline(entry.get("name")), text))

    def _list(self, entry: dict[str, Any], _level: int, depth: int) -> str:
        lines = []
        for item in as_list(entry.get("items")):
            text = self.write(item, level=7, depth=depth + 1)
            first, *rest = text.split("\n") if text else [""]
            nested = isinstance(item, dict) and item.get("type") == "list"
            lines.append(f"  {first}" if nested else f"- {first}")
            lines += [f"  {line}".rstrip() for line in rest]
        name = self.inline(entry.get("name"))
        return join_blocks([f"**{name}**" if name else "", "\n".join(lines)])

    def _table(self, entry: dict[str, Any], _level: int, depth: int) -> str:
        rows = [
            [self._cell(each, depth + 1) for each in _cells(row)]
            for row in as_list(entry.get("rows"))
        ]
        labels = [self.line(each) for each in as_list(entry.get("colLabels"))]
        caption = self.inline(entry.get("caption"))
        return join_blocks(
            [f"**{caption}**" if caption else "", table(labels or [""], rows) if rows else ""]
        )

    def _tables(self, entry: dict[str, Any], level: int, depth: int) -> str:
        return self.write(as_list(entry.get("tables")), level=level, depth=depth + 1)

    def _cell(self, value: Any, depth: int) -> str:
        if isinstance(value, dict) and value.get("type") == "cell":
            roll = as_dict(value.get("roll"))
            if "exact" in roll:
                return str(roll["exact"])
            if "min" in roll:
                return f"{roll['min']}–{roll.get('max', '')}"
            return self._cell(value.get("entry"), depth + 1)
        return self.write(value, level=7, depth=depth).replace("\n\n", " ")

    def _quote(self, entry: dict[str, Any], _level: int, depth: int) -> str:
        text = self.write(as_list(entry.get("entries")), level=7, depth=depth + 1)
        origin = ", ".join(
            self.inline(entry[key]) for key in ("by", "from") if isinstance(entry.get(key), str)
        )
        return quotation(join_blocks([text, f"— {origin}" if origin else ""]))

    def _image(self, entry: dict[str, Any], _level: int, _depth: int) -> str:
        place = as_dict(entry.get("href"))
        title = self.inline(entry.get("title") or entry.get("altText")).replace("]", ")")
        reference = str(place.get("path") or place.get("url") or "")
        name = self.pictures.add(reference, title) if reference else None
        return f"![{title}]({name})" if name else (f"*{title}*" if title else "")

    def _gallery(self, entry: dict[str, Any], level: int, depth: int) -> str:
        return self.write(as_list(entry.get("images")), level=level, depth=depth + 1)

    def _inline_parts(self, entry: dict[str, Any], _level: int, depth: int) -> str:
        return "".join(
            self.write(each, level=7, depth=depth + 1) for each in as_list(entry.get("entries"))
        )

    def _link(self, entry: dict[str, Any], _level: int, _depth: int) -> str:
        url = str(as_dict(entry.get("href")).get("url") or "")
        return _web_link(self.inline(entry.get("text")), url)

    def _stat_block(self, entry: dict[str, Any], _level: int, _depth: int) -> str:
        return self._name_or_link(str(entry.get("name") or ""), "")

    def _inline_stat_block(self, entry: dict[str, Any], level: int, depth: int) -> str:
        return self.write(as_dict(entry.get("data")), level=level, depth=depth + 1)

    def _save_dc(self, entry: dict[str, Any], _level: int, _depth: int) -> str:
        names = ", ".join(SAVES.get(str(each), str(each)) for each in as_list(entry["attributes"]))
        return f"**{entry.get('name')} save DC** = 8 + proficiency bonus + {names} modifier"

    def _attack_modifier(self, entry: dict[str, Any], _level: int, _depth: int) -> str:
        names = ", ".join(SAVES.get(str(each), str(each)) for each in as_list(entry["attributes"]))
        return f"**{entry.get('name')} attack modifier** = proficiency bonus + {names} modifier"

    # --- tags

    def _tag(self, found: re.Match[str]) -> str:
        tag, parts = found[1], [part.strip() for part in (found[2] or "").split("|")]
        first = parts[0]
        if tag in PHRASES:
            return PHRASES[tag]
        if tag in MARKS:
            return f"{MARKS[tag]}{first}{MARKS[tag]}" if first else ""
        if tag in LINKED or tag in WORDS_AT:
            at = WORDS_AT.get(tag, 2)
            return self._name_or_link(first, parts[at] if len(parts) > at else "")
        if tag in LAST_PART:
            return parts[-1]
        if tag == "link":
            return _web_link(first, parts[1] if len(parts) > 1 else first)
        simple = SIMPLE_TAGS.get(tag)
        return simple(parts) if simple else first

    def _name_or_link(self, name: str, words: str) -> str:
        title = self.names.get(name.lower())
        return link_to(title, words or name) if title else words or name


def _words_shown(parts: list[str]) -> str:
    """The second part, if there is one, is what is shown."""
    return parts[1] if len(parts) > 1 and parts[1] else parts[0]


def _attack(parts: list[str]) -> str:
    kinds = [[ATTACKS.get(letter, "") for letter in kind.strip()] for kind in parts[0].split(",")]
    # "mw,rw" is a melee or ranged weapon attack: the words that all share stand once.
    shared = kinds[0][1:]
    if all(kind[1:] == shared for kind in kinds):
        words = [" or ".join(filter(None, (kind[0] for kind in kinds if kind))), *shared]
    else:
        words = [" or ".join(" ".join(filter(None, kind)) for kind in kinds)]
    return f"*{' '.join(filter(None, words))} Attack:*"


def _recharge(parts: list[str]) -> str:
    lowest = parts[0]
    return f"(Recharge {lowest}–6)" if lowest.isdigit() and lowest != "6" else "(Recharge 6)"


SIMPLE_TAGS: dict[str, Callable[[list[str]], str]] = {
    **dict.fromkeys(("dice", "damage", "d20", "coinflip", "autodice"), _words_shown),
    "hit": lambda parts: parts[0] if parts[0].startswith(("+", "-")) else f"+{parts[0]}",
    "dc": lambda parts: f"DC {_words_shown(parts)}",
    "chance": lambda parts: parts[1] if len(parts) > 1 and parts[1] else f"{parts[0]} percent",
    "recharge": _recharge,
    "atk": _attack,
    "atkr": _attack,
    "actSave": lambda parts: f"*{SAVES.get(parts[0], parts[0])} Saving Throw:*",
    "quantity": " ".join,
    "ability": lambda parts: parts[1] if len(parts) > 1 and parts[1] else parts[0],
    "savingThrow": lambda parts: parts[1] if len(parts) > 1 and parts[1] else parts[0],
    "footnote": lambda parts: f"{parts[0]} ({parts[1]})" if len(parts) > 1 else parts[0],
    **dict.fromkeys(("book", "adventure"), lambda parts: f"*{parts[0]}*"),
}


def _web_link(words: str, url: str) -> str:
    is_safe = url.startswith(("http://", "https://")) and not set("<> \n") & set(url)
    return f"[{words}](<{url}>)" if is_safe else words


def _dice(entry: dict[str, Any]) -> str:
    rolls = as_list(entry.get("toRoll"))
    shown = entry.get("displayText")
    words = " + ".join(
        f"{each.get('number', 1)}d{each.get('faces', '')}"
        for each in rolls
        if isinstance(each, dict)
    )
    return str(shown or words)


def _cells(row: Any) -> list[Any]:
    return as_list(row["row"]) if isinstance(row, dict) and "row" in row else as_list(row)


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


HOW_OFTEN = {
    "daily": "{}/day",
    "rest": "{}/rest",
    "restLong": "{}/long rest",
    "weekly": "{}/week",
    "monthly": "{}/month",
    "yearly": "{}/year",
    "charges": "{} charges",
    "recharge": "recharge {}–6",
}


def _spell_lists(entry: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """The groups of spells of a spellcasting trait, each with its label."""
    groups = [("Constant", as_list(entry.get("constant"))), ("At will", as_list(entry.get("will")))]
    for key, label in HOW_OFTEN.items():
        for count, spells in as_dict(entry.get(key)).items():
            # "2e" is twice each.
            words = label.format(count.removesuffix("e")) + (" each" if count.endswith("e") else "")
            groups.append((words, as_list(spells)))
    for number, group in as_dict(entry.get("spells")).items():
        slots = as_dict(group).get("slots")
        label = "Cantrips" if number == "0" else f"Level {number}"
        label += f" ({slots} slots)" if slots else ""
        groups.append((label, as_list(as_dict(group).get("spells"))))
    return groups
