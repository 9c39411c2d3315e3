"""What changed lately, of every kind: who wrote it, and the way to the difference."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from knowledge.entry_drafts import EntryDraft
from knowledge.models import Lore, Rule
from npcs.models import NPC
from worlds.models import World
from worlds.pages import Viewer, gm_page, render_page

CHANGES_PER_PAGE = 50
MOST_DRAFTS = 200


@dataclass(frozen=True)
class RecentChange:
    at: datetime
    kind: str
    title: str
    url: str
    diff_url: str
    who: str
    reason: str
    is_new: bool


@gm_page
def recent_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The latest changes of lore, rules and NPCs; `before` leads to older ones."""
    before = _parse_moment(request.GET.get("before", ""))
    changes = _recent_changes(viewer.world, before)
    older = changes[CHANGES_PER_PAGE - 1].at.isoformat() if len(changes) > CHANGES_PER_PAGE else ""
    return render_page(
        request,
        viewer,
        "lists/recent.html",
        changes=changes[:CHANGES_PER_PAGE],
        older=older,
        is_older=before is not None,
    )


def _parse_moment(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None


def _recent_changes(world: World, before: datetime | None) -> list[RecentChange]:
    """The newest changes, one more than a page shows."""
    lore = _versions(Lore, world, before).values_list(*COLUMNS, "title", "slug", "campaign__slug")
    rules = _versions(Rule, world, before).values_list(*COLUMNS, "title", "key")
    npcs = _versions(NPC, world, before).values_list(*COLUMNS, "name", "slug")
    changes = [
        *(_lore_change(world, row) for row in lore),
        *(_rule_change(row) for row in rules),
        *(_npc_change(world, row) for row in npcs),
    ]
    changes.sort(key=lambda change: change.at, reverse=True)
    return changes[: CHANGES_PER_PAGE + 1]


COLUMNS = ("history_date", "history_user__username", "history_change_reason", "history_type")


def _versions(model: Any, world: World, before: datetime | None) -> Any:
    """The newest versions of rows that are not in the trash."""
    live = model.objects.filter(world=world)
    rows = model.history.filter(world=world, id__in=live.values("pk"))
    if before:
        rows = rows.filter(history_date__lt=before)
    return rows.order_by(F("history_date").desc(), "-history_id")[: CHANGES_PER_PAGE + 1]


def _lore_change(world: World, row: tuple[Any, ...]) -> RecentChange:
    *common, title, slug, campaign = row
    suffix = f"?campaign={campaign}" if campaign else "?canon"
    return _change(
        common,
        kind=_("Lore"),
        title=title,
        url=reverse("lore-entry", args=[world.slug, slug]),
        diff_url=reverse("lore-history", args=[world.slug, slug]) + suffix,
    )


def _rule_change(row: tuple[Any, ...]) -> RecentChange:
    *common, title, _key = row
    return _change(common, kind=_("Rule"), title=title, url="", diff_url="")


def _npc_change(world: World, row: tuple[Any, ...]) -> RecentChange:
    *common, name, slug = row
    url = reverse("npc", args=[world.slug, slug])
    return _change(
        common,
        kind=_("NPC"),
        title=name,
        url=url,
        diff_url=reverse("npc-history", args=[world.slug, slug]),
    )


def _change(common: list[Any], *, kind: str, title: str, url: str, diff_url: str) -> RecentChange:
    at, who, reason, type_of_change = common
    return RecentChange(
        at=at,
        kind=kind,
        title=title,
        url=url,
        diff_url=diff_url,
        who=who or "",
        reason=reason or "",
        is_new=type_of_change == "+",
    )


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
        .order_by("-updated_at")[:MOST_DRAFTS],
        unsaved=unsaved.select_related("entry").order_by("-updated_at"),
    )
