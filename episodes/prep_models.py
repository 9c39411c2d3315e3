"""What a game master writes before a session."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from episodes.base_models import TimestampedModel
from worlds.models import Party


class PrepNotes(TimestampedModel):
    """A game master's notes for the next session of a party. Only game masters read them.
    `version` counts the saves, so that two people do not overwrite each other."""

    party = models.OneToOneField(
        Party, models.CASCADE, related_name="prep_notes", verbose_name=_("party")
    )
    text = models.TextField(_("notes"), blank=True, default="")
    version = models.PositiveIntegerField(_("version"), default=0, editable=False)
    edited_by = models.CharField(
        _("changed by"), max_length=150, blank=True, default="", editable=False
    )

    class Meta:
        verbose_name = _("preparation notes")
        verbose_name_plural = _("preparation notes")

    def __str__(self) -> str:
        return self.text[:60]
