"""Template words for the pages: Markdown that is safe to show, and links that keep the place."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString

from worlds.excerpts import excerpt_around
from worlds.in_world_days import day_name
from worlds.markdown import LinkResolver, audiences_in, plain_text, safe_html
from worlds.pages import Viewer, listed_worlds, worlds_of
from worlds.roles import may_administer as has_admin_rights
from worlds.roles import may_create_worlds

register = template.Library()
WORLDS_IN_MENU = 12


@register.filter
def markdown(text: str, links: Viewer | LinkResolver | None = None) -> SafeString:
    """Show Markdown as sanitised HTML. `{{ text|markdown:viewer }}` shows its links as far as the
    viewer may follow them, the pictures of the viewer's world, and the names of those who know a
    secret."""
    if not isinstance(links, Viewer):
        return safe_html(text or "", links)
    resolver = link_resolver()(links.world, links.audience, campaign=links.campaign)
    names = links.names_in_secrets(audiences_in(text)) if ":::" in (text or "") else {}
    return safe_html(text or "", resolver, world=links.world.slug, audiences=names)


@cache
def link_resolver() -> Callable[..., LinkResolver]:
    """The apps above know what links mean: `settings.LINK_RESOLVER`."""
    resolver: Callable[..., LinkResolver] = import_string(settings.LINK_RESOLVER)
    return resolver


# Every page has these lists, twice in its menus. Twenty parties have a hundred characters, and to
# make the lists anew takes longer than the rest of many a page.
AUDIENCE_OPTION = '<option value="{}">{}</option>'
AUDIENCE_BUTTON = '<li><button class="item" name="as" value="{}"{}>{}</button></li>'
CURRENT = SafeString(' aria-current="true"')


@register.simple_tag
def audience_options(viewer: Viewer) -> SafeString:
    """The parties and characters of the world as options of a select."""
    return options_of(tuple(viewer.party_choices))


@lru_cache(100)
def options_of(choices: tuple[tuple[str, str], ...]) -> SafeString:
    return format_html_join("", AUDIENCE_OPTION, choices)


@register.simple_tag
def audience_buttons(viewer: Viewer) -> SafeString:
    """The parties and characters of the world as buttons that show the world as they see it."""
    return buttons_of(tuple(viewer.party_choices), viewer.audience_text)


@lru_cache(100)
def buttons_of(choices: tuple[tuple[str, str], ...], current: str) -> SafeString:
    rows = ((at, CURRENT if at == current else "", name) for at, name in choices)
    return format_html_join("", AUDIENCE_BUTTON, rows)


@register.filter
def words(text: str) -> str:
    """Show Markdown as its words, for an excerpt."""
    return plain_text(text or "")


@register.filter
def around(text: str, question: str) -> str:
    """Begin an excerpt shortly before the words of the question."""
    return excerpt_around(text, question)


@register.filter
def day(number: float | None, names: dict[float, str] | str | None) -> str:
    """Show a world day by its date, where it has one (`worlds.in_world_days.names_of_days`)."""
    # A page that was given no names passes "" or None. Names may be empty and know the calendar.
    return day_name(number, names if isinstance(names, dict) else {})


@register.filter
def when(row: Any, viewer: Viewer) -> str:
    """Show when a row happened in the world: its own words, else the date of its day."""
    return viewer.when(row)


@register.filter
def when_ended(row: Any, viewer: Viewer) -> str:
    return viewer.when(row, until=True)


@register.filter
def typed_day(number: Any, viewer: Viewer) -> str:
    """Show a world day as an input takes it; what was typed wrongly stays as it was typed."""
    if not isinstance(number, int | float):
        return str(number or "")
    return viewer.typed_day(number)


@register.filter(expects_localtime=True)
def moment(value: datetime | None) -> SafeString | str:
    """Show a date with its time, as the reader's language writes it."""
    return time_element(value, date_format(value, "DATETIME_FORMAT")) if value else ""


@register.filter(expects_localtime=True)
def calendar_day(value: datetime | None) -> SafeString | str:
    return time_element(value, date_format(value, "DATE_FORMAT")) if value else ""


@register.filter(expects_localtime=True)
def ago(value: datetime | None) -> SafeString | str:
    """Show how long ago something was, or its date if that is more than a day."""
    if not value:
        return ""
    is_recent = abs(timezone.now() - value) < timedelta(days=1)
    return time_element(value, str(naturaltime(value))) if is_recent else calendar_day(value)


def time_element(value: datetime, shown: str) -> SafeString:
    exact = value.isoformat(sep=" ", timespec="seconds")
    html = '<time datetime="{}" title="{}">{}</time>'
    return format_html(html, value.isoformat(), exact, shown)


@register.filter
def from_here(url: str) -> str:
    """Return the address of a picture as a page should ask for it: without the host, if this site
    serves it itself. So it is seen by whatever name or port the reader came."""
    parts = urlsplit(url)
    own = parts.hostname in settings.ALLOWED_HOSTS and parts.path.startswith(settings.STATIC_URL)
    return parts.path if own else url


@register.simple_tag(takes_context=True)
def here(context: template.Context, prefix: str) -> SafeString | str:
    """Mark the part of the navigation that the present page belongs to."""
    path = context["request"].path
    return SafeString('aria-current="page"') if path.startswith(prefix) else ""


@register.simple_tag(takes_context=True)
def my_worlds(context: template.Context) -> dict[str, Any]:
    """Return the worlds for the switch in the header, at most `WORLDS_IN_MENU`, whether there are
    more, and whether the user may create one."""
    user = context["request"].user
    worlds = list(worlds_of(user)[: WORLDS_IN_MENU + 1])
    return {
        "shown": listed_worlds(worlds)[:WORLDS_IN_MENU],
        "more": len(worlds) > WORLDS_IN_MENU,
        "may_add": may_create_worlds(user),
    }


@register.filter
def may_administer(user: Any) -> bool:
    return has_admin_rights(user)
