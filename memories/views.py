"""The forms of an NPC's page by which a game master lets it tell another, or takes that back."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memories.states import Maker
from memories.witnesses.hearsay import Telling, find_hearsay, take_back, tell
from npcs.lookup import find_npc
from npcs.models import NPC
from npcs.views import get_npc
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.pages import Viewer, gm_page

SURENESS = {"sure": 1.0, "likely": 0.7, "rumour": 0.4}
"""How sure the teller is, by the value of the form's field."""


@require_POST
@gm_page
def tell_another(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    npc, form = get_npc(viewer, slug), request.POST
    try:
        telling = Telling(
            teller=npc,
            listener=find_npc(viewer.world, form.get("to", "").strip()),
            memory_id=UUID(form["memory"]) if form.get("memory") else None,
            text=form.get("text", ""),
            sureness=SURENESS.get(form.get("sureness", ""), 1.0),
            told_label=form.get("told_label", "")[:120],
        )
        tell(telling, by=viewer.name, made_by=Maker.PERSON)
        embed_soon("memory")
    except (Problem, ValueError) as problem:
        detail = problem.detail if isinstance(problem, Problem) else _("This is no memory.")
        messages.error(request, detail, extra_tags="bad")
    else:
        text = _("%(npc)s knows it now.") % {"npc": telling.listener.name}
        messages.success(request, text, extra_tags="good")
    return to_memories(viewer, npc)


@require_POST
@gm_page
def forget_hearsay(request: HttpRequest, viewer: Viewer, slug: str, hearsay: UUID) -> HttpResponse:
    npc = get_npc(viewer, slug)
    try:
        take_back(find_hearsay(npc, hearsay), by=viewer.name)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, _("Taken back."), extra_tags="good")
    return to_memories(viewer, npc)


def to_memories(viewer: Viewer, npc: NPC) -> HttpResponse:
    response = redirect("npc", viewer.world.slug, npc.slug)
    response["Location"] += "#remembers"
    return response
