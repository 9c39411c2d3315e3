"""The game's terms in other languages."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7
from worlds.models import GameSystem


class GlossaryTerm(models.Model):
    """A game term and its names in another language: aliases of rules, and words for questions that
    are asked in another language than the rules are written in."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    system = models.ForeignKey(
        GameSystem, models.CASCADE, related_name="glossary", verbose_name=_("game system")
    )
    term = models.CharField(_("term"), max_length=200)
    language = models.CharField(_("language of the names"), max_length=8)
    names = ArrayField(models.CharField(max_length=200), verbose_name=_("names"), default=list)
    kind = models.CharField(_("kind"), max_length=40, blank=True, default="")
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("glossary term")
        verbose_name_plural = _("glossary terms")
        ordering = ["term", "language"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "term", "kind", "language"], name="glossary_term_in_language"
            )
        ]

    def __str__(self) -> str:
        return f"{self.term}: {', '.join(self.names)}"
