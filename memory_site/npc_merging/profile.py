"""What the page of the merged NPC says where that of the kept one says nothing."""

from typing import Any

from knowledge.models import Lore
from npcs.models import NPC, NPCMerge
from npcs.upsert import store_npc
from retrieval.text import fold_name
from worlds.audiences import Visibility

SHOWN = ("role", "summary", "faction", "home", "biography", "family")
"""Players who know the NPC read these."""
PRIVATE = ("voice", "goals", "play_now", "milestones")
REFERENCES = {"faction": "faction_lore", "home": "home_lore", "biography": "biography"}
"""Fields of which a lore entry belongs to the text, or is the field."""


def may_show(kept: NPC, merged: NPC) -> bool:
    """Whether everybody who knows the kept NPC knows the merged one, so that its names and its
    description tell nobody anything new."""
    if merged.visibility == Visibility.PUBLIC:
        return True
    if kept.visibility == Visibility.PUBLIC:
        return False
    return kept.visibility == Visibility.GM or set(kept.known_to) <= set(merged.known_to)


def fill_profile(merge: NPCMerge, *, with_shown: bool) -> dict[str, list[Any]]:
    """Save the kept NPC with what it lacks; return each column that has changed as a pair: what it
    was, and what it is. `with_shown` takes over what players read, and the names."""
    kept, merged = merge.kept, merge.merged
    values = {name: getattr(merged, name) for name in PRIVATE if not getattr(kept, name)}
    if with_shown:
        for name in SHOWN:
            if not getattr(kept, name) and not getattr(kept, f"{REFERENCES.get(name, name)}"):
                values |= columns_of(merged, name)
        values["aliases"] = names_of_both(kept, merged)
    return set_columns(kept, values, reason=f"{merged.name} → {kept.name}")


def columns_of(npc: NPC, name: str) -> dict[str, Any]:
    names = {name, REFERENCES.get(name, name)}
    names |= {"faction_visibility"} if name == "faction" else set()
    return {each: getattr(npc, each) for each in sorted(names)}


def names_of_both(kept: NPC, merged: NPC) -> list[str]:
    """The other names of the kept NPC, and those of the merged one: also its id, by which engines
    know it."""
    found = {fold_name(kept.name): ""}
    for name in (*kept.aliases, merged.name, *merged.aliases, merged.slug):
        found.setdefault(fold_name(name), name)
    return [name for name in found.values() if name]


def set_columns(npc: NPC, values: dict[str, Any], *, reason: str) -> dict[str, list[Any]]:
    changed = {
        name: [json_value(getattr(npc, name)), json_value(value)]
        for name, value in values.items()
        if getattr(npc, name) != value
    }
    for name in changed:
        setattr(npc, name, values[name])
    if changed:
        store_npc(npc, reason=reason)
    return changed


def json_value(value: Any) -> Any:
    """A value as JSON has it: of an entry its id."""
    return str(value.pk) if isinstance(value, Lore) else value


def empty_profile(merge: NPCMerge, changed: dict[str, list[Any]]) -> None:
    """Take back what the kept NPC got from the merged one, but for what was edited since."""
    kept = merge.kept
    values = {}
    for name, (before, after) in changed.items():
        if json_value(getattr(kept, name)) == after:
            is_entry = name in REFERENCES.values()
            values[name] = Lore.objects.filter(pk=before).first() if is_entry else before
    set_columns(kept, values, reason=f"{merge.kept.name} ≠ {merge.merged.name}")
