"""Proposals go with the text that they quote. Deletions come from the admin, cascades and erasure,
so a signal is their one place."""

from typing import Any

from django.db.models.signals import post_delete
from django.dispatch import receiver

from episodes.models import Episode, Thread
from knowledge.models import Lore
from memory_site.fact_proposals.store import forget_source


@receiver(post_delete, sender=Lore)
@receiver(post_delete, sender=Episode)
@receiver(post_delete, sender=Thread)
def forget_text(instance: Any, **_signal: Any) -> None:
    forget_source(instance.pk)
