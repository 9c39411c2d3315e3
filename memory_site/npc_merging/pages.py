"""The page on which a game master makes two records of one person one."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from knowledge.graph.models import GraphEdge
from memory_site.npc_merging.facts import entity_of
from memory_site.npc_merging.merge import merge_npcs
from memory_site.npc_merging.profile import may_show
from npcs.lookup import find_npc
from npcs.models import NPC
from npcs.views import get_npc
from retrieval.errors import NotFound, Problem
from worlds.pages import Viewer, gm_page, render_page

MOST_NAMES = 500
LONGEST_NAME = 200


@dataclass(frozen=True)
class MergeSide:
    """One of the two records, with how much belongs to it."""

    npc: NPC
    counts: list[tuple[str, int]]


@gm_page
def merge_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Choose the other record, see what both have, and merge them."""
    kept = get_npc(viewer, slug)
    asked = (request.POST if request.method == "POST" else request.GET).get("other", "")
    asked = asked.replace("\0", "").strip()[:LONGEST_NAME]
    context: dict[str, Any] = {"npc": kept, "asked": asked}
    try:
        other = find_other(viewer, kept, asked) if asked else None
        if other and request.method == "POST":
            return carry_out(request, viewer, kept, other)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
        other = None
    if other:
        context |= {"sides": [side_of(kept), side_of(other)], "other": other}
        context["shows_profile"] = may_show(kept, other)
    names = NPC.objects.filter(world=viewer.world).exclude(pk=kept.pk).order_by("name")
    context["names"] = names.values_list("name", flat=True)[:MOST_NAMES]
    return render_page(request, viewer, "gm/npc_merge.html", **context)


def find_other(viewer: Viewer, kept: NPC, reference: str) -> NPC:
    """Raises `NotFound` or `Ambiguous`, also for the same NPC."""
    other = find_npc(viewer.world, reference)
    if other.pk == kept.pk:
        raise NotFound(_("An NPC cannot be merged with itself."))
    return other


def carry_out(request: HttpRequest, viewer: Viewer, kept: NPC, other: NPC) -> HttpResponse:
    merge_npcs(
        other,
        into=kept,
        reason=request.POST.get("reason", ""),
        by=viewer.name,
        with_profile=bool(request.POST.get("profile")),
    )
    text = _("%(merged)s and %(kept)s are one now. The inbox can undo it, for 30 days.")
    names = {"merged": other.name, "kept": kept.name}
    messages.success(request, text % names, extra_tags="good")
    return HttpResponseRedirect(reverse("npc", args=[viewer.world.slug, kept.slug]))


def side_of(npc: NPC) -> MergeSide:
    node = entity_of(npc)
    facts = GraphEdge.objects.believed_now().filter(Q(src=node) | Q(dst=node))
    counts = [
        (_("Episodes"), npc.appearances.count()),
        (_("Changes of dispositions"), npc.changes.changes().count()),
        (_("Secrets"), npc.secrets.count()),
        (_("Facts"), facts.count() if node else 0),
        (_("Pictures"), npc.picture_uses.filter(removed_at=None).count()),
    ]
    return MergeSide(npc, counts)
