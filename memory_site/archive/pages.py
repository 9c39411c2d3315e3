"""Pages: download a world as an archive or as a vault, and restore an archive."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from memory_site.archive.restore import restore_world
from memory_site.archive.vault import write_vault
from memory_site.archive.write import archive_world
from retrieval.errors import Conflict, Problem
from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import Membership
from worlds.pages import Viewer, gm_page, render_page


class RestoreForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("Archive (.zip)"))
    slug = forms.SlugField(
        label=gettext_lazy("Address of the copy"),
        required=False,
        max_length=80,
        help_text=gettext_lazy("Empty: the address that the world had."),
    )


@gm_page
def export_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    return render_page(request, viewer, "worlds/export.html", parties=viewer.every_party)


@require_POST
@gm_page
def download_archive(_request: HttpRequest, viewer: Viewer) -> HttpResponse:
    return download(f"{viewer.world.slug}.zip", lambda path: archive_world(viewer.world, path))


@require_POST
@gm_page
def download_vault(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """For the audience `gm`, `public` or `party:<slug>`; another is taken for a game master's."""
    audience, campaign, name = GM, viewer.campaign, "gm"
    chosen = request.POST.get("audience", "gm")
    party = viewer.party(chosen.removeprefix("party:")) if chosen.startswith("party:") else None
    if party:
        audience, campaign, name = Audience("party", party.slug), party.campaign, party.slug
    elif chosen != "gm":
        # Anything else is shown the least.
        audience, campaign, name = PUBLIC, None, "public"
    return download(
        f"{viewer.world.slug}-{name}-vault.zip",
        lambda path: write_vault(viewer.world, path, audience=audience, campaign=campaign),
    )


def download(name: str, write: Callable[[Path], Any]) -> HttpResponse:
    """Send the file that `write` makes. It is deleted before it is sent; the open file remains."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "download.zip"
        write(path)
        file = path.open("rb")
    response = FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
    # Both are responses; the decorators of pages are typed for the common one.
    return cast(HttpResponse, response)


@login_required
def restore_page(request: HttpRequest) -> HttpResponse:
    """Restore an archive as a new world, whose designer is whoever uploads it.

    People of the archive are left out: a name may belong to somebody else on this site.
    """
    if not request.user.has_perm("worlds.add_world"):
        raise PermissionDenied(_("Designers and operators create worlds."))
    form = RestoreForm(request.POST or None, request.FILES or None)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            try:
                return restore_upload(request, form)
            except Problem as problem:
                form.add_error("slug" if isinstance(problem, Conflict) else "file", problem.detail)
        status = 422
    context = {"form": form, "most": settings.UPLOAD_MAX_MB}
    return render(request, "worlds/restore.html", context, status=status)


def restore_upload(request: HttpRequest, form: RestoreForm) -> HttpResponse:
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        for chunk in form.cleaned_data["file"].chunks():
            file.write(chunk)
        file.flush()
        with transaction.atomic():
            restored = restore_world(
                Path(file.name), as_slug=form.cleaned_data["slug"], with_people=False
            )
            assert isinstance(request.user, User)
            Membership.objects.create(
                user=request.user, world=restored.world, role=Membership.Role.DESIGNER
            )
    messages.success(
        request, _("The world is restored. Invite the people who work and play in it.")
    )
    return redirect("world-home", restored.world.slug)
