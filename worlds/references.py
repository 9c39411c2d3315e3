"""What refers to a row: it is not deleted as long as anything does."""

from collections.abc import Iterator
from typing import Any

from django.db import models
from django.utils.translation import override

from retrieval.errors import Conflict
from worlds.models import Character, Party, Reveal


class Referenced(Conflict):
    code, title = "referenced", "Something refers to it"


def foreign_keys_to(model: type[models.Model]) -> Iterator[Any]:
    """Yield the foreign keys to `model`. Those of history tables are left out: their rows outlive
    what they tell of."""
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and (relation.one_to_many or relation.one_to_one):
            field: Any = relation.field  # type: ignore[union-attr]
            if field.db_constraint:
                yield field


def require_unreferenced(row: models.Model) -> None:
    """Raise `Referenced`, which names what refers to `row` by a foreign key and how often, and of a
    party or character also its reveals. A party does not wait for its characters: they leave it."""
    counts: dict[str, int] = {}
    for relation in foreign_keys_to(type(row)):
        model = relation.model
        if model is Character:
            continue
        if count := model._base_manager.filter(**{relation.name: row}).count():
            with override("en"):
                counts[str(model._meta.verbose_name_plural)] = count
    if isinstance(row, Party | Character):
        audience = f"{row.audience_kind}:{row.slug}"
        reveals = Reveal.objects.filter(world=row.world, audience=audience, undone_at=None)
        if count := reveals.count():
            counts["reveals"] = count
    if counts:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise Referenced(
            f"{row} cannot be deleted, because this refers to it: {listed}. Delete that first."
        )
