"""Find the row that a reference names: exactly by key or id, else by its name as people write
it.
"""

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from retrieval.errors import NotFound
from retrieval.text import KnownName, NameIndex, is_misspelt
from worlds.audiences import GM, Audience
from worlds.models import Campaign, Party, World

Row = TypeVar("Row", bound=Model)
WHAT = (
    gettext_noop("arc"),
    gettext_noop("campaign"),
    gettext_noop("change"),
    gettext_noop("character"),
    gettext_noop("draft"),
    gettext_noop("entity"),
    gettext_noop("entry"),
    gettext_noop("episode"),
    gettext_noop("import"),
    gettext_noop("invitation"),
    gettext_noop("key"),
    gettext_noop("loose end"),
    gettext_noop("lore"),
    gettext_noop("lore entry"),
    gettext_noop("member"),
    gettext_noop("merge"),
    gettext_noop("note"),
    gettext_noop("NPC"),
    gettext_noop("party"),
    gettext_noop("picture"),
    gettext_noop("proposal"),
    gettext_noop("reveal"),
    gettext_noop("saved filter"),
    gettext_noop("scene"),
    gettext_noop("session"),
    gettext_noop("thread"),
    gettext_noop("webhook"),
    gettext_noop("world"),
)
"""What a refusal says was not found: the values of `what`, which are translated there."""
MOST_NAMES = 2_000
"""Names compared with a reference that no key matched."""


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def find_by_id(rows: "QuerySet[Row, Any]", pk: UUID | int, *, what: str) -> Row:
    """Return the row of this id among those that the caller may know of; raises `NotFound`."""
    row: Row | None = rows.filter(pk=pk).first()
    if row is None:
        raise NotFound(
            _("There is no %(what)s %(pk)s in this world.") % {"what": _(what), "pk": pk}
        )
    return row


def find_in_trash(rows: "QuerySet[Row, Any]", reference: str, *, what: str) -> Row:
    """Return the first of the deleted `rows` with this slug or id; raises `NotFound`."""
    row = find_by_key(rows, reference)
    if row is None:
        raise NotFound(
            _("There is no %(what)s %(reference)r in the trash.")
            % {"what": _(what), "reference": reference}
        )
    return row


def find_by_key(rows: "QuerySet[Row, Any]", reference: str, key: str = "slug") -> Row | None:
    """Return the row whose `key` or id is `reference`."""
    exact = Q(**{key: reference})
    if row_id := as_uuid(reference):
        exact |= Q(pk=row_id)
    return rows.filter(exact).first()


def misread(reference: str | None, *names: str) -> dict[str, str]:
    """Return `reference` with the first of the names of what was found by it, if it misspells
    one."""
    names = tuple(filter(None, names))
    return {reference: names[0]} if reference and is_misspelt(reference, *names) else {}


def find_row(
    rows: "QuerySet[Row, Any]",
    reference: str,
    *,
    what: str,
    key: str = "slug",
    name: str = "name",
    resembling: bool = False,
) -> Row:
    """Return the row whose key, id or whole name, in any inflection, is `reference`; for reading,
    with `resembling`, also the one whose name it misspells or shortens. Raises `NotFound` or
    `Ambiguous`, whose candidates come from `rows` alone, so that rows which the caller may not
    know of are not disclosed."""
    if row := find_by_key(rows, reference, key):
        return row
    same = rows.filter(**{f"{name}__iexact": reference})
    called_so: list[Row] = list(same[:2]) if resembling else []
    if len(called_so) == 1:
        return called_so[0]  # an index of all names would say the same, a hundred times as late
    newest = rows.order_by("-pk").values_list("pk", name, key)[:MOST_NAMES]
    labels = {pk: (label, ref) for pk, label, ref in (*same.values_list("pk", name, key), *newest)}
    index = NameIndex(KnownName(pk, label or ref, [ref]) for pk, (label, ref) in labels.items())
    resolve = index.resolve if resembling else index.resolve_spelled
    ids = {pk: ref for pk, (_label, ref) in labels.items()}
    found: Row = rows.get(pk=resolve(reference, what=what, ids=lambda _keys: ids))
    return found


def find_exact(
    rows: "QuerySet[Row, Any]",
    reference: str,
    *,
    what: str,
    key: str,
    in_world: bool = True,
) -> Row:
    """Return the row whose `key` or id is `reference`; raises `NotFound` with the nearest recent
    keys."""
    if row := find_by_key(rows, reference, key):
        return row
    recent = rows.order_by("-pk").values_list(key, flat=True)[:500]
    detail = (
        _("There is no %(what)s %(reference)r in this world.")
        if in_world
        else _("There is no %(what)s %(reference)r.")
    )
    raise NotFound(
        detail % {"what": _(what), "reference": reference},
        candidates=NameIndex(KnownName(known, known) for known in recent).suggest(reference),
    )


def find_named_exactly(rows: "QuerySet[Row, Any]", reference: str, *, what: str) -> Row:
    """Return the row whose slug, id or whole name is `reference`; raises `NotFound` with the
    nearest slugs. For what decides where a write goes or what a caller may see: there a slip is
    refused."""
    matches = [] if find_by_key(rows, reference) else list(rows.filter(name__iexact=reference)[:2])
    return matches[0] if len(matches) == 1 else find_exact(rows, reference, what=what, key="slug")


def find_world(slug: str | None) -> World:
    """Return the world with this slug, or without a slug the oldest world."""
    worlds = World.objects.order_by("created_at", "pk")
    if world := worlds.filter(slug=slug).first() if slug else worlds.first():
        return world
    if not slug:
        raise NotFound(_("There is no world yet. Run make demo, or add one in the admin."))
    slugs = ", ".join(worlds.values_list("slug", flat=True)[:20]) or _("none")
    detail = _("There is no world %(slug)r. Available worlds: %(slugs)s.")
    raise NotFound(detail % {"slug": slug, "slugs": slugs})


def find_campaign(world: World, reference: str, *, only: Campaign | None = None) -> Campaign:
    """Return the campaign; with `only`, that of a caller who is bound to one, no other is found."""
    campaigns = Campaign.objects.filter(world=world).select_related("world")
    if only:
        campaigns = campaigns.filter(pk=only.pk)
    return find_named_exactly(campaigns, reference, what="campaign")


def find_party(
    world: World,
    reference: str,
    campaign: Campaign | None = None,
    *,
    audience: Audience = GM,
    resembling: bool = False,
) -> Party:
    """Return the party among those that `audience` may ask about: a game master all, a party
    itself, a character its own, others none. `resembling` is for reading (see `find_row`)."""
    parties = Party.objects.filter(world=world).select_related("campaign")
    if campaign:
        parties = parties.filter(campaign=campaign)
    if not audience.is_gm:
        parties = parties.filter(slug=audience.party_slug or None)
    return find_row(parties, reference, what="party", resembling=resembling)
