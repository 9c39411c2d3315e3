"""Find NPCs by slug or id, else by any of their names in any language."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from npcs.models import NPC
from retrieval.errors import Ambiguous, Invalid, NotFound
from retrieval.text import KnownName, NameIndex
from worlds.audiences import GM, Audience
from worlds.lookup import as_uuid, find_by_key
from worlds.models import World


class UnknownNPC(Invalid):
    """A summary names an NPC that does not exist; `candidates` are the nearest names."""

    code, title = "unknown_npc", "Unknown NPC"


def find_npc(world: World, reference: str, audience: Audience = GM) -> NPC:
    """Return the NPC among those that `audience` may know of.

    Raises `NotFound` or `Ambiguous` with candidates.
    """
    npcs: Any = NPC.objects.in_world(world).visible_to(audience)
    npc: NPC = find_by_key(npcs, reference) or npcs.get(
        pk=names_of(npcs).resolve(reference, what="NPC")
    )
    return npc


def find_npcs(
    world: World, references: Sequence[str]
) -> tuple[dict[str, NPC], dict[str, Sequence[str]]]:
    """Return the NPCs by reference, and the candidates of each reference to none or several.

    All NPCs of the world are searched, so this is for game masters and engines only.
    """
    everyone = NPC.objects.in_world(world)
    npcs = {npc.slug: npc for npc in everyone.filter(slug__in=references)}
    missing: dict[str, Sequence[str]] = {}
    others = [reference for reference in dict.fromkeys(references) if reference not in npcs]
    if not others:  # the usual case: engines send slugs, so the index of names is not needed
        return npcs, missing
    by_id: dict[Any, NPC] = {npc.pk: npc for npc in everyone}
    index = names_of(everyone)
    for reference in others:
        try:
            npcs[reference] = by_id[as_uuid(reference) or index.resolve(reference, what="NPC")]
        except (NotFound, Ambiguous) as problem:
            missing[reference] = problem.candidates
        except KeyError:
            missing[reference] = ()
    return npcs, missing


def names_of(npcs: QuerySet[NPC]) -> NameIndex:
    return NameIndex(
        KnownName(pk, name, aliases)
        for pk, name, aliases in npcs.values_list("pk", "name", "aliases")
    )
