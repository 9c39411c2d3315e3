"""Template words for the pages: Markdown that is safe to show, and links that keep the place."""

from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.utils.safestring import SafeString

from worlds.in_world_days import day_name
from worlds.markdown import plain_text, safe_html

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Show Markdown as sanitised HTML."""
    return safe_html(text or "")


@register.filter
def words(text: str) -> str:
    """Show Markdown as its words, for an excerpt."""
    return plain_text(text or "")


@register.filter
def day(number: float | None, names: dict[float, str]) -> str:
    """Show a world day by its date, where it has one (`worlds.in_world_days.names_of_days`)."""
    return day_name(number, names or {})


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
