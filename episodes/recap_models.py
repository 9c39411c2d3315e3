"""Recaps that were written, with the episodes that support each sentence."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from episodes.base_models import TimestampedModel
from retrieval.models import uuid7
from worlds.models import World


class Recap(TimestampedModel):
    """A summary of a scene, session, arc or campaign for one audience.

    `basis` is a digest of its episodes and their versions. When they have changed, the recap is out
    of date and not shown.
    """

    class Level(models.TextChoices):
        SCENE = "scene", _("Scene")
        SESSION = "session", _("Session")
        ARC = "arc", _("Arc")
        CAMPAIGN = "campaign", _("Campaign")

    class Method(models.TextChoices):
        EXTRACT = "extract", _("Sentences from the episodes")
        LANGUAGE_MODEL = "llm", _("Language model")

    world = models.ForeignKey(World, models.CASCADE, related_name="recaps")
    level = models.CharField(_("level"), max_length=8, choices=Level)
    subject = models.UUIDField(_("subject of the recap"))
    audience = models.CharField(_("audience"), max_length=100)
    basis = models.CharField(max_length=64)
    method = models.CharField(_("method"), max_length=8, choices=Method, default=Method.EXTRACT)

    class Meta:
        verbose_name = _("recap")
        verbose_name_plural = _("recaps")
        constraints = [
            models.UniqueConstraint(
                fields=["world", "level", "subject", "audience"], name="recap_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.level} {self.subject} ({self.audience})"


class RecapSentence(models.Model):
    """One sentence of a recap, with the episodes that support it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    recap = models.ForeignKey(Recap, models.CASCADE, related_name="sentences")
    position = models.PositiveIntegerField(default=0)
    text = models.TextField(_("sentence"))
    episodes = models.ManyToManyField("episodes.Episode", related_name="recap_sentences")

    class Meta:
        verbose_name = _("recap sentence")
        verbose_name_plural = _("recap sentences")
        ordering = ["position"]

    def __str__(self) -> str:
        return self.text[:80]
