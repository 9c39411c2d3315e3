"""What no foreign key takes along when a world is deleted: the history of its rows, the statistics
of its words, and files.

Worlds go from the admin, from code and by cascades, so signals are their one place
(docs/decisions/0040). Pictures delete their files themselves.
"""

from functools import cache, partial
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from retrieval.indexing import forget_scope
from worlds.models import ImportRun, World


@cache
def models_without_cascade() -> tuple[type[models.Model], ...]:
    """The models whose rows name a world that need not exist: the history tables."""
    return tuple(
        model
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.related_model is World and not field.db_constraint  # type: ignore[attr-defined]
    )


@receiver(post_delete, sender=World)
def forget_world(instance: World, **_signal: Any) -> None:
    forget_scope(str(instance.pk))
    forget_history(instance.pk)
    # Deleted rows write a last line of history, and it depends on the rows whether after this one.
    transaction.on_commit(partial(forget_history_unless_restored, instance.pk))


def forget_history_unless_restored(world_id: UUID) -> None:
    if not World.objects.filter(pk=world_id).exists():
        forget_history(world_id)


def forget_history(world_id: UUID | str) -> None:
    for model in models_without_cascade():
        model._base_manager.filter(world_id=world_id).delete()


@receiver(post_delete, sender=ImportRun)
def delete_upload(instance: ImportRun, **_signal: Any) -> None:
    """Delete the file of an import when its row cannot come back any more. What is missed is
    deleted by the daily task."""
    if name := instance.file.name:
        delete = partial(instance.file.storage.delete, name)
        transaction.on_commit(delete, robust=True)
