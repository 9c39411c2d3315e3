"""Pages of the rules of consequences, and the forms for standings and opinions between NPCs."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.graph.models import GraphNode
from npcs import opinions
from npcs.disposition_rules import PERCENTS, USUAL, rules_of, set_rules
from npcs.lookup import find_npc
from npcs.models import NPC, DispositionRules, OpinionChange
from npcs.opinion_pages import problem_as_message
from retrieval.errors import Problem
from worlds.pages import Viewer, gm_page, render_page

CHOICES = (0, 10, 25, 50, 75, 100)


@gm_page
def rules_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show the rules of consequences, and set them."""
    if request.method == "POST":
        set_rules(viewer.world, **posted_rules(request))
        messages.success(request, _("The rules hold from now on."), extra_tags="good")
        return redirect("disposition-rules", viewer.world.slug)
    rules = rules_of(viewer.world)
    fields = [(DispositionRules._meta.get_field(name), getattr(rules, name)) for name in PERCENTS]
    return render_page(
        request,
        viewer,
        "gm/disposition_rules.html",
        fields=[(field, value, sorted({*CHOICES, value})) for field, value in fields],
        soft_ends=DispositionRules._meta.get_field("soft_ends"),
        rules=rules,
        is_off=not any(value for _field, value in fields),
    )


def posted_rules(request: HttpRequest) -> dict[str, Any]:
    if "usual" in request.POST:
        return dict(USUAL)
    try:
        shares = {name: int(request.POST.get(name, "0")) for name in PERCENTS}
    except ValueError:
        raise Http404 from None
    return {**shares, "soft_ends": "soft_ends" in request.POST}


@require_POST
@gm_page
def add(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Write a game master's own change of a standing, or of what one NPC thinks of another."""
    try:
        points = int(request.POST.get("delta", ""))
    except ValueError:
        points = 0  # refused below with a message that names the range
    common: Any = {
        "by": points,
        "reason": request.POST.get("reason", ""),
        "made_by": viewer.name,
        "hold_if_large": True,
    }
    npcs = NPC.objects.in_world(viewer.world)
    try:
        if "faction" in request.POST:
            factions = GraphNode.objects.believed_now().in_world(viewer.world)
            faction = get_object_or_404(factions, slug=request.POST["faction"])
            party = viewer.party(request.POST.get("party"))
            if party is None:
                raise Http404
            entry = opinions.correct_standing(faction, party, **common)
        else:
            npc = get_object_or_404(npcs, slug=request.POST.get("npc", ""))
            other = find_npc(viewer.world, request.POST.get("other", ""))
            entry = opinions.correct_opinion(npc, other, **common)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        text = _("The change was recorded.")
        if entry.held:
            text = _("So large a change waits for approval: approve it below or in the inbox.")
        messages.success(request, text, extra_tags="good")
    return back(request, viewer)


@require_POST
@gm_page
def rule(request: HttpRequest, viewer: Viewer, change: int) -> HttpResponse:
    """Approve, reject, reverse or restore a change."""
    entry = get_object_or_404(OpinionChange.objects.in_world(viewer.world), pk=change)
    verdict, reason = request.POST.get("verdict", ""), request.POST.get("reason", "").strip()
    with problem_as_message(request, success=_("Saved. Dependent values are being recalculated.")):
        opinions.rule_on_opinion(entry, verdict, reason=reason, made_by=viewer.name)
    return back(request, viewer)


def back(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    url = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(url, allowed_hosts={request.get_host()}):
        return redirect("npcs", viewer.world.slug)
    return HttpResponseRedirect(url)
