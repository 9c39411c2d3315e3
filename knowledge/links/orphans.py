"""Entries that stand alone."""

from typing import Any

from django.db.models import Exists, F, Func, OuterRef, QuerySet, UUIDField

from knowledge.link_models import Link
from knowledge.models import Lore
from worlds.models import World


def orphans(world: World) -> QuerySet[Lore]:
    """The entries that link to nothing and that nothing links to. A link to itself counts for
    nothing, nor does one whose name several things have."""
    links = Link.objects.filter(world=world, state=Link.State.RESOLVED)
    links = links.exclude(targets__contains=[F("source_id")])
    unnest: Any = Func(F("targets"), function="unnest", output_field=UUIDField())
    unnest.set_returning = True
    targets = links.annotate(target=unnest).values("target")
    outgoing = links.filter(source_id=OuterRef("pk"))
    rows: Any = Lore.objects.filter(world=world, overrides=None)
    alone: QuerySet[Lore] = rows.exclude(pk__in=targets).exclude(Exists(outgoing))
    return alone.order_by("title", "pk")
