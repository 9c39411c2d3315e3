"""Proposals go with the text that they quote, and are made anew when it is saved. Saves and
deletions come from REST, the editor, the admin, imports, cascades and erasure, so a signal is their
one place."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from episodes.models import Episode, Thread
from knowledge.entry_store import entries_saved
from knowledge.models import Lore
from memory_site import tasks
from memory_site.fact_proposals.sources import SAVE_WINDOW
from memory_site.fact_proposals.store import forget_source


@receiver(post_delete, sender=Lore)
@receiver(post_delete, sender=Episode)
@receiver(post_delete, sender=Thread)
def forget_text(instance: Any, **_signal: Any) -> None:
    forget_source(instance.pk)


@receiver(entries_saved, sender=Lore)
def read_entries(entries: Sequence[Lore], **_signal: Any) -> None:
    read_after_commit(entries)


@receiver(post_save, sender=Episode)
def read_episode(instance: Episode, **_signal: Any) -> None:
    read_after_commit([instance])


def read_after_commit(texts: Sequence[Lore | Episode]) -> None:
    """Have the worker read the texts, each window of each world once."""
    if settings.PROPOSE_AT_SAVE:
        windows = {
            (text.world_id, int(text.updated_at.timestamp()) // SAVE_WINDOW) for text in texts
        }
        for world, window in windows:
            queue_after_commit(world, window)


def queue_after_commit(world: UUID, window: int) -> None:
    # A function with a name: Django writes it into the log when the broker is away.
    def queue_window() -> None:
        read_window(world, window)

    transaction.on_commit(queue_window, robust=True)


def read_window(world: UUID, window: int) -> None:
    """Queue one reading of the texts of the world that were saved in this window, when it is over.
    A transaction that commits later queues another one."""
    if cache.add(f"texts-to-read:{world}:{window}", True, timeout=SAVE_WINDOW):
        begin = datetime.fromtimestamp(window * SAVE_WINDOW, UTC).isoformat()
        tasks.read_saved_texts.apply_async([str(world), begin], countdown=SAVE_WINDOW + 1)
