"""Find the NPC that a name means: slug or id first, then the name as people write it, in any of its
languages.
"""

from collections.abc import Sequence

from django.db.models import QuerySet

from npcs.models import NPC
from npcs.querysets import NPCQuerySet
from retrieval.errors import Ambiguous, Invalid, NotFound
from retrieval.text import KnownName, NameIndex
from worlds.audiences import GM, Audience
from worlds.lookup import as_uuid, find_by_key
from worlds.models import World


class UnknownNPC(Invalid):
    """Someone in `relations_delta` is nobody here; `candidates` may be meant."""

    code, title = "unknown_npc", "Unknown NPC"


def find_npc(world: World, reference: str, audience: Audience = GM) -> NPC:
    """Return the NPC among those that `audience` may know of; raises `NotFound` or `Ambiguous` with
    candidates.
    """
    known: NPCQuerySet = NPC.objects.in_world(world).visible_to(audience)
    npc: NPC = find_by_key(known, reference) or known.get(
        pk=names_of(known).resolve(reference, what="NPC")
    )
    return npc


def find_npcs(
    world: World, references: Sequence[str]
) -> tuple[dict[str, NPC], dict[str, Sequence[str]]]:
    """Return the NPCs meant, and for each reference that means nobody or several the candidates.
    For game masters.
    """
    known = NPC.objects.in_world(world)
    found = {npc.slug: npc for npc in known.filter(slug__in=references)}
    rest = [reference for reference in dict.fromkeys(references) if reference not in found]
    missing: dict[str, Sequence[str]] = {}
    index = names_of(known) if rest else NameIndex(())
    by_id = {npc.pk: npc for npc in known} if rest else {}
    for reference in rest:
        try:
            found[reference] = by_id[as_uuid(reference) or index.resolve(reference, what="NPC")]
        except (NotFound, Ambiguous) as problem:
            missing[reference] = problem.candidates
        except KeyError:
            missing[reference] = ()
    return found, missing


def names_of(npcs: QuerySet[NPC]) -> NameIndex:
    return NameIndex(
        KnownName(pk, name, aliases)
        for pk, name, aliases in npcs.values_list("pk", "name", "aliases")
    )
