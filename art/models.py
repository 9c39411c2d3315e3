"""Art cards: pictures described in words. The server stores where a picture is and never fetches
it.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from art.querysets import ArtCardQuerySet
from episodes.models import EXTERNAL_ID, Episode, Scene
from knowledge.models import Lore
from npcs.models import NPC
from retrieval.models import Passage, SearchConfig
from worlds.audiences import Guarded


class ArtCard(Passage, Guarded):
    """A picture as its prompt, tags and address; it is its own passage."""

    class Moderation(models.TextChoices):
        PENDING = "pending", _("Waiting")
        APPROVED = "approved", _("Approved")
        FLAGGED = "flagged", _("Flagged")
        REJECTED = "rejected", _("Rejected")

    external_id = models.CharField(_("image id"), max_length=EXTERNAL_ID)
    scene = models.ForeignKey(
        Scene, models.SET_NULL, null=True, blank=True, related_name="art", verbose_name=_("scene")
    )
    cdn_url = models.URLField(_("address of the picture"), max_length=1000)
    prompt_text = models.TextField(_("prompt"))
    entities = ArrayField(
        models.CharField(max_length=200),
        verbose_name=_("who and what it shows"),
        default=list,
        blank=True,
    )
    visual_tags = ArrayField(
        models.CharField(max_length=80), verbose_name=_("visual tags"), default=list, blank=True
    )
    style = models.CharField(_("style"), max_length=200, blank=True, default="")
    seed = models.BigIntegerField(_("seed"), null=True, blank=True)
    moderation = models.CharField(
        _("moderation"), max_length=8, choices=Moderation, default=Moderation.PENDING
    )
    moderated_by = models.CharField(_("moderated by"), max_length=150, blank=True, default="")
    moderated_at = models.DateTimeField(_("moderated"), null=True, blank=True)
    moderation_note = models.CharField(_("note"), max_length=400, blank=True, default="")
    place = models.ForeignKey(
        Lore,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="pictures",
        verbose_name=_("place"),
    )
    npcs = models.ManyToManyField(NPC, blank=True, related_name="art", verbose_name=_("NPCs shown"))
    lore = models.ManyToManyField(
        Lore, blank=True, related_name="art", verbose_name=_("lore shown")
    )
    episodes = models.ManyToManyField(
        Episode, blank=True, related_name="art", verbose_name=_("episodes shown")
    )

    objects = ArtCardQuerySet.as_manager()

    known_to_own_party = True
    search_config = SearchConfig("art", public=models.Q(visibility="public", moderation="approved"))

    class Meta(Passage.Meta):
        verbose_name = _("art card")
        verbose_name_plural = _("art cards")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "external_id"], name="art_card_in_world")
        ]
        indexes = [models.Index(fields=["world", "moderation"], name="art_card_moderation")]

    def __str__(self) -> str:
        return self.external_id
