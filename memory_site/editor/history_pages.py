"""The history of a thing: who changed what, any two versions compared word by word, back to an
older one, and the comments of its reviewers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.editing_models import EntryComment
from knowledge.entry_store import restore_entry
from knowledge.models import Lore
from memory_site.editor.relation_pages import show_problem
from memory_site.editor.thing_pages import entry_of_request, find_npc
from memory_site.editor.things import Thing, thing_of_entry, thing_of_npc
from memory_site.field_diffs import FieldDiff, field_diff
from npcs.upsert import restore_npc
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.pages import Viewer, gm_page, render_page
from worlds.text_diff import as_text

VERSIONS_PER_PAGE = 20
LONGEST_COMMENT = 10_000
NOT_SHOWN = frozenset(
    {"id", "world", "version", "created_at", "updated_at", "name_keys", "known_to", "deleted_at"}
    | {"deleted_by", "trash_data"}
)


@dataclass(frozen=True)
class StoredVersion:
    """A version of the entry or of the NPC; `before` is the one before it, if there is one."""

    record: Any
    part: str
    before: Any
    is_present: bool

    @property
    def model(self) -> str:
        return str(self.record.instance_type._meta.model_name)

    @property
    def key(self) -> str:
        """How an address names it: versions of entries and of NPCs are counted separately."""
        return f"{self.model}-{self.record.pk}"

    @property
    def diffs(self) -> list[FieldDiff]:
        return differences(self.before, self.record)


@gm_page
def entry_history(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return history(request, viewer, thing_of_entry(viewer, entry_of_request(request, viewer, slug)))


@gm_page
def person_history(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return history(request, viewer, thing_of_npc(viewer, find_npc(viewer, slug)))


def history(request: HttpRequest, viewer: Viewer, thing: Thing) -> HttpResponse:
    if request.method == "POST":
        return restore(request, thing)
    versions = versions_of(thing)
    context = {
        "thing": thing,
        "entry": thing.entry,
        "page_obj": Paginator(versions, VERSIONS_PER_PAGE).get_page(request.GET.get("page")),
        "may_compare": len(versions) > len(rows_of(thing)),
        "comments": thing.entry.comments.order_by("created_at", "pk") if thing.entry else [],
        **chosen_comparison(request.GET, {each.key: each for each in versions}),
    }
    return render_page(request, viewer, "editor/history.html", **context)


def rows_of(thing: Thing) -> list[tuple[Any, str]]:
    rows = [(thing.entry, _("Entry")), (thing.npc, _("NPC"))]
    return [(row, part) for row, part in rows if row]


def versions_of(thing: Thing) -> list[StoredVersion]:
    """The versions of entry and NPC, latest first."""
    versions = []
    for row, part in rows_of(thing):
        rows = row.history.select_related("history_user").order_by("-history_date", "-history_id")
        records = list(rows)
        for number, record in enumerate(records):
            before = records[number + 1] if number + 1 < len(records) else None
            versions.append(StoredVersion(record, part, before, is_present=number == 0))
    return sorted(versions, key=lambda each: each.record.history_date, reverse=True)


def chosen_comparison(
    query: Mapping[str, Any], versions: Mapping[str, StoredVersion]
) -> dict[str, Any]:
    """The two versions that the address chose, with their differences; nothing without two."""
    old, new = (versions.get(query.get(name, "")) for name in ("old", "new"))
    if not old or not new:
        return {}
    is_possible = old.model == new.model
    return {
        "old": old,
        "new": new,
        "is_possible": is_possible,
        "diffs": differences(old.record, new.record) if is_possible else [],
    }


def differences(before: Any, after: Any) -> list[FieldDiff]:
    """The fields that differ, with the words that went and came. Nothing for the first version."""
    if before is None:
        return []
    changed = []
    for field in after.instance._meta.concrete_fields:
        if field.name in NOT_SHOWN or not hasattr(after, field.attname):
            continue
        # Ids, not related rows: those of an old version may be gone.
        old, new = (as_text(getattr(row, field.attname)) for row in (before, after))
        if old != new:
            names = dict(field.flatchoices)
            old, new = (str(names.get(text, text)) for text in (old, new))
            changed.append(field_diff(field.verbose_name, old, new))
    return changed


def restore(request: HttpRequest, thing: Thing) -> HttpResponse:
    """Write the stored values of an older version as a new one."""
    wanted = request.POST.get("record", "")
    is_number = wanted.isdecimal() and len(wanted) <= 18
    for row, _part in rows_of(thing):
        if not is_number or request.POST.get("model") != row._meta.model_name:
            continue
        record = get_object_or_404(row.history, pk=int(wanted))
        date = date_format(record.history_date, "DATETIME_FORMAT")
        reason = _("Restored the version of %(date)s") % {"date": date}
        service: Any = restore_npc if row is thing.npc else restore_entry
        try:
            outcome = service(row, record.instance, reason=reason)
        except Problem as problem:
            show_problem(request, problem)
        else:
            tell(request, outcome, date)
        return HttpResponseRedirect(thing.address())
    raise Http404


def tell(request: HttpRequest, outcome: str, date: str) -> None:
    if outcome == "unchanged":
        messages.info(request, _("Nothing was changed: this version is the present one."))
        return
    embed_soon("lore")
    text = _("The version of %(date)s was restored.") % {"date": date}
    messages.success(request, text, extra_tags="good")


# --- comments


@require_POST
@gm_page
def add_comment(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    entry = entry_of_request(request, viewer, slug)
    text = request.POST.get("text", "").replace("\x00", "").strip()
    if not text or len(text) > LONGEST_COMMENT:
        message = _("A comment has between 1 and %(most)d characters.") % {"most": LONGEST_COMMENT}
        messages.error(request, message, extra_tags="bad")
    else:
        EntryComment.objects.create(lore=entry, author=viewer.name, text=text)
        messages.success(request, _("The comment was saved."), extra_tags="good")
    return to_comments(viewer, entry)


@require_POST
@gm_page
def resolve_comment(_request: HttpRequest, viewer: Viewer, comment: str) -> HttpResponse:
    """Resolve an open comment, or open a resolved one again."""
    rows = EntryComment.objects.filter(lore__world=viewer.world, lore__deleted_at=None)
    row = get_object_or_404(rows.select_related("lore__campaign"), pk=comment)
    is_open = row.resolved_at is None
    row.resolved_at = timezone.now() if is_open else None
    row.resolved_by = viewer.name if is_open else ""
    row.save(update_fields=["resolved_at", "resolved_by"])
    return to_comments(viewer, row.lore)


def to_comments(viewer: Viewer, entry: Lore) -> HttpResponse:
    address = thing_of_entry(viewer, entry).address("history")
    return HttpResponseRedirect(f"{address}#comments")
