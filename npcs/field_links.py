"""Which lore entries the faction and the home of an NPC name, also those that are written later."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db.models import Q, Value
from django.db.models.functions import Upper
from django.utils.translation import gettext as _

from episodes.lookup import lore_by_name
from knowledge.entry_entities import NODE_KINDS
from knowledge.models import Lore
from npcs.field_facts import FIELDS
from npcs.models import NPC
from worlds.models import World

FIELDS_WITH_ENTRY = tuple(field.name for field in FIELDS)


def link_fields(world: World, npcs: Iterable[NPC]) -> None:
    """Give the NPCs the entries that their fields name and that they lack, unsaved. The field then
    has the title of the entry."""
    unlinked = [
        (npc, name)
        for npc in npcs
        for name in FIELDS_WITH_ENTRY
        if getattr(npc, name) and getattr(npc, f"{name}_lore_id") is None
    ]
    lore = lore_by_name(world, [getattr(npc, name) for npc, name in unlinked]) if unlinked else {}
    for npc, name in unlinked:
        if row := lore.get(getattr(npc, name)):
            setattr(npc, f"{name}_lore", row)
            setattr(npc, name, row.title)


def npcs_without_entry(world: World, entries: Sequence[Lore] | None = None) -> list[NPC]:
    """The NPCs with a field that names no entry: all, or those whose field has a name of one of
    `entries`."""
    rows: Any = NPC.objects.filter(world=world).select_related("world")
    wanted = Q()
    for name in FIELDS_WITH_ENTRY:
        wanted |= Q(**{f"{name}_lore": None}) & ~Q(**{name: ""})
    rows = rows.filter(wanted)
    if entries is not None:
        names = {name for row in entries for name in (row.title, row.slug, *row.aliases)}
        upper = [Upper(Value(name)) for name in sorted(names)]
        rows = rows.annotate(**{f"{name}_upper": Upper(name) for name in FIELDS_WITH_ENTRY})
        named = Q()
        for name in FIELDS_WITH_ENTRY:
            named |= Q(**{f"{name}_upper__in": upper})
        rows = rows.filter(named)
    return list(rows)


def unlinked_names(npc: NPC, sent: Collection[str]) -> list[str]:
    """What to tell who wrote the fields `sent`: which of them name nothing that makes a fact."""
    unknown = _(
        "%(field)s: no entry, or more than one, is called “%(name)s”. The relation is written as "
        "soon as one is."
    )
    unfit = _("%(field)s: the entry “%(name)s” is of another kind, so no relation is written.")
    texts = []
    for field in FIELDS:
        name, entry = getattr(npc, field.name), getattr(npc, f"{field.name}_lore")
        is_fitting = entry is not None and NODE_KINDS.get(entry.kind) == field.kind
        if name and field.name in sent and not is_fitting:
            values = {"field": field.name, "name": name}
            texts.append((unfit if entry else unknown) % values)
    return texts
