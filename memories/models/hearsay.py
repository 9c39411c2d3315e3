"""What one NPC told another, and which episodes their witnesses remember."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from episodes.models import Episode
from memories.models.items import MemoryItem
from npcs.models import NPC
from retrieval.models import uuid7


class Hearsay(models.Model):
    """`teller` told the NPC of `memory`'s namespace what `memory` says.

    `heard_of` is the memory of the teller that was told on; null for what the teller is not
    recorded to remember. A chain is followed from there: that memory may be hearsay, too.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    memory = models.OneToOneField(
        MemoryItem, models.CASCADE, related_name="hearsay", verbose_name=_("memory")
    )
    teller = models.ForeignKey(
        NPC, models.CASCADE, related_name="tellings", verbose_name=_("told by")
    )
    heard_of = models.ForeignKey(
        MemoryItem,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="tellings",
        verbose_name=_("the teller's memory"),
    )
    sureness = models.FloatField(_("how sure"), default=1.0)
    in_own_words = models.BooleanField(_("in other words"), default=False)
    told_at = models.FloatField(_("told on the in-world day"), null=True, blank=True)
    told_label = models.CharField(_("told on"), max_length=120, blank=True, default="")
    taken_back_at = models.DateTimeField(_("taken back"), null=True, blank=True, editable=False)
    by = models.CharField(_("recorded by"), max_length=150, blank=True, default="")
    created_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    class Meta:
        verbose_name = _("hearsay")
        verbose_name_plural = _("hearsay")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(sureness__gt=0, sureness__lte=1),
                name="memory_hearsay_sureness_is_a_share",
            )
        ]

    def __str__(self) -> str:
        return f"{self.teller}: {self.memory}"


class RememberedEpisode(models.Model):
    """The witnesses of the episode were given their memories. A task finds the episodes without."""

    episode = models.OneToOneField(
        Episode, models.CASCADE, primary_key=True, related_name="remembered"
    )

    def __str__(self) -> str:
        return str(self.episode_id)
