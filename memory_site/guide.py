"""The guide of the API as a page: docs/api.md, at an address of its own, for everybody."""

import re
from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from memory_site.env import DOCS_DIR
from worlds.markdown import heading_id, safe_html

PAGES = {
    "api": "The API: from a key to a scene",
    "tools": "The tools",
    "api-changelog": "Changes of the API",
}
"""The documents that a page shows, by file name; the first is the guide."""
LINK = re.compile(r"\]\((?:(?P<name>[\w-]+)\.md)?(?P<anchor>#[\w-]+)?\)")
OTHER_FILE = re.compile(r"\[([^\[\]]+)\]\((?!https?://|/|#)[^()\s]+\)")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@require_safe
def guide(request: HttpRequest, name: str = "api") -> HttpResponse:
    """Show a document about the API. It is in English, as the reference is."""
    if name not in PAGES:
        raise Http404(name)
    site = f"{request.scheme}://{request.get_host()}"
    text, headings = read_document(name)
    context = {
        "title": PAGES[name],
        "html": render_document(text.replace("http://127.0.0.1:8000", site)),
        "headings": headings,
        "pages": [(reverse("api-guide", args=page_arguments(each)), PAGES[each]) for each in PAGES],
    }
    return render(request, "guide.html", context)


def page_arguments(name: str) -> list[str]:
    return [] if name == "api" else [name]


@cache
def read_document(name: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a document's Markdown and its headings with their anchors."""
    text = (DOCS_DIR / f"{name}.md").read_text(encoding="utf-8")
    headings = [(heading_id(each), each.replace("`", "")) for each in HEADING.findall(_prose(text))]
    return text, headings


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


@cache
def render_document(text: str) -> SafeString:
    """Return the HTML of a document: links lead to the pages that there are, other files of the
    project are named without a link."""
    return safe_html(OTHER_FILE.sub(r"\1", LINK.sub(_page_link, text)))


def _page_link(found: re.Match[str]) -> str:
    """Lead to the page of a document, and to the anchor that a heading has on it."""
    name, anchor = found["name"], found["anchor"]
    if name and name not in PAGES:
        return found[0]
    address = reverse("api-guide", args=page_arguments(name)) if name else ""
    return f"]({address}{f'#h-{anchor[1:]}' if anchor else ''})"
