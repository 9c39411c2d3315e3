"""Pages: archive a world and download it, download a vault, restore an archive. Archives are made
and restored on the worker."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from knowledge.links.sources import campaign_of
from memory_site import tasks
from memory_site.archive import runs
from memory_site.archive.downloads import as_download, download
from memory_site.archive.vault import write_vault
from memory_site.run_progress import progress_context, show_progress
from memory_site.site_task import send_after_commit
from retrieval.errors import Problem
from worlds.archive_run import ArchiveRun
from worlds.audiences import GM, PUBLIC, Audience, resolve_audience
from worlds.models import World
from worlds.pages import Viewer, gm_page, render_page

MOST_LISTED = 20


class AddressForm(forms.Form):
    slug = forms.SlugField(
        label=gettext_lazy("Address of the copy"),
        required=False,
        max_length=80,
        allow_unicode=True,
        help_text=gettext_lazy("Empty: the address that the world had."),
    )


class RestoreForm(AddressForm):
    file = forms.FileField(label=gettext_lazy("Archive (.zip)"))
    field_order = ("file", "slug")


@gm_page
def export_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    return render_page(
        request,
        viewer,
        "worlds/export.html",
        archives=archives_of(viewer.world)[:MOST_LISTED],
        keep_days=settings.ARCHIVE_KEEP_DAYS,
    )


@require_POST
@gm_page
def make_archive(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    run = runs.ask_for_archive(viewer.world, user=request.user)
    send_after_commit(tasks.make_archive, run)
    return redirect("archive", viewer.world.slug, run.pk)


@gm_page
def archive_page(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    """One archive: how far it is, then where it can be downloaded."""
    row = get_object_or_404(archives_of(viewer.world), pk=run)
    context: dict[str, Any] = {"run": row, "keep_days": settings.ARCHIVE_KEEP_DAYS}
    if row.is_unfinished:
        context |= progress_context(row, **addresses_of_archive(row))
    return render_page(request, viewer, "worlds/archive.html", **context)


@gm_page
def archive_progress(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    row = get_object_or_404(archives_of(viewer.world), pk=run)
    return show_progress(request, row, **addresses_of_archive(row), is_over=not row.is_unfinished)


@gm_page
def download_archive(_request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    row = get_object_or_404(archives_of(viewer.world).exclude(file=""), pk=run)
    try:
        file = row.file.open("rb")
    except FileNotFoundError:
        raise Http404(_("The file of this archive is gone: make a new one.")) from None
    return as_download(file, row.file_name)


@require_POST
@gm_page
def delete_archive(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    row = get_object_or_404(archives_of(viewer.world), pk=run)
    if not row.is_unfinished:
        runs.delete_run(row)
        messages.success(request, _("The archive was deleted."))
    return redirect("export", viewer.world.slug)


def archives_of(world: World) -> QuerySet[ArchiveRun]:
    rows = ArchiveRun.objects.filter(world=world, kind=ArchiveRun.Kind.ARCHIVE)
    return rows.select_related("world", "user")


def addresses_of_archive(run: ArchiveRun) -> dict[str, str]:
    keys = [run.world.slug if run.world else "", run.pk]
    poll = reverse("archive-progress", args=keys)
    return {"page": reverse("archive", args=keys), "poll": poll}


@require_POST
@gm_page
def download_vault(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """For the audience `gm`, `public`, `party:<slug>` or `character:<slug>`; for another one what
    is public."""
    chosen = request.POST.get("audience", str(GM))
    audience, campaign = GM, viewer.campaign
    if chosen != str(GM):
        known = dict(viewer.party_choices)
        audience = Audience.parse(chosen) if chosen in known else PUBLIC
        audience = resolve_audience(viewer.world, audience)
        campaign = campaign_of(viewer.world, audience)
    name = audience.slug or audience.kind
    return download(
        f"{viewer.world.slug}-{name}-vault.zip",
        lambda path: write_vault(viewer.world, path, audience=audience, campaign=campaign),
    )


def restorer_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a page for those who may create worlds."""

    @login_required
    @wraps(view)
    def guard(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not request.user.has_perm("worlds.add_world"):
            raise PermissionDenied(_("Designers and operators create worlds."))
        return view(request, **kwargs)

    return guard


@restorer_page
def restore_page(request: HttpRequest) -> HttpResponse:
    """Upload an archive that becomes a new world, whose designer is whoever uploads it."""
    form = RestoreForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        slug = form.cleaned_data["slug"]
        try:
            with transaction.atomic():
                run = runs.ask_for_restoration(
                    form.cleaned_data["file"], user=request.user, slug=slug
                )
        except Problem as problem:
            form.add_error("file", problem.detail)
        else:
            return start_restoration(run)
    context = {
        "form": form,
        "most": settings.UPLOAD_MAX_MB,
        "restorations": restorations_of(request)[:MOST_LISTED],
    }
    status = 422 if form.errors else 200
    return render(request, "worlds/restore.html", context, status=status)


def start_restoration(run: ArchiveRun) -> HttpResponse:
    send_after_commit(tasks.restore_archive, run)
    return redirect("restoration", run.pk)


@restorer_page
def restoration_page(request: HttpRequest, run: UUID) -> HttpResponse:
    """One restoration: how far it is, what was wrong, or the new world. POST tries again at another
    address."""
    row = get_object_or_404(restorations_of(request), pk=run)
    form = AddressForm(request.POST or None, initial={"slug": row.slug})
    if request.method == "POST" and form.is_valid():
        try:
            runs.ask_again(row, slug=form.cleaned_data["slug"])
        except Problem as problem:
            messages.error(request, problem.detail)
            return redirect("restoration", row.pk)
        return start_restoration(row)
    context: dict[str, Any] = {
        "run": row,
        "form": form,
        "left_out": sum(row.left_out.values()),
        "keep_days": settings.ARCHIVE_KEEP_DAYS,
    }
    if row.is_unfinished:
        context |= progress_context(row, **addresses_of_restoration(row))
    status = 422 if form.errors else 200
    return render(request, "worlds/restoration.html", context, status=status)


@restorer_page
def restoration_progress(request: HttpRequest, run: UUID) -> HttpResponse:
    row = get_object_or_404(restorations_of(request), pk=run)
    addresses = addresses_of_restoration(row)
    return show_progress(request, row, **addresses, is_over=not row.is_unfinished)


@require_POST
@restorer_page
def delete_restoration(request: HttpRequest, run: UUID) -> HttpResponse:
    """Throw an uploaded archive away. The world that was made of one stays."""
    row = get_object_or_404(restorations_of(request), pk=run)
    if not row.is_unfinished:
        runs.delete_run(row)
        messages.success(request, _("The upload was deleted."))
    return redirect("world-restore")


def restorations_of(request: HttpRequest) -> QuerySet[ArchiveRun]:
    """Those of this user: an archive holds the secrets of a world."""
    assert isinstance(request.user, User)
    rows = ArchiveRun.objects.filter(kind=ArchiveRun.Kind.RESTORATION, user=request.user)
    return rows.select_related("world")


def addresses_of_restoration(run: ArchiveRun) -> dict[str, str]:
    poll = reverse("restoration-progress", args=[run.pk])
    return {"page": reverse("restoration", args=[run.pk]), "poll": poll}
