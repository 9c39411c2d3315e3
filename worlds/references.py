"""What refers to a row: it is not deleted as long as anything does."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db import models
from django.utils.translation import override

from retrieval.errors import Conflict
from worlds.models import Character, Party, Reveal


class Referenced(Conflict):
    code, title = "referenced", "Something refers to it"


REVEALS = "reveals"


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
    history: list[str] = []
    for relation in foreign_keys_to(type(row)):
        model = relation.model
        if model is Character:
            continue
        if count := model._base_manager.filter(**{relation.name: row}).count():
            with override("en"):
                name = str(model._meta.verbose_name_plural)
            counts[name] = count
            if getattr(model, "is_history", False):
                history.append(name)
    if isinstance(row, Party | Character):
        audience = f"{row.audience_kind}:{row.slug}"
        reveals = Reveal.objects.filter(world=row.world, audience=audience, undone_at=None)
        if count := reveals.count():
            counts[REVEALS] = count
    if counts:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise Referenced(
            f"{row} cannot be deleted, because this refers to it: {listed}. "
            f"{advice_on(counts, history)}"
        )


def advice_on(names: Collection[str], history: Sequence[str]) -> str:
    """Say how a row gets rid of what refers to it; `history` are those of `names` that stay."""
    if history:
        return (
            f"The {' and '.join(history)} are history, which is kept as long as its world: keep "
            "the row too, under another name if it is in the way."
        )
    undo = "Undo the reveals first (DELETE /world/reveals/{id})."
    delete = "Delete that first."
    if REVEALS not in names:
        return delete
    return undo if len(names) == 1 else f"{undo} {delete}"
