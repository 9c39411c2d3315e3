"""Pages of a world's calendar: what it is, dates of it, and how a game master changes it."""

from math import floor
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from retrieval.errors import Problem
from worlds.calendar_forms import CalendarEditor
from worlds.calendar_model import CalendarVersion
from worlds.calendars.date_parser import DateSpan, example_date
from worlds.calendars.date_texts import date_in_calendar
from worlds.calendars.imported import read_calendar_file
from worlds.calendars.moons import phases_on
from worlds.calendars.presets import PRESETS, preset, preset_title
from worlds.pages import Viewer, gm_page, page, render_page
from worlds.world_calendar import (
    calendar_version,
    language,
    read_date,
    restore_calendar,
    save_calendar,
    show_date,
)

MOST_VERSIONS = 20


@page
def calendar_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show the calendar, and convert a date or world day that was typed."""
    asked = request.GET.get("date", "").strip()
    answer: dict[str, Any] = {}
    try:
        span = read_date(viewer.calendar, asked)
        answer = describe(viewer, span) if span else {}
    except Problem as problem:
        answer = {"problem": problem.detail}
    calendar = viewer.calendar
    versions = CalendarVersion.objects.filter(world=viewer.world) if viewer.is_gm else None
    return render_page(
        request,
        viewer,
        "worlds/calendar.html",
        calendar=calendar,
        definition=calendar and calendar.definition,
        asked=asked,
        answer=answer,
        example=example_date(calendar, language()) if calendar else "76530",
        presets=preset_choices(),
        versions=versions and versions[:MOST_VERSIONS],
    )


def preset_choices() -> list[tuple[str, str]]:
    return [(name, preset_title(name, get_language() or "en")) for name in PRESETS]


def describe(viewer: Viewer, span: DateSpan) -> dict[str, Any]:
    """Say what a text means: its first and last day with their dates, and of a single day the
    weekday, the moons and the festivals."""
    calendar = viewer.calendar
    days = dict.fromkeys((span.first, span.last))
    values: dict[str, Any] = {
        "days": [(show_date(None, day), show_date(calendar, day)) for day in days]
    }
    date = date_in_calendar(calendar, span.first) if calendar else None
    if calendar and date and span.is_one_day:
        values["weekday"] = calendar.weekday_of(date)
        values["moons"] = phases_on(calendar.definition, span.first)
        festivals = calendar.festivals_of(date.year)
        values["festivals"] = [name for day, name in festivals if day == floor(span.first)]
    return values


@gm_page
def edit_calendar(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Change the calendar. A preset or a file only fills in the form: nothing is stored before it
    is saved."""
    stored = calendar_version(viewer.world)
    version = stored.version if stored else 0
    if request.method == "POST" and "file" in request.FILES:
        return fill_in_from_file(request, viewer, version)
    if request.method == "POST" and "months-TOTAL_FORMS" not in request.POST:
        messages.error(request, _("Choose a file first."), extra_tags="bad")
        return redirect("calendar", viewer.world.slug)
    if request.method == "POST":
        return save_typed(request, viewer, version)
    chosen = request.GET.get("preset", "")
    if chosen and chosen not in PRESETS:
        raise Http404
    definition = viewer.calendar.definition if viewer.calendar else None
    if chosen or definition is None:
        definition = preset(chosen or "twelve-times-thirty", viewer.world.language)
    return show_editor(request, viewer, CalendarEditor(definition, version=version))


def fill_in_from_file(request: HttpRequest, viewer: Viewer, version: int) -> HttpResponse:
    try:
        upload: Any = request.FILES["file"]
        definition = read_calendar_file(upload.read())
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
        return redirect("calendar", viewer.world.slug)
    text = _("The calendar was read from the file. Check it, then save it.")
    messages.info(request, text)
    return show_editor(request, viewer, CalendarEditor(definition, version=version))


def save_typed(request: HttpRequest, viewer: Viewer, version: int) -> HttpResponse:
    more = request.POST.get("more", "")
    editor = CalendarEditor(version=version, data=request.POST, more=more)
    if more:
        return show_editor(request, viewer, editor)
    definition = editor.definition()
    if definition is None:
        return show_editor(request, viewer, editor, status=422)
    read = editor.main.cleaned_data["version"]
    try:
        save_calendar(viewer.world, definition, by=viewer.name, expected_version=read)
    except Problem as problem:
        editor.main.add_error(None, problem.detail)
        return show_editor(request, viewer, editor, status=409)
    messages.success(request, _("The calendar was saved."), extra_tags="good")
    return redirect("calendar", viewer.world.slug)


def show_editor(
    request: HttpRequest, viewer: Viewer, editor: CalendarEditor, *, status: int = 200
) -> HttpResponse:
    response = render_page(request, viewer, "worlds/calendar_edit.html", editor=editor)
    response.status_code = status
    return response


@require_POST
@gm_page
def restore_version(request: HttpRequest, viewer: Viewer, version: int) -> HttpResponse:
    """Use an older calendar again; 0: count days."""
    try:
        restore_calendar(viewer.world, version, by=viewer.name)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, _("The calendar was saved."), extra_tags="good")
    return redirect("calendar", viewer.world.slug)
