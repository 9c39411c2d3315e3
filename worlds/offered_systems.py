"""The game systems among which somebody can choose for a world."""

from django.db.models import Q, QuerySet

from worlds.models import GameSystem, World


def offered_systems(world: World | None = None) -> QuerySet[GameSystem]:
    """Return the systems with shared rules, those with rules of `world` or played there, and those
    that have no rules yet. One whose rules all belong to other worlds would have none here."""
    # The books are rows of an app above, so only their relation is known by its name.
    is_offered = Q(documents=None) | Q(documents__world=None)
    if world is not None:
        is_offered |= Q(documents__world=world) | Q(worlds=world)
    systems = GameSystem.objects.filter(pk__in=GameSystem.objects.filter(is_offered).values("pk"))
    return systems.order_by("name", "edition")
