"""Pages about people: the members of a world, invitations, and new worlds."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from retrieval.errors import Conflict
from worlds.characters import create_character, create_party
from worlds.forms import (
    CharacterForm,
    InvitationForm,
    MemberForm,
    PartyForm,
    WorldForm,
    roles_offered,
)
from worlds.invitations import create_invitation, is_open, revoke_invitation
from worlds.members import change_member, create_world, remove_member
from worlds.models import Character, Invitation, Membership, Party
from worlds.pages import Viewer, gm_page, render_page
from worlds.roles import MAY_GRANT, Role

MOST_INVITATIONS = 50


@never_cache
@gm_page
def people(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show the members, the parties and the invitations; POST makes an invitation and shows its
    link, this once."""
    form = InvitationForm(request.POST or None, viewer=viewer)
    link = ""
    if request.method == "POST" and form.is_valid():
        made = dict(form.cleaned_data)
        if made["role"] != Role.PLAYER:
            made["party"] = made["character"] = None
        _invitation, token = create_invitation(
            viewer.world, granted_by=viewer.role, invited_by=request.user, **made
        )
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
        form = InvitationForm(viewer=viewer)
    return _show_people(request, viewer, form=form, link=link)


def _show_people(
    request: HttpRequest,
    viewer: Viewer,
    *,
    form: InvitationForm,
    link: str = "",
    party_form: PartyForm | None = None,
    character_form: CharacterForm | None = None,
) -> HttpResponse:
    members = Membership.objects.filter(world=viewer.world).select_related(
        "user", "party", "character"
    )
    invitations = Invitation.objects.filter(world=viewer.world).select_related(
        "invited_by", "party", "character"
    )
    latest = invitations.order_by("-created_at", "-pk")[:MOST_INVITATIONS]
    return render_page(
        request,
        viewer,
        "worlds/people.html",
        members=[(each, _may_change(viewer, each)) for each in members.order_by("user__username")],
        invitations=[each for each in latest if is_open(each)],
        roles=roles_offered(viewer),
        form=form,
        party_form=party_form or PartyForm(viewer=viewer),
        character_form=character_form or CharacterForm(viewer=viewer, auto_id="character-%s"),
        characters=Character.objects.filter(world=viewer.world).order_by("name"),
        link=link,
    )


def _may_change(viewer: Viewer, member: Membership) -> bool:
    return member.role in MAY_GRANT.get(viewer.role, ())


def _member(viewer: Viewer, pk: int) -> Membership:
    member = get_object_or_404(Membership, pk=pk, world=viewer.world)
    if not _may_change(viewer, member):
        raise PermissionDenied(gettext("Only a designer changes designers."))
    return member


@require_POST
@gm_page
def change(request: HttpRequest, viewer: Viewer, member: int) -> HttpResponse:
    row = _member(viewer, member)
    form = MemberForm(request.POST, viewer=viewer)
    if not form.is_valid():
        messages.error(request, gettext("Choose a role and a party of this world."))
        return redirect("people", viewer.world.slug)
    try:
        change_member(row, granted_by=viewer.role, **form.cleaned_data)
        messages.success(request, gettext("%(user)s was changed.") % {"user": row.user})
    except Conflict as problem:
        messages.error(request, problem.detail)
    return redirect("people", viewer.world.slug)


@require_POST
@gm_page
def remove(request: HttpRequest, viewer: Viewer, member: int) -> HttpResponse:
    row = _member(viewer, member)
    try:
        remove_member(row)
    except Conflict as problem:
        messages.error(request, problem.detail)
        return redirect("people", viewer.world.slug)
    messages.success(
        request, gettext("%(user)s is no longer a member of this world.") % {"user": row.user}
    )
    return redirect("worlds") if row.user == request.user else redirect("people", viewer.world.slug)


@require_POST
@gm_page
def revoke(request: HttpRequest, viewer: Viewer, invitation: UUID) -> HttpResponse:
    revoke_invitation(get_object_or_404(Invitation, pk=invitation, world=viewer.world))
    messages.success(request, gettext("The link no longer works."))
    return redirect("people", viewer.world.slug)


@require_POST
@gm_page
def add_party(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    form = PartyForm(request.POST, viewer=viewer)
    if not form.is_valid():
        return _show_people(request, viewer, form=InvitationForm(viewer=viewer), party_form=form)
    party: Party = create_party(
        viewer.world,
        name=form.cleaned_data["name"],
        campaign=form.cleaned_data["campaign"] or form.cleaned_data["new_campaign"],
    )
    messages.success(request, gettext("%(party)s can be chosen now.") % {"party": party})
    return redirect("people", viewer.world.slug)


@require_POST
@gm_page
def add_character(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    form = CharacterForm(request.POST, viewer=viewer, auto_id="character-%s")
    if not form.is_valid():
        return _show_people(
            request, viewer, form=InvitationForm(viewer=viewer), character_form=form
        )
    character = create_character(viewer.world, **form.cleaned_data)
    messages.success(request, gettext("%(party)s can be chosen now.") % {"party": character})
    return redirect("people", viewer.world.slug)


@login_required
def new_world(request: HttpRequest) -> HttpResponse:
    """Create a world; whoever creates it becomes its designer."""
    if not request.user.has_perm("worlds.add_world"):
        raise PermissionDenied(gettext("Designers and operators create worlds."))
    form = WorldForm(request.POST or None, initial={"language": get_language()})
    if request.method == "POST" and form.is_valid():
        assert isinstance(request.user, User)
        world = create_world(**form.cleaned_data, designer=request.user)
        messages.success(
            request, gettext("The world is there. Invite the people who work and play in it.")
        )
        return redirect("world-home", world.slug)
    return render(request, "worlds/new_world.html", {"form": form})
