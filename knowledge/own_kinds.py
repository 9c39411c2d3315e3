"""Kinds of a world's own: make, change, delete. Their entries never lose a text."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.entry_store import save_all
from knowledge.graph.upsert import lock_graph
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore
from retrieval.errors import Conflict
from retrieval.text import numbered_slug, slugify
from worlds.models import World

LONGEST_BASE = 75
"""Characters of a slug of 80 before its number."""


def create_kind(world: World, *, name: str, icon: str = "", template: str = "") -> LoreKind:
    """Raises `Conflict` for a name that another kind of the world has."""
    require_free_name(world, name)
    slug = free_slug(world, name)
    return LoreKind.objects.create(world=world, slug=slug, name=name, icon=icon, template=template)


@transaction.atomic
def change_kind(
    kind: LoreKind, *, name: str, icon: str, template: str, edited: str = ""
) -> LoreKind:
    """The slug stays: searches, filters and imports name the kind by it. `edited` is the
    `kind_state` that the form was opened with; raises `Conflict` when it is another one by now, and
    for a name that is taken."""
    stored = LoreKind.objects.select_for_update().get(pk=kind.pk)
    if edited and edited != kind_state(stored):
        raise Conflict(_("Somebody else changed this kind meanwhile: load the page again."))
    require_free_name(stored.world, name, besides=stored)
    stored.name, stored.icon, stored.template = name, icon, template
    stored.save()
    return stored


@transaction.atomic
def delete_kind(kind: LoreKind, *, to_kind: str, to_own: LoreKind | None, by: str) -> int:
    """Give the entries of `kind` another one, those in the trash too, and delete it. Returns how
    many entries were changed. Their texts stay as they are, and so does their history."""
    kind = LoreKind.objects.select_for_update().get(pk=kind.pk)
    if to_own == kind:
        raise Conflict(_("Choose another kind for its entries."))
    lock_graph(kind.world)
    entries = list(Lore.objects.select_for_update().filter(custom_kind=kind))
    for entry in entries:
        entry.kind, entry.custom_kind = to_kind, to_own
    save_all(entries, reason=f"kind {kind.name} deleted by {by}")
    in_trash: Any = Lore.with_trash.filter(custom_kind=kind)
    count = len(entries) + int(in_trash.update(kind=to_kind, custom_kind=to_own))
    kind.delete()
    return count


def kind_state(kind: LoreKind) -> str:
    return kind.updated_at.isoformat()


def require_free_name(world: World, name: str, *, besides: LoreKind | None = None) -> None:
    others = LoreKind.objects.filter(world=world, name__iexact=name)
    if (others.exclude(pk=besides.pk) if besides else others).exists():
        raise Conflict(_("This world has a kind of that name already."))
    if name.casefold() in {str(label).casefold() for label in Lore.Kind.labels}:
        raise Conflict(_("This is the name of a built-in kind."))


def free_slug(world: World, name: str) -> str:
    """A built-in kind has its own word, by which a search would find the wrong one."""
    taken = {*LoreKind.objects.filter(world=world).values_list("slug", flat=True), *Lore.Kind}
    return numbered_slug(slugify(name, longest=LONGEST_BASE) or "kind", taken)
