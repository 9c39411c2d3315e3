"""Change many entries of the list at once: choose them, see what would change, confirm, undo."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from knowledge.bulk_changes import MOST_ENTRIES, BulkChangeRequest, apply_change, undo_change
from knowledge.editing_models import BulkChange
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore
from knowledge.querysets import LoreQuerySet
from knowledge.schemas import normalize_folder
from memory_site.lists.filters import (
    CANON,
    LoreFilter,
    filter_choices,
    folder_tree,
    listed_lore,
)
from memory_site.lists.lore_list import redirect_to_list
from retrieval.errors import Invalid, Problem
from retrieval.tasks import embed_soon
from worlds.audience_names import audience_names
from worlds.audiences import Visibility
from worlds.lookup import as_uuid
from worlds.models import Campaign
from worlds.pages import Viewer, gm_page, render_page

MOST_SHOWN = 50
ACTIONS = {
    "visibility": gettext_lazy("Visibility"),
    "status": gettext_lazy("Status"),
    "kind": gettext_lazy("Kind"),
    "folder": gettext_lazy("Folder"),
    "tags": gettext_lazy("Tags"),
    "campaign": gettext_lazy("Campaign"),
    "trash": gettext_lazy("Move to the trash"),
}


@require_POST
@gm_page
def bulk_change(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show the chosen entries and the form of the change; with `confirm`, make it."""
    action, query = request.POST.get("action", ""), request.POST.get("filter", "")
    query = LoreFilter.from_query(QueryDict(query), viewer).query
    if action not in ACTIONS:
        messages.error(request, _("Choose what to change."), extra_tags="bad")
        return redirect_to_list(viewer, query)
    entries = _chosen_entries(request, viewer, query)
    ids: list[UUID] = list(entries.values_list("pk", flat=True)[: MOST_ENTRIES + 1])
    if not ids or len(ids) > MOST_ENTRIES:
        text = _("Choose between 1 and %(most)d entries.") % {"most": MOST_ENTRIES}
        messages.error(request, text, extra_tags="bad")
        return redirect_to_list(viewer, query)
    if "confirm" in request.POST:
        try:
            _make_change(request, viewer, ids, action)
        except Problem as problem:
            messages.error(request, problem.detail, extra_tags="bad")
        else:
            return redirect_to_list(viewer, query)
    return _confirmation(request, viewer, action, ids, query)


def _chosen_entries(request: HttpRequest, viewer: Viewer, query: str) -> LoreQuerySet:
    """The entries that were ticked, or all that the filter of the list finds."""
    rows = listed_lore(viewer)
    if "all" in request.POST:
        lore_filter = LoreFilter.from_query(QueryDict(query), viewer)
        return lore_filter.order(lore_filter.narrow(rows, viewer))
    texts = [*request.POST.getlist("id"), *request.POST.get("ids", "").split()]
    ids = [pk for text in texts if (pk := as_uuid(text))]
    return rows.filter(pk__in=ids).order_by("title")


def _confirmation(
    request: HttpRequest, viewer: Viewer, action: str, ids: list[UUID], query: str
) -> HttpResponse:
    rows = Lore.objects.filter(pk__in=ids).order_by("title").select_related("custom_kind")
    return render_page(
        request,
        viewer,
        "lists/bulk.html",
        action=action,
        action_name=ACTIONS[action],
        ids=ids,
        entries=rows.defer("body", "extra", "name_keys")[:MOST_SHOWN],
        more=max(0, len(ids) - MOST_SHOWN),
        query=query,
        built_in_kinds=Lore.Kind.choices,
        folders=folder_tree(listed_lore(viewer))[0],
        people=audience_names(viewer.world) if action == "visibility" else [],
        sent=request.POST,
        sent_audiences=request.POST.getlist("audience"),
        **filter_choices(viewer),
    )


def _make_change(request: HttpRequest, viewer: Viewer, ids: list[UUID], action: str) -> None:
    change = _read_change(request.POST, viewer, action)
    record = apply_change(viewer.world, ids, change, user=request.user)
    if record is None:
        messages.info(request, _("Nothing changed: the entries were like that before."))
        return
    embed_soon("lore")
    count = len(record.rows)
    text = ngettext("%(count)d entry was changed.", "%(count)d entries were changed.", count)
    messages.success(request, text % {"count": count}, extra_tags="good")


def _read_change(data: QueryDict, viewer: Viewer, action: str) -> BulkChangeRequest:
    """Return the change that the form describes. Raises `Invalid`."""
    if action == "trash":
        return BulkChangeRequest(_("moved to the trash"), is_deletion=True)
    value = data.get(action, "").replace("\x00", "").strip()
    read = {
        "visibility": _visibility_change,
        "status": _status_change,
        "kind": _kind_change,
        "folder": _folder_change,
        "tags": _tags_change,
        "campaign": _campaign_change,
    }[action]
    return read(viewer, value, data)


def _visibility_change(viewer: Viewer, value: str, data: QueryDict) -> BulkChangeRequest:
    if value not in Visibility.values:
        raise Invalid(_("Choose a visibility."))
    audiences: list[str] = []
    if value == Visibility.REVEALED:
        known = {each.audience: each.name for each in audience_names(viewer.world)}
        audiences = [text for text in data.getlist("audience") if text in known]
        if not audiences:
            raise Invalid(_("Choose at least one party or NPC to reveal the entries to."))
        who = ", ".join(known[text] for text in audiences)
        what = _("revealed to %(who)s") % {"who": who}
    else:
        what = _("visible to: %(who)s") % {"who": Visibility(value).label}
    return BulkChangeRequest(what, visibility=value, audiences=tuple(audiences))


def _status_change(_viewer: Viewer, value: str, _data: QueryDict) -> BulkChangeRequest:
    if value not in Lore.Status.values:
        raise Invalid(_("Choose a status."))
    return BulkChangeRequest(
        _("status %(name)s") % {"name": Lore.Status(value).label}, status=value
    )


def _kind_change(viewer: Viewer, value: str, _data: QueryDict) -> BulkChangeRequest:
    kind, _colon, slug = value.partition(":")
    own = LoreKind.objects.filter(world=viewer.world, slug=slug).first() if slug else None
    if kind not in Lore.Kind.values or bool(slug) != bool(own) or (own and kind != "custom"):
        raise Invalid(_("Choose a kind."))
    name = own.name if own else Lore.Kind(kind).label
    return BulkChangeRequest(_("kind %(name)s") % {"name": name}, kind=kind, custom_kind=own)


def _folder_change(_viewer: Viewer, value: str, _data: QueryDict) -> BulkChangeRequest:
    folder = normalize_folder(value)
    if len(folder) > 200:
        raise Invalid(_("The path of a folder has at most 200 characters."))
    text = _("moved to the folder %(folder)s") % {"folder": folder}
    return BulkChangeRequest(text if folder else _("moved out of its folder"), folder=folder)


def _tags_change(_viewer: Viewer, _value: str, data: QueryDict) -> BulkChangeRequest:
    added, removed = _read_tags(data.get("add", "")), _read_tags(data.get("remove", ""))
    if not added and not removed:
        raise Invalid(_("Name at least one tag to add or to remove."))
    texts = [f"+{tag}" for tag in added] + [f"−{tag}" for tag in removed]
    what = _("tags %(tags)s") % {"tags": " ".join(texts)}
    return BulkChangeRequest(what, add_tags=added, remove_tags=removed)


def _read_tags(text: str) -> tuple[str, ...]:
    tags = [tag.strip() for tag in text.replace("\x00", "").split(",")]
    if any(len(tag) > 80 for tag in tags):
        raise Invalid(_("A tag has at most 80 characters."))
    return tuple(dict.fromkeys(filter(None, tags)))


def _campaign_change(viewer: Viewer, value: str, _data: QueryDict) -> BulkChangeRequest:
    if value == CANON:
        return BulkChangeRequest(_("canon of the world"), is_canon=True)
    campaign = Campaign.objects.filter(world=viewer.world, slug=value).first()
    if campaign is None:
        raise Invalid(_("Choose a campaign."))
    return BulkChangeRequest(_("campaign %(name)s") % {"name": campaign.name}, campaign=campaign)


@require_POST
@gm_page
def undo_bulk(request: HttpRequest, viewer: Viewer, change: str) -> HttpResponse:
    query = LoreFilter.from_query(QueryDict(request.POST.get("filter", "")), viewer).query
    own: Any = BulkChange.objects.filter(world=viewer.world)
    row = get_object_or_404(own.filter(user=request.user), pk=change)
    latest = own.filter(user=request.user).order_by("-created_at", "-pk").first()
    if row != latest:
        raise Http404
    try:
        undone = undo_change(row, by=viewer.name)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
        return redirect_to_list(viewer, query)
    embed_soon("lore")
    text = ngettext(
        "%(count)d entry is as it was before.", "%(count)d entries are as before.", undone.restored
    )
    messages.success(request, text % {"count": undone.restored}, extra_tags="good")
    if undone.skipped:
        text = _("Changed again since, so left as they are: %(titles)s")
        messages.warning(request, text % {"titles": ", ".join(undone.skipped[:20])})
    return redirect_to_list(viewer, query)
