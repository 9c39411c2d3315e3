"""Pages of lore; each viewer sees only the blocks of their audience."""

from django.db.models import F, QuerySet
from django.http import Http404

from knowledge.models import Lore
from worlds.pages import Viewer


def lore_of(viewer: Viewer) -> QuerySet[Lore]:
    """The entries that the viewer may read: canon and the overlay of the viewer's campaign."""
    rows = Lore.objects.in_world(viewer.world).visible_to(viewer.audience)
    rows = rows.known_in(viewer.campaign, viewer.audience)
    rows = rows.select_related("campaign", "overrides", "custom_kind")
    return rows if viewer.is_gm else rows.only_published()


def find_lore_of(viewer: Viewer, slug: str, *, canon: bool = False) -> Lore:
    """Return the entry with this slug, the campaign's own before canon; raises Http404.

    A game master reads an overlay by its slug in any campaign, so that no link leads nowhere, and
    with `canon` the entry that the overlay replaces.
    """
    rows = lore_of(viewer).filter(slug=slug)
    entry = rows.order_by(F("campaign").asc(nulls_last=True)).first()
    if viewer.is_gm and (canon or entry is None):
        rows = Lore.objects.in_world(viewer.world).filter(slug=slug)
        rows = rows.select_related("campaign", "overrides", "custom_kind")
        entry = rows.order_by(F("campaign").asc(nulls_first=True)).first()
    if entry is None:
        raise Http404
    return entry
