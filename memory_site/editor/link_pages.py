"""Pages of links: hover cards, choices for ambiguous names, and the list of what to mend."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from art.galleries import portraits_of
from art.models import Picture
from knowledge.links import broken_links, link_mentions, link_to, orphans, unlinked_mentions
from knowledge.links.queries import broken_names, find_thing, leading_row
from knowledge.mentions.kinds import LinkedThing, linked_kind
from knowledge.mentions.names import read_names
from knowledge.models import Lore
from npcs.models import NPC
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from retrieval.text import storage_flaw
from worlds.models import World
from worlds.pages import Viewer, gm_page, page, render_page

BROKEN_PER_PAGE, ENTRIES_PER_PAGE, ORPHANS_PER_PAGE = 30, 10, 60
MOST_PLACES, MOST_CHOICES = 5, 8
LONGEST_NAME = 400
TABS = (
    ("broken", gettext_lazy("Broken links")),
    ("unlinked", gettext_lazy("Unlinked mentions")),
    ("orphans", gettext_lazy("Without links")),
)


@page
def card(request: HttpRequest, viewer: Viewer, kind: str, slug: str) -> HttpResponse:
    """The hover card of a thing; 404 for what the viewer may not know."""
    thing = None
    if not storage_flaw(slug):
        thing = find_thing(viewer.world, viewer.audience, kind, slug)
    if thing is None:
        raise Http404
    portrait = portrait_of(viewer, thing)
    return render_page(request, viewer, "editor/card.html", thing=thing, portrait=portrait)


def portrait_of(viewer: Viewer, thing: LinkedThing) -> Picture | None:
    """The portrait of a lore entry or an NPC, if the viewer may see it."""
    model: Any = {"lore": Lore, "npc": NPC}.get(thing.kind)
    rows = model.objects.filter(world=viewer.world, pk=thing.id) if model else []
    return portraits_of(rows, viewer.audience).get(thing.id)


@page
def link_choices(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The things that a name may mean, among those that the viewer may know; as a card, too."""
    name = request.GET.get("name", "").strip()[:LONGEST_NAME]
    if not name or storage_flaw(name):
        raise Http404
    folder, _slash, bare = name.rpartition("/")
    table = read_names(viewer.world, [bare], audience=viewer.audience, text=bare)
    campaign = viewer.campaign
    meaning = table.meaning((folder, bare), campaign=campaign.pk if campaign else None)
    rows: list[Any] = [leading_row(group) for group in meaning.groups]
    if not rows and viewer.is_gm:
        ids = table.similar(bare, limit=MOST_CHOICES)
        rows = [row for row in table.things if row.id in ids]
    context = {
        "name": bare,
        "ambiguous": bool(meaning.groups),
        "choices": _with_urls(viewer, rows),
        "create_url": create_url(viewer.world, bare),
    }
    is_card = request.headers.get("X-Requested-With") == "card"
    template = "editor/card_choices.html" if is_card else "editor/link_choices.html"
    return render_page(request, viewer, template, **context)


def _with_urls(viewer: Viewer, rows: Sequence[Any]) -> list[tuple[LinkedThing, str]]:
    """Return the things of these rows with their addresses: one query for each kind."""
    things: list[LinkedThing] = []
    for name in dict.fromkeys(row.kind for row in rows):
        kind = linked_kind(name)
        assert kind
        ids = [row.id for row in rows if row.kind == name]
        things += kind.things(viewer.world, viewer.audience, ids)
    return [(thing, thing.url(viewer.world)) for thing in things]


def create_url(world: World, title: str) -> str:
    """The address of the form for a new entry; empty if the site has none."""
    try:
        return f"{reverse('lore-new', args=[world.slug])}?{urlencode({'title': title})}"
    except NoReverseMatch:
        return ""


@gm_page
def links(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Broken links, unlinked mentions and orphans, each with what to do about them."""
    if request.method == "POST":
        return _mend(request, viewer)
    tab = request.GET.get("tab", "")
    tab = tab if tab in dict(TABS) else "broken"
    read = {"broken": _broken, "unlinked": _unlinked_mentions, "orphans": _orphans}[tab]
    page_obj, rows = read(viewer.world, request.GET.get("page"))
    context = {"tab": tab, "tabs": TABS, "page_obj": page_obj, "rows": rows}
    return render_page(request, viewer, "editor/links.html", **context)


def _broken(world: World, number: str | None) -> tuple[Page[Any], list[Any]]:
    page_obj = Paginator(broken_names(world), BROKEN_PER_PAGE).get_page(number)
    rows = []
    for each in broken_links(world, list(page_obj)):
        places = [(thing, thing.url(world)) for thing, _raw in each.sources]
        rows.append(
            {
                "name": each.name,
                "ambiguous": each.ambiguous,
                "links": each.links,
                "candidates": each.candidates,
                "places": places[:MOST_PLACES],
                "more": len(places[MOST_PLACES:]),
                "create_url": create_url(world, each.name.rpartition("/")[2]),
            }
        )
    return page_obj, rows


def _unlinked_mentions(world: World, number: str | None) -> tuple[Page[Any], list[Any]]:
    entries = Lore.objects.filter(world=world).exclude(body="").order_by("title", "pk")
    page_obj = Paginator(entries, ENTRIES_PER_PAGE).get_page(number)
    shown = list(page_obj)
    mentions = unlinked_mentions(world, shown)
    return page_obj, [(each, mentions[each.pk]) for each in shown if mentions[each.pk]]


def _orphans(world: World, number: str | None) -> tuple[Page[Any], list[Any]]:
    page_obj = Paginator(orphans(world), ORPHANS_PER_PAGE).get_page(number)
    return page_obj, list(page_obj)


def _mend(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    actions = {"link-to": (_link_to, "broken"), "accept": (_accept, "unlinked")}
    action, tab = actions.get(request.POST.get("do", ""), (None, ""))
    if action is None:
        raise Http404
    try:
        message = action(request, viewer)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, message, extra_tags="good")
        embed_soon("lore")
    number = urlencode({"tab": tab, "page": request.GET.get("page", "1")})
    return HttpResponseRedirect(f"{reverse('links', args=[viewer.world.slug])}?{number}")


def _link_to(request: HttpRequest, viewer: Viewer) -> str:
    world, name = viewer.world, request.POST.get("name", "")[:LONGEST_NAME]
    slug = request.POST.get("slug", "")
    if storage_flaw(name + slug):
        raise Http404
    thing = find_thing(world, viewer.audience, request.POST.get("kind", ""), slug)
    if thing is None:
        raise Http404
    count = link_to(world, name, unique_name(world, thing))
    text = ngettext("%(count)d text was changed.", "%(count)d texts were changed.", count)
    return text % {"count": count}


def unique_name(world: World, thing: LinkedThing) -> str:
    """The name to link to the thing by: its title, or its slug if another thing has the title."""
    meaning = read_names(world, [thing.title]).meaning(("", thing.title))
    return thing.title if len(meaning.groups) == 1 else thing.slug


def _accept(request: HttpRequest, viewer: Viewer) -> str:
    try:
        entries = Lore.objects.filter(world=viewer.world, pk=request.POST.get("entry", ""))
        entry = entries.first()
        thing = request.POST.get("thing")
        things = {UUID(thing)} if thing else None
    except (ValidationError, ValueError):
        raise Http404 from None
    if entry is None:
        raise Http404
    if request.POST.get("version") != str(entry.version):
        raise Problem(_("The entry was changed meanwhile: look at its mentions again."))
    count = link_mentions(entry, things)
    text = ngettext("%(count)d mention was linked.", "%(count)d mentions were linked.", count)
    return text % {"count": count}
