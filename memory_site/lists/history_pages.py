"""The versions of an entry with readable differences, and comments of its reviewers."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.editing_models import EntryComment
from knowledge.entry_store import LORE_FIELDS, restore_entry
from knowledge.models import Lore
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.pages import Viewer, gm_page, render_page
from worlds.text_diff import DiffPiece, as_text, word_diff

VERSIONS_PER_PAGE = 30
LONGEST_COMMENT = 10_000
CONTEXT = 300
"""Characters of unchanged text that are shown on each side of a difference."""


@dataclass(frozen=True)
class FieldDiff:
    label: str
    pieces: list[DiffPiece]


def find_entry(request: HttpRequest, viewer: Viewer, slug: str) -> Lore:
    """The entry of the campaign in the address, else of canon, else of any campaign."""
    rows = Lore.objects.filter(world=viewer.world, slug=slug).select_related("campaign")
    campaign = request.GET.get("campaign", "").replace("\x00", "")
    # Of several entries with one slug canon comes first.
    own = rows.filter(campaign__slug=campaign) if campaign else rows.order_by("-campaign")
    entry: Lore | None = own.first()
    if entry is None:
        raise Http404
    return entry


@gm_page
def history_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Every version of the entry, the difference between two of them, and the comments.

    Without a choice these are the latest version and the one before it."""
    entry = find_entry(request, viewer, slug)
    versions = entry.history.select_related("history_user").order_by("-history_id")
    page_obj = Paginator(versions, VERSIONS_PER_PAGE).get_page(request.GET.get("page"))
    new = _chosen_version(versions, request.GET.get("new")) or versions.first()
    old = _chosen_version(versions, request.GET.get("old"))
    if old is None and new is not None:
        old = versions.filter(history_id__lt=new.history_id).first()
    return render_page(
        request,
        viewer,
        "lists/history.html",
        entry=entry,
        page_obj=page_obj,
        old=old,
        new=new,
        diffs=version_diff(old, new) if old and new else [],
        comments=entry.comments.order_by("created_at"),
    )


def _chosen_version(versions: Any, text: str | None) -> Any:
    if not text or not text.isdecimal() or len(text) > 18:
        return None
    return versions.filter(history_id=int(text)).first()


def version_diff(old: Any, new: Any) -> list[FieldDiff]:
    """Return the fields that differ between two versions, or an entry and a version."""
    diffs = []
    for name in LORE_FIELDS:
        field: Any = Lore._meta.get_field(name)
        # Ids, not related rows: those of an old version may be gone.
        before, after = getattr(old, field.attname), getattr(new, field.attname)
        if before != after:
            pieces = shorten(word_diff(as_text(before), as_text(after)))
            diffs.append(FieldDiff(capfirst(str(field.verbose_name)), pieces))
    return diffs


def shorten(pieces: list[DiffPiece]) -> list[DiffPiece]:
    """Leave out the middle of long unchanged pieces, as pieces of the kind `gap`."""
    short = []
    for piece in pieces:
        if piece.kind == "same" and len(piece.text) > 3 * CONTEXT:
            short += [
                DiffPiece("same", piece.text[:CONTEXT]),
                DiffPiece("gap", ""),
                DiffPiece("same", piece.text[-CONTEXT:]),
            ]
        else:
            short.append(piece)
    return short


def _redirect(viewer: Viewer, entry: Lore) -> HttpResponse:
    url = reverse("lore-history", args=[viewer.world.slug, entry.slug])
    query = f"?{urlencode({'campaign': entry.campaign.slug})}" if entry.campaign else ""
    return HttpResponseRedirect(url + query)


@require_POST
@gm_page
def restore_version(request: HttpRequest, viewer: Viewer, slug: str, version: int) -> HttpResponse:
    """Give the entry back what the version holds; the present text stays in the history."""
    entry = find_entry(request, viewer, slug)
    row = get_object_or_404(entry.history, history_id=version)
    date = date_format(row.history_date, "SHORT_DATETIME_FORMAT")
    reason = _("Restored the version of %(date)s") % {"date": date}
    try:
        outcome = restore_entry(entry, row.instance, reason=reason)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        if outcome != "unchanged":
            embed_soon("lore")
        messages.success(request, _("The version was restored."), extra_tags="good")
    return _redirect(viewer, entry)


@require_POST
@gm_page
def add_comment(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    entry = find_entry(request, viewer, slug)
    text = request.POST.get("text", "").replace("\x00", "").strip()
    if not text or len(text) > LONGEST_COMMENT:
        message = _("A comment has between 1 and %(most)d characters.") % {"most": LONGEST_COMMENT}
        messages.error(request, message, extra_tags="bad")
    else:
        EntryComment.objects.create(lore=entry, author=viewer.name, text=text)
        messages.success(request, _("The comment was saved."), extra_tags="good")
    return _redirect(viewer, entry)


@require_POST
@gm_page
def resolve_comment(request: HttpRequest, viewer: Viewer, comment: str) -> HttpResponse:
    """Resolve an open comment, or open a resolved one again."""
    rows = EntryComment.objects.filter(lore__world=viewer.world, lore__deleted_at=None)
    row = get_object_or_404(rows.select_related("lore__campaign"), pk=comment)
    is_open = row.resolved_at is None
    row.resolved_at = timezone.now() if is_open else None
    row.resolved_by = viewer.name if is_open else ""
    row.save(update_fields=["resolved_at", "resolved_by"])
    return _redirect(viewer, row.lore)
