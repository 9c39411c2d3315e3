"""What changed lately, of every kind, and drafts."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_datetime

from knowledge.entry_drafts import EntryDraft
from knowledge.models import Lore
from memory_site.lists.recent_changes import History, read_changes
from worlds.pages import Viewer, gm_page, render_page

CHANGES_PER_PAGE = 50
MOST_DRAFTS = 200


@gm_page
def recent_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The latest changes of lore, rules and NPCs; `before` leads to older ones. With `reason` and
    `since` each change of one import or bulk change."""
    moments = {name: parse_moment(request.GET.get(name, "")) for name in ("before", "since")}
    reason = request.GET.get("reason", "")
    history = History(viewer.world, **moments, reason=reason)
    changes = read_changes(history, most=CHANGES_PER_PAGE + 1)
    # Behind a bulk change, of which the next page would count the rest again.
    has_older = len(changes) > CHANGES_PER_PAGE
    older = changes[CHANGES_PER_PAGE - 1].since.isoformat() if has_older else ""
    return render_page(
        request,
        viewer,
        "lists/recent.html",
        changes=changes[:CHANGES_PER_PAGE],
        older=older,
        is_older=moments["before"] is not None,
        reason=reason,
    )


def parse_moment(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None


@gm_page
def drafts_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The viewer's drafts: unpublished entries, and texts that were never saved."""
    drafts = Lore.objects.filter(world=viewer.world, status=Lore.Status.DRAFT)
    by_me = Lore.history.filter(world=viewer.world, history_user=request.user).values("id")
    own = drafts.filter(author=viewer.name) | drafts.filter(pk__in=by_me)
    unsaved = EntryDraft.objects.filter(world=viewer.world, user=request.user.pk)
    return render_page(
        request,
        viewer,
        "lists/drafts.html",
        entries=own.select_related("campaign", "custom_kind")
        .defer("body", "extra", "name_keys")
        .order_by("-updated_at", "-pk")[:MOST_DRAFTS],
        unsaved=unsaved.select_related("entry").order_by("-updated_at", "-pk"),
    )
