"""Fantasy Statblocks, a plugin of Obsidian: `statblock` blocks in notes, which hold YAML, and its
bestiary as JSON. Both become tables and sections; a field that the plugin does not know as well."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.entry_fields import make_draft
from knowledge.importers.entry_text import (
    ABILITIES,
    DEEPEST,
    ability_table,
    as_dict,
    as_list,
    heading_of,
    join_blocks,
    link_to,
    named_paragraph,
    readable,
    section,
    source_line,
    stat_table,
    table,
)
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.markup import PictureCollector
from retrieval.errors import Invalid
from retrieval.text import load_yaml

Creature = dict[str, Any]

OPENING = re.compile(r"(```+|~~~+)[ \t]*(?:ad-)?statblock[ \t]*$")
LAYOUT = (
    *("layout", "columns", "columnWidth", "forceColumns", "columnHeight", "statblock", "bestiary"),
    *("dice", "render", "path", "note", "statblock-link", "export", "levelOrdinal"),
)
"""Fields that say how a block looks."""
SPELLS = "spells"
HEAD = (
    "name",
    "size",
    "type",
    "subtype",
    "alignment",
    "image",
    "source",
    "monster",
    "creature",
    "extends",
)
FACTS = {
    "ac": "Armor Class",
    "ac_class": "Armor Class",
    "hp": "Hit Points",
    "hit_dice": "Hit Dice",
    "speed": "Speed",
    "saves": "Saving Throws",
    "skillsaves": "Skills",
    "damage_vulnerabilities": "Damage Vulnerabilities",
    "damage_resistances": "Damage Resistances",
    "damage_immunities": "Damage Immunities",
    "condition_immunities": "Condition Immunities",
    "senses": "Senses",
    "languages": "Languages",
    "cr": "Challenge",
}
SECTIONS = ("traits", "actions", "bonus_actions", "reactions", "legendary_actions")
STATS = ("stats", "fage_stats", "pf2e_stats")
FAGE_STATS = (
    *("Accuracy", "Communication", "Constitution", "Dexterity", "Fighting"),
    *("Intelligence", "Perception", "Strength", "Willpower"),
)
TELLING = {"stats", "fage_stats", "skillsaves", "hit_dice", "damage_immunities", "layout", "saves"}


# --- blocks in notes


def tables_of_stat_blocks(text: str, *, title: str = "") -> tuple[str, list[Creature]]:
    """Return the text with its blocks as tables, and what the blocks hold. A block that is no YAML
    or has no end stays as it is."""
    creatures: list[Creature] = []
    out: list[str] = []
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            block.append(line)
            if line.rstrip() == fence:
                out.append(_block_text(block, creatures, title=title))
                block, fence = [], ""
        elif opening := OPENING.match(line):
            block, fence = [line], opening[1]
        else:
            out.append(line)
    return "\n".join([*out, *block]), creatures


def _block_text(block: list[str], creatures: list[Creature], *, title: str) -> str:
    """The text of a block with its fences; what it holds is added to `creatures`."""
    try:
        creature = load_yaml("\n".join(block[1:-1]))
        if isinstance(creature, dict):
            whole = {str(key): value for key, value in creature.items()}
            text = stat_block_text(whole, title=title)
            creatures.append(whole)
            return f"\n{text}\n"
    except Invalid:
        pass
    return "\n".join(block)


def layout_of(creature: Creature) -> Creature:
    """The fields of a block that its table does not show."""
    return {key: creature[key] for key in LAYOUT if key in creature}


def stat_block_text(creature: Creature, *, title: str = "", picture: str = "") -> str:
    """A creature as Markdown. `title` is the name that stands above it already."""
    name = str(creature.get("name") or "")
    base = creature.get("monster") or creature.get("creature") or creature.get("extends")
    based = ", ".join(link_to(str(each)) for each in as_list(base) if isinstance(each, str))
    facts = {label: _value(creature[key]) for key, label in FACTS.items() if key in creature}
    facts |= {
        heading_of(key): _value(value)
        for key, value in creature.items()
        if _is_fact(key, value) and key not in (*FACTS, *HEAD, *LAYOUT, *STATS)
    }
    texts = {
        key: _texts(value)
        for key, value in creature.items()
        if not _is_fact(key, value) and key not in (*FACTS, *HEAD, *LAYOUT, *STATS)
    }
    order = [
        *(key for key in SECTIONS if key in texts),
        *(key for key in texts if key not in SECTIONS),
    ]
    return join_blocks(
        [
            f"### {name}" if name and name != title else "",
            picture,
            _head(creature),
            _("Statistics as %(name)s.") % {"name": based} if based else "",
            stat_table(facts),
            *(_stats(creature[key]) for key in STATS if key in creature),
            *(section(heading_of(key), texts[key], level=4) for key in order),
            source_line(*(str(each) for each in as_list(creature.get("source")))),
        ]
    )


def _head(creature: Creature) -> str:
    size, kind, subtype = (readable(creature.get(key)) for key in ("size", "type", "subtype"))
    words = " ".join(filter(None, [size, kind, f"({subtype})" if subtype else ""]))
    line = ", ".join(filter(None, [words, readable(creature.get("alignment"))]))
    return f"*{line}*" if line else ""


def _is_fact(key: str, value: Any) -> bool:
    """A single value, or a list of such; lists of named texts and long texts are sections."""
    if key == SPELLS and isinstance(value, list):
        return False
    if isinstance(value, str):
        return "\n" not in value.strip()
    if isinstance(value, list):
        pairs = [each for each in value if isinstance(each, dict)]
        return not pairs or (len(pairs) == len(value) and not any(map(_text_of, pairs)))
    return not isinstance(value, dict)


def _value(value: Any) -> str:
    """`- dex: 4` and `{dex: 4}` both read `Dex +4`."""
    pairs = [each for each in as_list(value) if isinstance(each, dict)]
    if not pairs:
        return readable(value)
    return ", ".join(
        f"{heading_of(str(name))} {_bonus(bonus)}" for pair in pairs for name, bonus in pair.items()
    )


def _bonus(value: Any) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:+d}" if is_number else readable(value)


def _stats(value: Any) -> str:
    if isinstance(value, dict):
        return table(
            [heading_of(str(key)) for key in value], [[readable(each) for each in value.values()]]
        )
    scores = as_list(value)
    if len(scores) == len(ABILITIES):
        return ability_table(dict(zip(ABILITIES, scores, strict=True)))
    names = FAGE_STATS if len(scores) == len(FAGE_STATS) else [""] * len(scores)
    return table(names, [[readable(each) for each in scores]])


def _text_of(entry: Mapping[str, Any]) -> str:
    return str(entry.get("desc") or entry.get("text") or entry.get("description") or "")


def _texts(value: Any, *, depth: int = 0) -> str:
    """Named texts below each other; what belongs to one is a list below it."""
    if depth > DEEPEST:
        raise Invalid(_("The data is nested too deeply."))
    if isinstance(value, str):
        return value.strip()
    parts = []
    for entry in as_list(value):
        if not isinstance(entry, dict):
            parts.append(readable(entry))
            continue
        # Spells are written `- Cantrips (at will): light, fog`.
        named = _text_of(entry) or "name" in entry
        if not named:
            parts += [f"- {key}: {readable(each)}" for key, each in entry.items()]
            continue
        text = named_paragraph(str(entry.get("name") or ""), _text_of(entry).strip())
        below = [
            _texts(each, depth=depth + 1)
            for key, each in entry.items()
            if isinstance(each, list) and key not in ("name", "desc", "text")
        ]
        parts.append(join_blocks([text, *map(_as_points, below)]))
    return join_blocks(_joined_lists(parts))


def _as_points(text: str) -> str:
    paragraphs = [part if part.startswith("- ") else f"- {part}" for part in text.split("\n\n")]
    return "\n".join(part.replace("\n", "\n  ") for part in paragraphs)


def _joined_lists(parts: list[str]) -> Iterator[str]:
    """The points of a list stand in neighbouring lines."""
    points: list[str] = []
    for part in parts:
        if part.startswith("- ") and "\n" not in part:
            points.append(part)
            continue
        if points:
            yield "\n".join(points)
            points = []
        yield part
    yield "\n".join(points)


# --- the bestiary


def is_bestiary(file: SourceFile, _bundle: Bundle) -> int:
    creatures = [each for each in creatures_of(file.json())[:20] if isinstance(each, dict)]
    fields = {key for creature in creatures for key in creature}
    return 68 if "name" in fields and TELLING & fields else 0


def creatures_of(content: Any) -> list[Any]:
    """The creatures of an export (a list, or a single one) or of the plugin's `data.json`, where
    each stands beside its name."""
    if isinstance(content, dict):
        rows = content.get("monsters")
        content = rows if isinstance(rows, list) else [content]
    pairs = content if isinstance(content, list) else []
    return [
        each[1] if isinstance(each, list) and len(each) == 2 and isinstance(each[1], dict) else each
        for each in pairs
    ]


def read_bestiaries(bundle: Bundle) -> Iterator[LoreDraft]:
    for file in bundle.files:
        with bundle.problems_of(file.name):
            creatures = creatures_of(file.json())
            if not creatures:
                raise Invalid(_("The file holds no creatures of Fantasy Statblocks."))
            for number, creature in enumerate(creatures, 1):
                where = f"{file.name}: {number}"
                with bundle.problems_of(where):
                    yield _draft(bundle, file, creature, where)


def _draft(bundle: Bundle, file: SourceFile, creature: Any, where: str) -> LoreDraft:
    if not isinstance(creature, dict) or not creature.get("name"):
        raise Invalid(_("This is no object with a name."))
    name = str(creature["name"])
    pictures = PictureCollector(bundle, file.path.parent.as_posix())
    if image := readable(creature.get("image")).strip("![]"):
        pictures.add(image.partition("|")[0], name, is_portrait=True)
    tags = ["monster", *(str(each) for each in as_list(creature.get("type")) if each)]
    return make_draft(
        where,
        file=file.name,
        title=name,
        kind="monster",
        is_rule=True,
        body=stat_block_text(creature, title=name),
        tags=list(dict.fromkeys(tag.lower() for tag in tags)),
        source=f"statblocks:{name}",
        extra=layout_of(as_dict(creature)),
        pictures=tuple(pictures.pictures),
    )
