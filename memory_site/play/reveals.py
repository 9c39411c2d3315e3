"""Reveal something by one tap, and take it back by one."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes.running_scenes import find_open_scene
from memory_site.play import table
from memory_site.play.pages import back_to_play, is_htmx, targets_in
from memory_site.play.party_knowledge import PartyKnowledge
from memory_site.play.secrets import Part, find_part
from npcs.models import NPC
from retrieval.errors import Invalid, NotFound, Problem
from worlds.audience_names import missing_audiences, names_of_audiences
from worlds.audiences import Audience
from worlds.lookup import as_uuid
from worlds.models import Party, Reveal
from worlds.pages import Viewer, gm_page, render_page
from worlds.reveals import reveal, undo_reveal

NOT_NAMED = ("gm", "public")


@require_POST
@gm_page
def reveal_part(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Make a part known to a party, a character or an NPC. `with_owner` also reveals the entry or
    person that it belongs to, which they would have to know to read it."""
    viewer, party = table.at_table_of(viewer, slug)
    try:
        part, audience = find_sent_part(request, party), chosen_audience(request, party)
        with transaction.atomic():
            if request.POST.get("with_owner") and not part.is_whole:
                reveal(part.owner, audience, by=viewer.name, **circumstances(party))
            reveal(part.row, audience, by=viewer.name, **circumstances(party))
    except Problem as problem:
        return show_part(request, viewer, party, said=problem.detail, is_bad=True)
    return show_part(request, viewer, party, said=said_of_reveal(viewer, party, part, audience))


def said_of_reveal(viewer: Viewer, party: Party, part: Part, audience: Audience) -> str:
    """Name what was revealed, and to whom. The party may see it: it knows both, or neither is
    named."""
    knowledge = PartyKnowledge(viewer, party)
    part.owner.refresh_from_db(fields=["visibility", "known_to"])
    people = NPC.objects.in_world(viewer.world).filter(slug=audience.slug)
    listener = people.first() if audience.kind == "npc" else None
    if not knowledge.knows(part.owner) or (listener and not knowledge.knows(listener)):
        return _("Revealed.")
    who = names_of_audiences(party.world, [str(audience)]).get(str(audience), audience.slug)
    return _("Revealed to %(who)s: %(what)s.") % {"who": who, "what": part.owner_name}


@require_POST
@gm_page
def undo(request: HttpRequest, viewer: Viewer, slug: str, entry: UUID) -> HttpResponse:
    """Take a reveal back."""
    viewer, party = table.at_table_of(viewer, slug)
    rows = Reveal.objects.filter(world=viewer.world).select_related("world")
    row = get_object_or_404(rows, pk=entry)
    try:
        undo_reveal(row)
    except Problem as problem:
        return show_part(request, viewer, party, said=problem.detail, is_bad=True)
    return show_part(request, viewer, party, said=said_of_undoing(row))


def said_of_undoing(entry: Reveal) -> str:
    """What an episode revealed, too, stays known."""
    others = Reveal.objects.filter(
        world=entry.world_id,
        subject_kind=entry.subject_kind,
        subject_id=entry.subject_id,
        audience=entry.audience,
        undone_at=None,
    )
    if others.exists():
        return _("The reveal was undone. They still know it from an episode.")
    return _("The reveal was undone.")


def find_sent_part(request: HttpRequest, party: Party) -> Part:
    """Raises `NotFound`."""
    row_id = as_uuid(request.POST.get("id", ""))
    if row_id is None:
        raise NotFound(_("There is nothing of this id."))
    return find_part(party, request.POST.get("kind", ""), row_id)


def chosen_audience(request: HttpRequest, party: Party) -> Audience:
    """Raises `Invalid` for nobody of this world."""
    audience = Audience.parse(request.POST.get("to", ""))
    if audience.kind in NOT_NAMED or missing_audiences(party.world, [str(audience)]):
        raise Invalid(_("Choose a party, a character or an NPC of this world."))
    return audience


def circumstances(party: Party) -> dict[str, Any]:
    """When it was revealed: the in-world time of the open scene, and its session as a note."""
    scene = find_open_scene(party)
    if scene is None:
        return {}
    names = [str(scene.session) if scene.session else "", scene.title or scene.place]
    return {
        "in_world_at": scene.in_world_at,
        "in_world_label": scene.in_world_label,
        "note": " · ".join(filter(None, names)),
    }


def show_part(
    request: HttpRequest, viewer: Viewer, party: Party, *, said: str, is_bad: bool = False
) -> HttpResponse:
    """Answer with the part as it is now, and a message. A part that is gone leaves the page."""
    if not is_htmx(request):
        return back_to_play(request, viewer, party, said, is_bad=is_bad)
    try:
        part: Part | None = find_sent_part(request, party)
    except NotFound:
        part = None
    number = request.POST.get("number", "")
    return render_page(
        request,
        viewer,
        "gm/play/revealed.html",
        party=party,
        part=part,
        number=number if number.isdigit() else "",
        in_full=request.POST.get("in_full"),
        targets=targets_in(viewer, party, find_open_scene(party)),
        said=said,
        is_bad=is_bad,
    )
