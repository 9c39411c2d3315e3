"""Links go with an episode that is erased. Saved ones come by `EpisodeLinkRows`."""

from typing import Any

from django.db.models.signals import post_delete
from django.dispatch import receiver

from episodes.models import Episode
from knowledge.mentions.store import forget_sources


@receiver(post_delete, sender=Episode)
def forget_episode(instance: Episode, **_signal: Any) -> None:
    forget_sources("episode", [instance.pk])
