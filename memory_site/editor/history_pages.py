"""The history of a thing: who changed what, in words, and back to an older version."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from knowledge.entry_store import restore_entry
from memory_site.editor.relation_pages import show_problem
from memory_site.editor.thing_pages import entry_of_request, find_npc
from memory_site.editor.things import Thing, thing_of_entry, thing_of_npc
from npcs.upsert import restore_npc
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.pages import Viewer, gm_page, render_page
from worlds.text_diff import DiffPiece, as_text, word_diff

VERSIONS_PER_PAGE = 20
NOT_SHOWN = frozenset(
    {"id", "world", "version", "created_at", "updated_at", "name_keys", "known_to", "deleted_at"}
    | {"deleted_by", "trash_data"}
)


@dataclass(frozen=True)
class VersionChange:
    """A stored version, with what it changed in the one before."""

    record: Any
    part: str
    fields: list[tuple[str, list[DiffPiece]]]
    is_present: bool

    @property
    def model(self) -> str:
        return str(self.record.instance_type._meta.model_name)


@gm_page
def entry_history(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return history(request, viewer, thing_of_entry(viewer, entry_of_request(request, viewer, slug)))


@gm_page
def person_history(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return history(request, viewer, thing_of_npc(viewer, find_npc(viewer, slug)))


def history(request: HttpRequest, viewer: Viewer, thing: Thing) -> HttpResponse:
    if request.method == "POST":
        return restore(request, thing)
    records = [(record, row, part) for row, part in rows_of(thing) for record in records_of(row)]
    records.sort(key=lambda each: each[0].history_date, reverse=True)
    pages = Paginator(records, VERSIONS_PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    by_row = {row.pk: records_of(row) for row, _part in rows_of(thing)}
    changes = [to_change(record, by_row[row.pk], part) for record, row, part in page]
    context = {"thing": thing, "entry": thing.entry, "page_obj": page, "changes": changes}
    return render_page(request, viewer, "editor/history.html", **context)


def rows_of(thing: Thing) -> list[tuple[Any, str]]:
    rows = [(thing.entry, _("Entry")), (thing.npc, _("NPC"))]
    return [(row, part) for row, part in rows if row]


def records_of(row: Any) -> list[Any]:
    """The versions of a row, latest first, without the texts of others."""
    return list(row.history.select_related("history_user").order_by("-history_date", "-history_id"))


def to_change(record: Any, records: list[Any], part: str) -> VersionChange:
    at = next(number for number, each in enumerate(records) if each.pk == record.pk)
    before = records[at + 1] if at + 1 < len(records) else None
    return VersionChange(record, part, differences(before, record), is_present=at == 0)


def differences(before: Any, after: Any) -> list[tuple[str, list[DiffPiece]]]:
    """The fields that differ, with the words that went and came. Nothing for the first version."""
    if before is None:
        return []
    changed = []
    for field in after.instance._meta.concrete_fields:
        if field.name in NOT_SHOWN or not hasattr(after, field.attname):
            continue
        old, new = (as_text(getattr(row, field.attname)) for row in (before, after))
        if old != new:
            names = dict(field.flatchoices)
            old, new = (str(names.get(text, text)) for text in (old, new))
            changed.append((str(field.verbose_name), word_diff(old, new)))
    return changed


def restore(request: HttpRequest, thing: Thing) -> HttpResponse:
    """Write the stored values of an older version as a new one."""
    wanted = request.POST.get("record", "")
    for row, _part in rows_of(thing):
        record = row.history.filter(pk=int(wanted)).first() if wanted.isdecimal() else None
        # Versions of entries and of NPCs are counted separately: the form says which it means.
        if record is None or request.POST.get("model") != row._meta.model_name:
            continue
        date = date_format(record.history_date, "SHORT_DATETIME_FORMAT")
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
