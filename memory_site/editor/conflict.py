"""The page that is shown when somebody else has saved the thing while its form was open."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from knowledge.models import Lore
from memory_site.editor.forms import ThingForm, initial_of, parties_of, secret_forms
from memory_site.editor.thing_pages import find_npc
from memory_site.editor.things import Thing, thing_of_entry, thing_of_npc
from npcs.models import NPC
from worlds.conflicts import FieldInConflict, conflict_page, fields_in_conflict
from worlds.lookup import as_uuid
from worlds.pages import Viewer

TOTAL_SECRETS = "secrets-TOTAL_FORMS"


def conflict(request: HttpRequest, viewer: Viewer, thing: Thing) -> HttpResponse:
    """Show what was sent and what is stored, with a merge that can be saved."""
    thing = reload(viewer, thing)
    stored = initial_of(thing)
    form = ThingForm(request.POST, initial=stored, world=viewer.world, thing=thing)
    fields = fields_in_conflict(form, initial_of_version(thing, form))
    fields += _fields_of_secrets(thing, form)
    versions = [(name, stored.get(name) or "") for name in ("version", "npc_version")]
    context = {
        "base_template": "base.html",
        "viewer": viewer,
        "world": viewer.world,
        "title": _("Somebody else saved “%(name)s” meanwhile") % {"name": thing.name},
        "media": form.media,
        "new_values": [*versions, *_secrets_of_others(request, thing)],
        "stored_url": request.get_full_path(),
    }
    return conflict_page(request, fields, context)


def reload(viewer: Viewer, thing: Thing) -> Thing:
    if thing.npc:
        return thing_of_npc(viewer, find_npc(viewer, thing.npc.slug))
    assert thing.entry
    return thing_of_entry(viewer, Lore.objects.get(pk=thing.entry.pk))


def initial_of_version(thing: Thing, form: ThingForm) -> dict[str, Any] | None:
    """Return the values with which the form was opened, if that version is in the history."""
    entry = _version_of(thing.entry, form["version"].data)
    npc = _version_of(thing.npc, form["npc_version"].data)
    if not (entry or npc):
        return None
    try:
        return initial_of(Thing(thing.world, entry, npc))
    except ObjectDoesNotExist:
        # Its campaign, its kind or what it replaces was deleted.
        return None


def _version_of(row: Lore | NPC | None, number: Any) -> Any:
    text = str(number or "")
    if row is None or not text.isdecimal() or len(text) > 9:
        return None
    history: Any = row.history
    record = history.filter(version=int(text)).first()
    return record and record.instance


# --- secrets


def _fields_of_secrets(thing: Thing, form: ThingForm) -> list[FieldInConflict]:
    """Compare each secret that was sent with the stored one of its id."""
    if thing.npc is None or TOTAL_SECRETS not in form.data:
        return []
    stored = {
        row.pk: {"id": row.pk, "text": row.text, "parties": parties_of(row.known_to)}
        for row in thing.npc.secrets.all()
    }
    fields = []
    for number, each in enumerate(_sent_secrets(thing, form.data), 1):
        # By id: the number of a secret changes when others are added or removed.
        each.initial = stored.get(_id_of(each), {})
        label = _("Secret %(number)d: ") % {"number": number}
        fields += fields_in_conflict(each, label=label)
    return fields


def _secrets_of_others(request: HttpRequest, thing: Thing) -> list[tuple[str, str]]:
    """Return inputs for the secrets that were added meanwhile: a secret that the form does not send
    would be deleted."""
    if thing.npc is None or TOTAL_SECRETS not in request.POST:
        return []
    sent = _sent_secrets(thing, request.POST)
    known = {_id_of(each) for each in sent}
    inputs = []
    missing = [row for row in thing.npc.secrets.all() if row.pk not in known]
    for number, row in enumerate(missing, len(sent)):
        inputs += [(f"secrets-{number}-id", str(row.pk)), (f"secrets-{number}-text", row.text)]
        parties = parties_of(row.known_to)
        inputs += [(f"secrets-{number}-parties", party) for party in parties]
    return [(TOTAL_SECRETS, str(len(sent) + len(missing))), *inputs]


def _sent_secrets(thing: Thing, data: Any) -> list[Any]:
    choices = ThingForm(world=thing.world, thing=thing).fields["parties"].choices  # type: ignore[attr-defined]
    forms = secret_forms(thing.npc, choices, data)
    return list(forms) if forms.management_form.is_valid() else []


def _id_of(form: Any) -> Any:
    return as_uuid(str(form["id"].data or ""))
