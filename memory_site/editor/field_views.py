"""What the editor field asks of the server while somebody writes: names, audiences, a preview, the
passages, and the draft that is saved every few seconds. For game masters alone."""

import json
from collections.abc import Callable
from difflib import unified_diff
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from knowledge.entry_drafts import (
    EntryDraft,
    clean_draft_fields,
    delete_draft,
    drafts_of,
    save_draft,
)
from knowledge.markup_check import check_markup
from knowledge.models import Lore
from knowledge.schemas import LONGEST_BODY
from memory_site.editor.completion import suggest_by_meaning, suggest_names
from memory_site.errors import status_of
from retrieval.errors import Invalid, Problem, TooLarge
from retrieval.indexing import SourceEntry, chunk_entry
from retrieval.text import WORD, clean_text, count_tokens
from worlds.audience_names import audience_names, suggest_audiences
from worlds.lookup import as_uuid
from worlds.pages import Viewer, gm_page

AUDIENCES = 20
"""Audiences that one answer lists. Without a query it lists more, for the names in the text."""
ALL_AUDIENCES = 4_000
LONGEST_TITLE = 200
"""Characters of all fields of a draft together."""
MOST_DIFF_LINES, LONGEST_DIFF = 200, 3_000
"""Lines of a difference that are shown; lines up to which two texts are compared at all."""

View = Callable[..., dict[str, Any]]


def json_view(view: View) -> Callable[..., HttpResponse]:
    """Decorate a view that returns a dict: the answer is JSON, and so is a problem."""

    @never_cache
    @gm_page
    @wraps(view)
    def wrapper(request: HttpRequest, viewer: Viewer, **kwargs: Any) -> HttpResponse:
        try:
            return JsonResponse(view(request, viewer, **kwargs))
        except Problem as problem:
            return JsonResponse({"detail": problem.detail}, status=status_of(problem))

    return wrapper


@require_GET
@json_view
def complete(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    """Suggest names for `q`; with `by=meaning` entries whose text fits."""
    query = clean_text(request.GET.get("q", "")).strip()
    suggest = suggest_by_meaning if request.GET.get("by") == "meaning" else suggest_names
    suggestions = suggest(viewer.world, query) if query or suggest is suggest_names else []
    return {"items": [vars(each) for each in suggestions]}


@require_GET
@json_view
def audiences(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    """List the parties and NPCs that `q` may mean: those that a secret can be for."""
    names = audience_names(viewer.world)
    query = clean_text(request.GET.get("q", "")).strip().casefold()
    if not query:
        return {"items": [_audience(each) for each in names[:ALL_AUDIENCES]]}
    parts = [each for each in names if query in f"{each.audience} {each.name}".casefold()]
    by_name = {each.audience: each for each in names}
    similar = [by_name[audience] for audience in suggest_audiences(names, query)]
    fitting = dict.fromkeys([*parts, *similar])
    return {"items": [_audience(each) for each in list(fitting)[:AUDIENCES]]}


def _audience(name: Any) -> dict[str, str]:
    return {"audience": name.audience, "name": name.name}


@require_POST
@json_view
def preview(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    """Render the text as the page will show it, count its words, and check its secrets."""
    text = _text(_json_object(request), "text", longest=LONGEST_BODY)
    html = render_to_string(
        "editor/parts/preview.html",
        {"text": text, "viewer": viewer, "world": viewer.world, "audience": viewer.audience},
        request=request,
    )
    problems = check_markup(viewer.world, text)
    return {
        "html": html,
        "words": len(WORD.findall(text)),
        "problems": [{"line": each.line, "message": each.message} for each in problems],
    }


@require_POST
@json_view
def preview_passages(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    """Cut the text as saving would: what each passage holds, and who finds it."""
    fields = _json_object(request)
    title = _text(fields, "title", longest=LONGEST_TITLE) or _("Untitled")
    source = SourceEntry(title, _text(fields, "text", longest=LONGEST_BODY))
    names = {each.audience: each.name for each in audience_names(viewer.world)}
    passages = [
        {
            "text": chunk.text,
            "headings": chunk.payload.get("headings", []),
            "secret": bool(chunk.metadata.get("secret")),
            "audiences": [names.get(a, a) for a in chunk.metadata.get("audiences", [])],
            "tokens": round(count_tokens(chunk.text)),
        }
        for chunk in chunk_entry(source, domain="lore")
    ]
    context = {"passages": passages}
    html = render_to_string("editor/parts/passages.html", context, request=request)
    return {"passages": passages, "html": html}


# --- drafts


@require_http_methods(["GET", "PUT", "DELETE"])
@json_view
def draft(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    """Read, write or delete the viewer's own draft of a form."""
    if request.method == "GET":
        return _read_draft(request, viewer)
    if request.method == "PUT":
        return _write_draft(request, viewer)
    entry = _entry(viewer, request.GET.get("entry", ""))
    count = delete_draft(
        request.user,
        viewer.world,
        entry_id=entry.pk if entry else None,
        draft_id=as_uuid(request.GET.get("id", "")),
        target_kind=_target_kind(request.GET.get("kind")),
    )
    return {"deleted": count}


def _read_draft(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    entry = _entry(viewer, request.GET.get("entry", ""))
    rows = drafts_of(request.user, viewer.world).filter(
        entry=entry, target_kind=_target_kind(request.GET.get("kind"))
    )
    if draft_id := as_uuid(request.GET.get("id", "")):
        rows = rows.filter(pk=draft_id)
    row = rows.first()
    return {"draft": _draft_out(row, entry) if row else None}


def _write_draft(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    sent = _json_object(request)
    fields = sent.get("fields")
    if not isinstance(fields, dict):
        raise Invalid(_("A draft holds the fields of one form."))
    clean = clean_draft_fields(fields)
    version = sent.get("base_version")
    entry = _entry(viewer, str(sent.get("entry") or ""))
    row = save_draft(
        request.user,
        viewer.world,
        fields=clean,
        entry_id=entry.pk if entry else None,
        draft_id=as_uuid(str(sent.get("id") or "")),
        target_kind=_target_kind(sent.get("kind")),
        base_version=version if isinstance(version, int) and 0 < version < 2**31 else None,
    )
    return {"id": str(row.pk), "saved_at": _present(row)}


def _draft_out(row: EntryDraft, entry: Lore | None) -> dict[str, Any]:
    version = entry.version if entry else None
    old = entry.body if entry else ""
    context = {
        "draft": row,
        "shown_at": _present(row),
        "lines": _difference(old, str(row.fields.get("body") or "")),
        "is_outdated": bool(row.base_version and version and row.base_version < version),
        "version": version,
    }
    return {
        "id": str(row.pk),
        "fields": row.fields,
        "base_version": row.base_version,
        "saved_at": _present(row),
        "saved_ms": int(row.updated_at.timestamp() * 1000),
        "html": render_to_string("editor/parts/draft.html", context),
    }


def _difference(old: str, new: str) -> list[tuple[str, str]]:
    """Return (`same`, `added` or `removed`, line) around the changes; nothing for long texts."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > LONGEST_DIFF:
        return []
    signs = {"+": "added", "-": "removed", " ": "same"}
    lines = list(unified_diff(before, after, n=1, lineterm=""))[2:]
    shown = [line for line in lines if not line.startswith("@@")][:MOST_DIFF_LINES]
    return [(signs[line[0]], line[1:]) for line in shown]


def _present(row: EntryDraft) -> str:
    return date_format(timezone.localtime(row.updated_at), "DATETIME_FORMAT")


# --- what was sent


def _json_object(request: HttpRequest) -> dict[str, Any]:
    try:
        value = json.loads(request.body)
    except (ValueError, RecursionError) as problem:
        raise Invalid(_("The request is not JSON.")) from problem
    if not isinstance(value, dict):
        raise Invalid(_("The request is not a JSON object."))
    return value


def _text(fields: dict[str, Any], name: str, *, longest: int) -> str:
    value = fields.get(name)
    text = clean_text(value) if isinstance(value, str) else ""
    if len(text) > longest:
        message = _("The text is too long: at most %(count)d characters.")
        raise TooLarge(message % {"count": longest})
    return text


def _target_kind(value: Any) -> str:
    return clean_text(str(value or "lore"))[:40] or "lore"


def _entry(viewer: Viewer, reference: str) -> Lore | None:
    """Return the entry of the draft, None for a new one. Raises Http404 for one of another world"""
    if not reference:
        return None
    key: UUID | None = as_uuid(reference)
    if key is None:
        raise Http404
    entry: Lore = get_object_or_404(Lore.objects.in_world(viewer.world), pk=key)
    return entry
