"""Proposed lore entries on the site: what they would change, and the decision."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from knowledge.editing_models import LoreProposal
from knowledge.models import Lore
from knowledge.proposals import accept, reject
from knowledge.schemas import LoreIn
from memory_site.field_diffs import FieldDiff, field_diff
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from retrieval.text import slug_of_title
from worlds.audiences import Visibility
from worlds.pages import Viewer, gm_page, render_page
from worlds.text_diff import as_text

EDITABLE = ("title", "kind", "status", "visibility", "aliases", "tags", "folder", "body")
LISTS = ("aliases", "tags")


@gm_page
def proposal_page(request: HttpRequest, viewer: Viewer, proposal: str) -> HttpResponse:
    """What the proposal would change, with forms that accept, edit or reject it."""
    row = get_object_or_404(LoreProposal, world=viewer.world, pk=proposal)
    return _show(request, viewer, row, values=_form_values(row.entry))


def _show(
    request: HttpRequest, viewer: Viewer, row: LoreProposal, *, values: dict[str, str]
) -> HttpResponse:
    current = find_current(row)
    return render_page(
        request,
        viewer,
        "lists/proposal.html",
        proposal=row,
        current=current,
        diffs=proposal_diff(row, current),
        values=values,
        is_open=row.state == LoreProposal.State.OPEN,
        kinds=Lore.Kind.choices,
        statuses=Lore.Status.choices,
        visibilities=Visibility.choices,
    )


def find_current(row: LoreProposal) -> Lore | None:
    """The entry that the proposal would change, None for one that it would create."""
    title = str(row.entry.get("title", ""))
    slug = str(row.entry.get("slug") or slug_of_title(title, otherwise="entry"))
    campaign = row.entry.get("campaign") or None
    rows = Lore.objects.filter(world=row.world_id, slug=slug, campaign__slug=campaign)
    entry: Lore | None = rows.select_related("campaign", "overrides", "custom_kind").first()
    return entry


def proposal_diff(row: LoreProposal, current: Lore | None) -> list[FieldDiff]:
    """Return each proposed field that differs from the present entry."""
    links = current.related_slugs() if current else {}
    diffs = []
    for name, proposed in row.entry.items():
        present = links[name] if name in links else getattr(current, name, None)
        before, after = as_text(present), as_text(proposed)
        if before != after and name in LoreIn.model_fields:
            field: Any = Lore._meta.get_field(name)
            diffs.append(field_diff(field.verbose_name, before, after))
    return diffs


def _form_values(entry: dict[str, Any]) -> dict[str, str]:
    values = {name: as_text(entry.get(name)) for name in EDITABLE}
    return values | {name: ", ".join(entry.get(name) or []) for name in LISTS}


@require_POST
@gm_page
def decide_proposal(request: HttpRequest, viewer: Viewer, proposal: str) -> HttpResponse:
    """Accept the proposal as it is or as edited, or reject it with a reason."""
    row = get_object_or_404(LoreProposal, world=viewer.world, pk=proposal)
    note = request.POST.get("note", "").replace("\x00", "").strip()[:2000]
    try:
        if "reject" in request.POST:
            if not note:
                return _ask_again(request, viewer, row, _("Say why you reject the proposal."))
            reject(row, by=viewer.name, note=note)
            messages.success(request, _("The proposal was rejected."), extra_tags="good")
        else:
            entry = _edited_entry(row, request.POST) if "edited" in request.POST else None
            accept(row, by=viewer.name, entry=entry, note=note)
            embed_soon("lore")
            messages.success(request, _("The entry was written."), extra_tags="good")
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return _ask_again(request, viewer, row, f"{where}: {first['msg']}")
    except Problem as problem:
        return _ask_again(request, viewer, row, problem.detail)
    return HttpResponseRedirect(reverse("inbox", args=[viewer.world.slug]))


def _ask_again(
    request: HttpRequest, viewer: Viewer, row: LoreProposal, message: str
) -> HttpResponse:
    """Show the page again with the message, and what was typed."""
    messages.error(request, message, extra_tags="bad")
    row.refresh_from_db()
    values = _form_values(row.entry)
    if "edited" in request.POST:
        values = {name: request.POST.get(name, value) for name, value in values.items()}
    return _show(request, viewer, row, values=values)


def _edited_entry(row: LoreProposal, data: Any) -> LoreIn:
    """The proposal with what the editor typed; fields left empty that it did not name stay out."""
    entry = dict(row.entry)
    for name in EDITABLE:
        if name not in data or (not data[name].strip() and name not in entry):
            continue
        text = data[name].replace("\x00", "").replace("\r\n", "\n")
        words = [word.strip() for word in text.split(",")]
        entry[name] = list(filter(None, words)) if name in LISTS else text
    return LoreIn.model_validate(entry)
