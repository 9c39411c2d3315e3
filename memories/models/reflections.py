"""Reflections, the insights they produced, and the episodes each insight is derived from."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from memories.models.items import MemoryItem
from memories.models.namespaces import Namespace
from retrieval.models import uuid7


class Trigger(models.TextChoices):
    IMPORTANCE = "importance", _("Importance threshold reached")
    EPISODES = "episodes", _("Episode threshold reached")
    TIME = "time", _("Time threshold reached")


class Reflection(models.Model):
    """One run, which covers the episodes recorded after `after_ms` and up to `until_ms`.

    `done_at` is null until its insights are stored. A worker's claim lasts until `claimed_until`;
    then another worker may take it over.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="reflections")
    number = models.PositiveIntegerField(_("number"))
    trigger = models.CharField(_("trigger"), max_length=12, choices=Trigger)
    after_ms = models.BigIntegerField()
    until_ms = models.BigIntegerField()
    episodes = models.PositiveIntegerField(_("episodes"))
    claim = models.UUIDField(null=True, editable=False)
    claimed_until = models.DateTimeField(null=True, editable=False)
    tries = models.PositiveIntegerField(_("attempts"), default=0)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    done_at = models.DateTimeField(_("completed at"), null=True, blank=True)

    class Meta:
        verbose_name = _("reflection")
        verbose_name_plural = _("reflections")
        constraints = [
            models.UniqueConstraint(fields=["namespace", "number"], name="reflection_number"),
            models.UniqueConstraint(
                fields=["namespace"],
                condition=models.Q(done_at__isnull=True),
                name="reflection_one_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.namespace} #{self.number}"


class Insight(models.Model):
    """A semantic memory from a reflection. `rests_on` is the number of its episodes; it is flagged
    when one of them is no longer active."""

    memory = models.OneToOneField(
        MemoryItem, models.CASCADE, primary_key=True, related_name="insight"
    )
    reflection = models.ForeignKey(Reflection, models.CASCADE, related_name="insights")
    rests_on = models.PositiveIntegerField(_("episodes"))
    flagged_at = models.DateTimeField(_("flagged at"), null=True, blank=True)
    flag = models.CharField(_("reason for the flag"), max_length=300, blank=True, default="")

    class Meta:
        verbose_name = _("insight")
        verbose_name_plural = _("insights")

    def __str__(self) -> str:
        return str(self.memory)


class InsightSource(models.Model):
    insight = models.ForeignKey(Insight, models.CASCADE, related_name="sources")
    episode = models.ForeignKey(MemoryItem, models.CASCADE, related_name="insights")

    class Meta:
        verbose_name = _("source episode of an insight")
        verbose_name_plural = _("source episodes of insights")
        constraints = [
            models.UniqueConstraint(fields=["insight", "episode"], name="insight_source_once")
        ]

    def __str__(self) -> str:
        return f"{self.insight_id} ← {self.episode_id}"
