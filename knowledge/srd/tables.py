"""Tables that the data set does not hold as text: experience by level, and spells by class."""

from collections import defaultdict
from collections.abc import Iterator

from knowledge.srd.class_levels import ORDINALS, ordinal
from knowledge.srd.sections import SrdRule
from knowledge.srd.statblocks import Row

EXPERIENCE = (
    *(0, 300, 900, 2_700, 6_500, 14_000, 23_000, 34_000, 48_000, 64_000),
    *(85_000, 100_000, 120_000, 140_000, 165_000, 195_000, 225_000, 265_000, 305_000, 355_000),
)
"""Experience points at which each level begins (the table *Character Advancement* of the SRD)."""


def character_advancement(levels: list[Row]) -> Iterator[SrdRule]:
    """Yield one rule with experience and proficiency bonus by level; none without levels."""
    bonuses = {int(row["level"]): int(row["prof_bonus"]) for row in levels if row.get("prof_bonus")}
    if not bonuses:
        return
    lines = [
        f"- **Level {level}** ({ordinal(level)} level): {points:,} XP, proficiency bonus +{bonus}"
        for level, points in enumerate(EXPERIENCE, start=1)
        if (bonus := bonuses.get(level))
    ]
    yield SrdRule(
        path="rules/character-advancement",
        kind="section",
        title="Character Advancement",
        body="How many experience points (XP) a character of any class needs for each level, and "
        "the proficiency bonus at that level.\n\n" + "\n".join(lines),
        breadcrumb=("Beyond 1st Level",),
        aliases=("experience points", "XP", "level up", "опыт", "очки опыта", "경험치"),
        data={"experience": list(EXPERIENCE)},
    )


def spell_lists(spells: list[Row]) -> Iterator[SrdRule]:
    """Yield one rule for each class and level of spells, with the names of the spells."""
    names: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row in spells:
        for owner in row.get("classes") or []:
            names[owner["name"], int(row["level"])].append(str(row["name"]))
    for (owner, level), titles in sorted(names.items()):
        spoken = f"{ordinal(level)}-level" if level else "cantrip"
        long = f"{ORDINALS[level]}-level ({spoken}) spells" if level else "cantrips (0 level)"
        lower = owner.lower()
        yield SrdRule(
            path=f"spell-lists/{lower}-{level}",
            kind="class",
            title=f"{owner} spells, level {level}" if level else f"{owner} cantrips",
            body=f"*The {long} of a {lower}: {len(titles)}*\n\n{', '.join(sorted(titles))}",
            breadcrumb=("Spell lists", owner),
            aliases=(f"{spoken} {lower} spells",) if level else (f"{lower} cantrips",),
            data={"class": owner, "spell_level": level, "spells": sorted(titles)},
        )
