"""One agent's memory. No query crosses a namespace."""

from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from npcs.models import NPC
from retrieval.models import uuid7
from worlds.models import World


class Review(models.TextChoices):
    OFF = "off", _("Off: machine-written memories are used at once")
    CORE = "core", _("Core: changes to the core memory wait for approval")
    ALL = "all", _("All: every machine-written memory waits for approval")


class Namespace(models.Model):
    """`dims` is the width of the vectors of the caller's own client; null means that the site's
    embedder computes them. `npc` is the NPC whose memory it is: it has the episodes that the NPC
    witnessed or heard of."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="namespaces")
    name = models.CharField(
        _("name"), max_length=120, help_text=_("The agent this memory belongs to.")
    )
    npc = models.OneToOneField(
        NPC,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="memory",
        verbose_name=_("NPC"),
        editable=False,
    )
    remembers_all = models.BooleanField(
        _("remembers every episode"),
        default=False,
        db_default=False,
        help_text=_("The memory of a game master's agent. Only game masters' keys read it."),
    )
    path = models.TextField(
        _("folder"),
        blank=True,
        default="",
        help_text=_("The folder from which a script opens this memory."),
    )
    dims = models.PositiveIntegerField(_("vector width"), null=True, blank=True, editable=False)
    review = models.CharField(_("review"), max_length=8, choices=Review, default=Review.OFF)
    language = models.CharField(_("language"), max_length=8, default="en")
    merge_top_k = models.PositiveIntegerField(_("related memories per content item"), default=3)
    merge_distance_cutoff = models.FloatField(
        _("maximum distance of related memories"), default=0.25
    )
    revision = models.PositiveBigIntegerField(default=0, editable=False)
    last_timestamp_ms = models.BigIntegerField(default=0, editable=False)
    words_counted = models.PositiveIntegerField(default=0, editable=False)
    words_uncounted = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("namespace")
        verbose_name_plural = _("namespaces")
        constraints = [
            models.UniqueConstraint(fields=["world", "name"], name="memory_namespace_in_world")
        ]

    def __str__(self) -> str:
        return self.name

    only_campaign: UUID | None = None
    """Not stored: the campaign whose episodes this object's reader may know."""

    @property
    def has_episodes(self) -> bool:
        """Whether episodes are remembered in it, of which its audience alone may know."""
        return self.npc_id is not None or self.remembers_all

    @property
    def has_own_vectors(self) -> bool:
        return self.dims is not None


class HealthReading(models.Model):
    """The health counts of a namespace on one day; together they show the trend."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="health_readings")
    day = models.DateField(_("day"))
    counts = models.JSONField(_("counts"), default=dict)

    class Meta:
        verbose_name = _("health reading")
        verbose_name_plural = _("health readings")
        constraints = [
            models.UniqueConstraint(fields=["namespace", "day"], name="memory_health_once_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.day:%Y-%m-%d}"
