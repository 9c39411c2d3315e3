"""Names of in-world days: the dates that the world's own entries, sessions and episodes carry."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.utils.translation import gettext as _

from worlds.audiences import Audience, Guarded
from worlds.models import World

DATE_FIELDS = (("in_world_at", "in_world_label"), ("in_world_until", "in_world_until_label"))


def names_of_days(
    world: World, audience: Audience, days: Iterable[float | None]
) -> dict[float, str]:
    """Return the in-world date of each of `days` for which anything that `audience` may know of has
    one; where several call a day differently, the shortest (the day alone, without its hour)."""
    numbers = {day for day in days if day is not None}
    names: dict[float, str] = {}
    for rows, at, label in querysets_with_dates(world, audience) if numbers else ():
        labels = rows.filter(**{f"{at}__in": numbers}).exclude(**{label: ""})
        for day, name in labels.values_list(at, label).distinct():
            names[day] = min(names.get(day, name), name, key=lambda each: (len(each), each))
    return names


def day_name(day: float | None, names: dict[float, str]) -> str:
    """Return the date of a world day, else *day 76562*; three dots for a day that nobody knows."""
    if day is None:
        return "…"
    number = f"{day:g}" if day % 1 else f"{day:.0f}"
    return names.get(day) or _("day %(number)s") % {"number": number}


def querysets_with_dates(world: World, audience: Audience) -> Iterable[tuple[Any, str, str]]:
    """Yield the rows of every model with a date that `audience` may know of, and the names of its
    two fields."""
    for model in apps.get_models():
        names = {field.name for field in model._meta.get_fields()}
        for at, label in DATE_FIELDS:
            if issubclass(model, Guarded) and {at, label} <= names:
                rows: Any = model._default_manager.filter(world=world)
                rows = rows.visible_to(audience)
                yield rows.only_published() if hasattr(rows, "only_published") else rows, at, label
