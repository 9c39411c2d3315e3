"""Find NPCs by slug or id, else by any of their names in any language."""

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

from django.db.models import QuerySet

from npcs.models import NPC
from retrieval.errors import Invalid
from retrieval.text import NameIndex
from worlds.audiences import GM, Audience
from worlds.lookup import as_uuid, find_by_key
from worlds.models import World
from worlds.stored_names import index_of_names


class UnknownNPC(Invalid):
    """A summary names an NPC that does not exist; `candidates` are the nearest names."""

    code, title = "unknown_npc", "Unknown NPC"


def find_npc(
    world: World, reference: str, audience: Audience = GM, *, resembling: bool = False
) -> NPC:
    """Return the NPC with this id, slug or whole name among those that `audience` may know of; for
    reading, with `resembling`, also the one whose name `reference` misspells or shortens.

    Raises `NotFound` or `Ambiguous` with candidates.
    """
    npcs: Any = NPC.objects.in_world(world).visible_to(audience)
    npc: NPC | None = find_by_key(npcs, reference)
    if npc is None:
        index = names_like(npcs, [reference])
        resolve = index.resolve if resembling else index.resolve_spelled
        npc = npcs.get(pk=resolve(reference, what="NPC", ids=partial(slugs_of, npcs)))
    return npc


def slugs_of(npcs: "QuerySet[NPC, Any]", keys: Sequence[Hashable]) -> dict[Hashable, str]:
    return dict(npcs.filter(pk__in=[str(key) for key in keys]).values_list("pk", "slug"))


def find_npcs(
    world: World, references: Sequence[str]
) -> tuple[dict[str, NPC], dict[str, Sequence[str]]]:
    """Return the NPCs by reference, and the candidates of each reference to none or several.

    For writes: a name counts as it is spelled, in any inflection, or as an alias; a misspelt name
    and a part of one are refused. All NPCs of the world are searched, so this is for game masters
    and engines only.
    """
    everyone = NPC.objects.in_world(world)
    npcs = {npc.slug: npc for npc in everyone.filter(slug__in=references)}
    missing: dict[str, Sequence[str]] = {}
    others = [reference for reference in dict.fromkeys(references) if reference not in npcs]
    if not others:  # the usual case: engines send slugs, so the index of names is not needed
        return npcs, missing
    index = names_like(everyone, others)
    keys = {reference: key_of(index, reference) for reference in others}
    by_id: dict[Any, NPC] = {npc.pk: npc for npc in everyone.filter(pk__in=keys.values())}
    for reference, key in keys.items():
        if key in by_id:
            npcs[reference] = by_id[key]
        else:
            missing[reference] = ids_of_one_name(everyone, index, reference)
            missing[reference] = missing[reference] or index.suggest(reference)
    return npcs, missing


def npcs_resembling(world: World, references: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the names of the NPCs that each of `references` misspells or shortens; the slugs of
    those whose whole name it is. For asking what was meant: for game masters and engines only."""
    if not references:
        return {}
    npcs = NPC.objects.in_world(world)
    index = names_like(npcs, references)
    return {
        reference: ids_of_one_name(npcs, index, reference)
        or list(dict.fromkeys(match.name for match in index.find(reference)))
        for reference in references
    }


def ids_of_one_name(npcs: "QuerySet[NPC, Any]", index: NameIndex, reference: str) -> Sequence[str]:
    """Return the slugs of the NPCs whose whole name `reference` is; none if only one has it."""
    keys = [match.key for match in index.find_spelled(reference)]
    return sorted(slugs_of(npcs, keys).values()) if len(keys) > 1 else []


def key_of(index: NameIndex, reference: str) -> Any:
    """Return the id that `reference` is or whose name it is, in any inflection; None for a misspelt
    name, a part of one, and one that several have."""
    if row_id := as_uuid(reference):
        return row_id
    matches = index.find_spelled(reference)
    return matches[0].key if len(matches) == 1 else None


def names_like(npcs: QuerySet[NPC], references: Sequence[str]) -> NameIndex:
    return index_of_names(npcs, "; ".join(references), name="name")
