"""Save a thing: its lore entry, its NPC and its entity, all in step and all or nothing."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from knowledge.entry_entities import EntityFinder, EntityPage, page_of_entry, write_entity
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.upsert import lock_graph
from knowledge.links import rename_everywhere
from knowledge.models import Lore
from knowledge.upsert import find_kind
from memory_site.editor.forms import NPC_FIELDS, ThingForm, parties_of
from memory_site.editor.things import Thing
from npcs.dispositions import recompute_all_parties
from npcs.field_links import FIELDS_WITH_ENTRY
from npcs.links import rename_npc
from npcs.models import NPC, Secret
from npcs.upsert import score_settings, store_npc
from retrieval.text import language_of_open_text, numbered_slug, slug_of_title
from worlds.audiences import Audience, Visibility
from worlds.lookup import find_campaign
from worlds.reveals import entries_in_force, reveal, set_known_to, undo_reveal
from worlds.versions import require_version

ENTRY_FIELDS = (
    *("title", "aliases", "kind", "status", "body", "tags", "folder", "language", "author"),
    *("in_world_at", "in_world_label", "in_world_until", "in_world_until_label"),
    *("campaign", "overrides", "visibility", "parties", "npcs"),
)
SHARED = {"title", "aliases", "visibility", "parties", "npcs", "status"}
"""What the entry, the NPC and the entity of a thing have in common."""
TEXT_FIELDS = {"body", "tags", "folder", "in_world_at", "in_world_label"}
"""An NPC without an entry gets one when one of these is filled in."""


@dataclass(frozen=True)
class SecretText:
    """A secret as it was edited; without an id it is a new one, without a text it goes away."""

    id: UUID | None
    text: str
    parties: list[str]


@dataclass
class Saving:
    """One save of a form. `changed`: names of the fields that were edited."""

    thing: Thing
    form: ThingForm
    by: str
    secrets: list[SecretText] | None

    @property
    def has_changed(self) -> set[str]:
        is_new = not (self.thing.entry or self.thing.npc)
        return set(self.form.fields) if is_new else self.form.changed_content

    @property
    def values(self) -> dict[str, Any]:
        return self.form.cleaned_data

    @property
    def reason(self) -> str:
        return str(self.values.get("reason") or "")


def save_thing(
    thing: Thing, form: ThingForm, *, by: str, secrets: list[SecretText] | None = None
) -> bool:
    """Write what was edited and return whether that was anything. Raises `StaleVersion` when
    somebody else saved meanwhile, `Conflict` and `Invalid` as the services do."""
    saving = Saving(thing, form, by, secrets)
    if not saving.has_changed and secrets is None:
        return False
    scores = score_settings(thing.npc) if thing.npc else None
    with transaction.atomic():
        lock_graph(thing.world)
        _require_current(saving)
        before = _audiences(thing)
        _rename(saving)
        _save_entry(saving)
        _save_npc(saving)
        _save_node(saving)
        _log_reveals(saving, before)
    # Outside the transaction, because it locks one party after the other.
    if thing.npc and scores and scores != score_settings(thing.npc):
        recompute_all_parties(thing.npc)
    return True


def _require_current(saving: Saving) -> None:
    pairs = ((saving.thing.entry, "version"), (saving.thing.npc, "npc_version"))
    for row, name in pairs:
        if row is None:
            continue
        model: Any = type(row)
        stored = model.objects.select_for_update().filter(pk=row.pk).first()
        # A form without a version has read none.
        require_version(stored, saving.values.get(name) or 0)


def _rename(saving: Saving) -> None:
    """Rewrite the links to the old name everywhere. The old name stays as an alias."""
    thing, values = saving.thing, saving.values
    if "title" not in saving.has_changed or not (thing.entry or thing.npc):
        return
    old = thing.name
    if thing.entry and thing.entry.title == old:
        also = [thing.npc.pk] if thing.npc else []
        rename_everywhere(thing.entry, values["title"], also=also, reason=saving.reason)
        thing.entry.refresh_from_db()
    elif thing.npc:
        rename_npc(thing.npc, values["title"], reason=saving.reason)
    if thing.npc:
        thing.npc.refresh_from_db()
    names = [*values["aliases"], old]
    values["aliases"] = [name for name in dict.fromkeys(names) if name != values["title"]]


# --- the entry


def _save_entry(saving: Saving) -> None:
    thing, values = saving.thing, saving.values
    if thing.entry is None and not _wants_entry(saving):
        return
    is_new = thing.entry is None
    names = set(ENTRY_FIELDS) if is_new else saving.has_changed & set(ENTRY_FIELDS)
    if not names:
        return
    entry = thing.entry or Lore(world=thing.world, author=saving.by[:120])
    if names & {"title", "aliases"}:
        names |= {"title", "aliases"}
    plain = names - {"kind", "campaign", "overrides", "visibility", "parties", "npcs"}
    if is_new and not values["author"]:
        plain -= {"author"}
    for name in plain:
        setattr(entry, name, values[name])
    if "kind" in names:
        _set_kind(entry, saving.form)
    if "campaign" in names:
        campaign = values["campaign"]
        entry.campaign = find_campaign(thing.world, campaign) if campaign else None
    if "overrides" in names or not entry.campaign:
        entry.overrides = saving.form.replaced_entry if entry.campaign else None
    if names & {"visibility", "parties", "npcs"}:
        _set_audience(entry, saving)
    entry.language = entry.language or language_of_open_text(entry.title, entry.body)
    if is_new:
        entry.slug = thing.npc.slug if thing.npc else free_slug(entry)
        if _is_taken(entry):
            entry.slug = free_slug(entry)
    save_entry(entry, reason=saving.reason)
    thing.entry = entry


def _wants_entry(saving: Saving) -> bool:
    return saving.thing.npc is None or any(saving.values[name] for name in TEXT_FIELDS)


def _set_kind(entry: Lore, form: ThingForm) -> None:
    if own := form.own_kind:
        entry.kind, entry.custom_kind = Lore.Kind.CUSTOM, find_kind(entry.world, own)
    else:
        entry.kind, entry.custom_kind = form.cleaned_data["kind"], None


def _set_audience(row: Lore | NPC, saving: Saving) -> None:
    row.visibility = saving.values["visibility"]
    if row.visibility == Visibility.REVEALED:
        row.known_to = saving.form.audiences
    elif row.visibility == Visibility.GM:
        row.known_to = []


def free_slug(entry: Lore) -> str:
    """A slug made from the title that no other entry beside it, and no NPC, has."""
    base = slug_of_title(entry.title, otherwise="entry", longest=110)
    beside = Lore.objects.filter(world=entry.world, campaign=entry.campaign)
    taken = set(beside.filter(slug__startswith=base).values_list("slug", flat=True))
    npcs = NPC.objects.filter(world=entry.world, slug__startswith=base)
    taken |= set(npcs.values_list("slug", flat=True))
    return numbered_slug(base, taken)


def _is_taken(entry: Lore) -> bool:
    beside = Lore.objects.filter(world=entry.world, campaign=entry.campaign, slug=entry.slug)
    return beside.exists()


# --- the NPC


def _save_npc(saving: Saving) -> None:
    thing, values, changed = saving.thing, saving.values, saving.has_changed
    is_character = bool(thing.entry is None or thing.entry.kind == Lore.Kind.BIOGRAPHY)
    if not is_character or (thing.npc is None and not values["is_npc"]):
        return
    is_new = thing.npc is None
    npc = thing.npc or NPC(world=thing.world, slug=thing.entry.slug if thing.entry else "")
    names = {*NPC_FIELDS, *SHARED} if is_new else changed & {*NPC_FIELDS, *SHARED, "language"}
    for name in names & {"role", "summary", "voice", "goals", "play_now"}:
        setattr(npc, name, values[name])
    if "family" in names:
        npc.family = saving.form.relatives
    if "base" in names:
        npc.base = values["base"] or 0
    if "hides_faction" in names:
        hidden = values["hides_faction"]
        npc.faction_visibility = Visibility.GM if hidden else Visibility.PUBLIC
    for name in names & set(FIELDS_WITH_ENTRY):
        # The entry of this name is found when the NPC is stored.
        setattr(npc, name, values[name])
        setattr(npc, f"{name}_lore", None)
    if names & {"title", "aliases"}:
        npc.name, npc.aliases = values["title"], values["aliases"]
    if names & {"visibility", "parties", "npcs", "status"}:
        _set_audience(npc, saving)
        # A draft is the game master's alone: so is the name of the person that it is about.
        if thing.entry and thing.entry.status == Lore.Status.DRAFT:
            npc.visibility, npc.known_to = Visibility.GM, []
    if is_new:
        npc.language = values["language"] or thing.world.language
    if thing.entry and (is_new or npc.biography_id is None):
        npc.biography = thing.entry
    store_npc(npc, has_new_secrets=saving.secrets is not None, reason=saving.reason)
    thing.npc = npc
    if saving.secrets is not None:
        save_secrets(npc, saving.secrets, by=saving.by)


def save_secrets(npc: NPC, secrets: list[SecretText], *, by: str) -> None:
    """Write the secrets by their ids: what was revealed stays with its text when others move."""
    stored = {row.pk: row for row in npc.secrets.all()}
    kept = [each for each in secrets if each.text]
    gone = set(stored) - {each.id for each in kept}
    npc.secrets.filter(pk__in=gone).delete()
    # Two passes, because a number belongs to one secret at every moment.
    last = max((row.position for row in stored.values()), default=0)
    for number, each in enumerate(kept, 1):
        row = stored.get(each.id) if each.id else None
        row = row or Secret(world_id=npc.world_id, npc=npc)
        row.position, row.text = last + number, each.text
        row.save()
        others = set(row.known_to) - set(parties_of(row.known_to))
        open_to(row, {*others, *each.parties}, by=by)
    for number, pk in enumerate(npc.secrets.order_by("position").values_list("pk", flat=True), 1):
        Secret.objects.filter(pk=pk).update(position=number)


# --- the entity


def _save_node(saving: Saving) -> None:
    """Bring the entity in step with the thing, and make the one of a new thing."""
    thing = saving.thing
    page = page_of_thing(thing)
    if page is None:
        return
    # Read anew: the rows of the caller may be older than what `store_npc` wrote of its entity.
    node = GraphNode.objects.filter(pk=thing.node.pk).first() if thing.node else None
    node = node or EntityFinder.for_pages(thing.world, [page]).find(page)
    if thing.npc and node is None:
        node = GraphNode.objects.filter(world=thing.world, slug=thing.npc.slug).first()
    thing.node = write_entity(page, node)[0]


def page_of_thing(thing: Thing) -> EntityPage | None:
    """What the entity of the thing is like; None for an entry of a campaign. The names of an NPC
    are added to those of its entry."""
    row: Any = thing.npc or thing.entry
    page = page_of_entry(thing.entry) if thing.entry else None
    if thing.entry and page is None:
        return None
    is_draft = thing.entry is not None and thing.entry.status == Lore.Status.DRAFT
    return EntityPage(
        world=thing.world,
        slug=row.slug,
        names=(thing.name, *thing.aliases),
        kind=page.kind if page else NodeKind.CHARACTER,
        lore_id=page.lore_id if page else None,
        visibility=Visibility.GM if is_draft else row.visibility,
        known_to=row.known_to,
    )


# --- the reveal log


def _audiences(thing: Thing) -> dict[Any, set[str]]:
    rows = [row for row in (thing.entry, thing.npc) if row]
    return {row.pk: set(row.known_to) for row in rows}


def _log_reveals(saving: Saving, before: dict[Any, set[str]]) -> None:
    """Record in the reveal log to whom the thing was opened, and undo what was taken back."""
    if not saving.has_changed & {"visibility", "parties", "npcs"}:
        return
    for row in (saving.thing.entry, saving.thing.npc):
        if row and row.visibility != Visibility.PUBLIC:
            stored: Any = type(row).objects.get(pk=row.pk)
            _log_changes(stored, before.get(row.pk, set()), set(row.known_to), by=saving.by)


def open_to(row: Any, audiences: set[str], *, by: str) -> None:
    """Make the row known to exactly these audiences, through the reveal log."""
    _log_changes(row, set(row.known_to), audiences, by=by)


def _log_changes(row: Any, old: set[str], new: set[str], *, by: str) -> None:
    for audience in sorted(new - old):
        reveal(row, Audience.parse(audience), by=by)
    for audience in sorted(old - new):
        for entry in entries_in_force(row).filter(audience=audience):
            undo_reveal(entry)
    if old - new:
        fresh: Any = type(row).objects.select_for_update().get(pk=row.pk)
        if set(fresh.known_to) - new:
            set_known_to(fresh, set(fresh.known_to) & new)
