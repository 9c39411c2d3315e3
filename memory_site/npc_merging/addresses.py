"""The old addresses of a merged NPC: they lead to the one that it was made one with."""

from django.db.models import Q

from npcs.models import NPC, NPCMerge
from retrieval.text import fold_name
from worlds.pages import Viewer


def kept_in_place_of(viewer: Viewer, slug: str) -> NPC | None:
    """Return the NPC with which the one of this slug, or of the entry of this slug, was merged;
    None for a player whom its names do not tell that the two are one."""
    rows = NPCMerge.objects.filter(world=viewer.world, undone_at=None)
    rows = rows.select_related("kept", "merged")
    named = Q(merged__slug=slug)
    named |= Q(merged__biography__slug=slug, merged__biography__deleted_at__isnull=False)
    first = merge = rows.filter(named).order_by("-merged_at").first()
    while merge and merge.kept.deleted_at:
        merge = rows.filter(merged=merge.kept_id).first()
    if first is None or merge is None:
        return None
    npcs = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    kept: NPC | None = npcs.filter(pk=merge.kept_id).first()
    if kept is None or viewer.is_gm:
        return kept
    known = {fold_name(name) for name in kept.aliases}
    return kept if fold_name(first.merged.name) in known else None
