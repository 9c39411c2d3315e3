"""Edit, create and delete things on the site."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from knowledge.entry_drafts import EntryDraft
from knowledge.kind_templates import starting_text
from knowledge.links import NameClash, claims_of_entry
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore
from memory_site.editor.conflict import conflict
from memory_site.editor.entry_writer import SecretText, save_thing
from memory_site.editor.forms import OWN_KIND, ThingForm, initial_of, kind_choices, secret_forms
from memory_site.editor.thing_pages import entry_of_request, find_npc
from memory_site.editor.things import Thing, thing_of_entry, thing_of_npc
from memory_site.person_trash import trash_together
from npcs.links import claims_of_npc
from npcs.models import NPC
from retrieval.errors import Problem, StaleVersion
from retrieval.tasks import embed_soon
from retrieval.text import other_spellings
from worlds.audiences import Visibility
from worlds.lookup import as_uuid
from worlds.name_order import by_name
from worlds.pages import Viewer, gm_page, render_page

MOST_SUGGESTED = 500
LONGEST_SPELLED = 3
"""Words of a name that is suggested in other scripts."""
ARTICLES = ("The", "A", "An")


@gm_page
def edit_entry(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return edit(request, viewer, thing_of_entry(viewer, entry_of_request(request, viewer, slug)))


@gm_page
def edit_person(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return edit(request, viewer, thing_of_npc(viewer, find_npc(viewer, slug)))


def edit(request: HttpRequest, viewer: Viewer, thing: Thing) -> HttpResponse:
    data = request.POST if request.method == "POST" else None
    form = ThingForm(data, initial=initial_of(thing), world=viewer.world, thing=thing)
    return show_or_save(request, viewer, thing, form)


@gm_page
def new(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Choose a kind, then write: two clicks from a link that leads nowhere."""
    kind = request.GET.get("kind", "")
    title = " ".join(request.GET.get("title", "").replace("\0", "").split())[:200]
    choices = kind_choices(viewer.world)
    if request.method != "POST" and kind not in dict(choices):
        return render_page(request, viewer, "editor/kinds.html", kinds=choices, title=title)
    data = request.POST if request.method == "POST" else None
    thing = Thing(viewer.world)
    form = ThingForm(
        data, initial=first_values(viewer, kind, title), world=viewer.world, thing=thing
    )
    return show_or_save(request, viewer, thing, form)


def first_values(viewer: Viewer, kind: str, title: str) -> dict[str, Any]:
    world = viewer.world
    own = LoreKind.objects.filter(world=world, slug=kind.removeprefix(OWN_KIND)).first()
    custom_kind = own if kind.startswith(OWN_KIND) else None
    return {
        "title": title,
        "kind": kind,
        "status": Lore.Status.DRAFT,
        "visibility": Visibility.GM,
        "language": world.language,
        "is_npc": kind == Lore.Kind.BIOGRAPHY,
        "body": starting_text(kind, custom_kind=custom_kind, language=world.language),
    }


def show_or_save(
    request: HttpRequest, viewer: Viewer, thing: Thing, form: ThingForm
) -> HttpResponse:
    """Save a form that was sent, and lead to the page of the thing; else show the form."""
    choices = form.fields["parties"].choices  # type: ignore[attr-defined]
    has_secrets = request.method == "POST" and "secrets-TOTAL_FORMS" in request.POST
    secrets = secret_forms(thing.npc, choices, request.POST if has_secrets else None)
    status = 200
    if request.method == "POST":
        is_valid = form.is_valid()
        if (not has_secrets or secrets.is_valid()) and is_valid:
            try:
                save(request, viewer, thing, form, secrets if has_secrets else None)
                return HttpResponseRedirect(thing.address())
            except StaleVersion:
                return conflict(request, viewer, thing)
            except Problem as problem:
                form.add_error(None, problem.detail)
        status = 422
    context = {"thing": thing, "entry": thing.entry, "form": form, "secrets": secrets}
    # A thing that is not saved yet has no row, so the page must not ask for its name.
    context |= {"is_new": not (thing.entry or thing.npc), "suggested": names_to_suggest(viewer)}
    context["spellings"] = spellings_to_suggest(thing)
    response = render_page(request, viewer, "editor/edit.html", **context)
    response.status_code = status
    return response


def save(request: HttpRequest, viewer: Viewer, thing: Thing, form: ThingForm, secrets: Any) -> None:
    texts = secret_texts(secrets) if secrets is not None and secrets.has_changed() else None
    if save_thing(thing, form, by=viewer.name, secrets=texts):
        embed_soon("lore")
        messages.success(request, _("Saved."), extra_tags="good")
        if form.changed_content & {"title", "aliases"}:
            for claim in claims_of_thing(thing):
                messages.warning(request, claim.html)
    else:
        messages.info(request, _("Nothing was changed."))
    if draft := as_uuid(request.POST.get("draft", "")):
        EntryDraft.objects.filter(pk=draft, world=viewer.world, user=request.user.pk).delete()


def claims_of_thing(thing: Thing) -> list[NameClash]:
    """Return what else has a name of the thing."""
    if thing.entry:
        return claims_of_entry(thing.entry, also=[thing.npc.pk] if thing.npc else [])
    assert thing.npc
    return claims_of_npc(thing.npc)


def secret_texts(secrets: Any) -> list[SecretText]:
    rows = [form.cleaned_data for form in secrets if form.cleaned_data]
    return [SecretText(row.get("id"), row["text"], row["parties"]) for row in rows]


def spellings_to_suggest(thing: Thing) -> list[str]:
    """Names of the thing in scripts in which it has none, by which players may ask for it."""
    name = thing.name if thing.entry or thing.npc else ""
    is_proper = 0 < len(name.split()) <= LONGEST_SPELLED and not is_phrase(name)
    return other_spellings(name, thing.aliases) if is_proper else []


def is_phrase(name: str) -> bool:
    """Whether `name` has words that are translated, not spelled: `The Bell`, `Knife of Sal`."""
    return any(word[0].islower() or word in ARTICLES for word in name.split())


def names_to_suggest(viewer: Viewer) -> dict[str, list[str]]:
    """Names for the fields faction, home and NPC."""
    lore = Lore.objects.in_world(viewer.world).filter(campaign=None).order_by(by_name("title"))
    names = lore.values_list("title", flat=True)
    npcs = (
        NPC.objects.in_world(viewer.world).order_by(by_name("name")).values_list("name", flat=True)
    )
    return {
        "factions": list(names.filter(kind=Lore.Kind.FACTION)[:MOST_SUGGESTED]),
        "places": list(names.filter(kind=Lore.Kind.PLACE)[:MOST_SUGGESTED]),
        "npcs": list(npcs[:MOST_SUGGESTED]),
    }


# --- delete


@gm_page
def delete_entry(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return delete(request, viewer, thing_of_entry(viewer, entry_of_request(request, viewer, slug)))


@gm_page
def delete_person(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    return delete(request, viewer, thing_of_npc(viewer, find_npc(viewer, slug)))


def delete(request: HttpRequest, viewer: Viewer, thing: Thing) -> HttpResponse:
    """Ask, then move the thing to the trash, from where it can be restored."""
    if request.method != "POST":
        return render_page(request, viewer, "editor/delete.html", thing=thing, entry=thing.entry)
    name, page = thing.name, "npcs" if thing.npc else "lore"
    trash_together(
        [thing.npc] if thing.npc else [], [thing.entry] if thing.entry else [], by=viewer.name
    )
    text = _("“%(name)s” is in the trash. It can be restored for 30 days.") % {"name": name}
    messages.success(request, text, extra_tags="good")
    return HttpResponseRedirect(reverse(page, args=[viewer.world.slug]))
