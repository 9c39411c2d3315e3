"""Uploaded pictures and where they are shown; art cards, which are pictures described in words."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from art.querysets import ArtCardQuerySet, PictureQuerySet, PictureUseQuerySet
from episodes.models import EXTERNAL_ID, Episode, Scene
from knowledge.models import Lore
from npcs.models import NPC
from retrieval.models import Passage, SearchConfig, uuid7
from worlds.audiences import Guarded
from worlds.models import Party


def stored_name(picture: "Picture", name: str) -> str:
    """Where a file of `picture` lies: only `name` (`original.png`, `preview.webp`,
    `thumbnail.webp`) differs, and nothing that the uploader wrote is part of it."""
    return f"pictures/{picture.world_id}/{picture.pk}/{name}"


class Picture(Guarded):
    """An uploaded picture, once in a world however often it is shown there.

    Its own visibility adds to that of the places where it is shown: `gm` means that those decide.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    name = models.CharField(_("file name"), max_length=120, editable=False)
    file = models.FileField(_("picture"), upload_to=stored_name, max_length=200, editable=False)
    preview = models.FileField(
        upload_to=stored_name,
        max_length=200,
        blank=True,
        editable=False,
        help_text=_("Empty for an animation, which is shown itself."),
    )
    thumbnail = models.FileField(upload_to=stored_name, max_length=200, editable=False)
    content_type = models.CharField(_("type"), max_length=40, editable=False)
    sha256 = models.CharField(
        max_length=64, editable=False, help_text=_("Of the file as it was uploaded.")
    )
    size = models.PositiveIntegerField(_("bytes"), editable=False)
    width = models.PositiveIntegerField(_("width"), editable=False)
    height = models.PositiveIntegerField(_("height"), editable=False)
    alt = models.CharField(
        _("description for those who do not see the picture"),
        max_length=300,
        blank=True,
        default="",
    )
    caption = models.CharField(_("caption"), max_length=300, blank=True, default="")
    uploaded_by = models.CharField(
        _("uploaded by"), max_length=150, blank=True, default="", editable=False
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)
    deleted_at = models.DateTimeField(_("deleted at"), null=True, blank=True, editable=False)

    objects = PictureQuerySet.as_manager()

    class Meta:
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "sha256"], name="picture_once_in_world")
        ]
        indexes = [models.Index(fields=["world", "-created_at"], name="picture_world_created")]

    def __str__(self) -> str:
        return self.caption or self.alt or self.name


class PictureUse(models.Model):
    """A picture in the gallery of a lore entry or an NPC."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    picture = models.ForeignKey(Picture, models.CASCADE, related_name="uses")
    lore = models.ForeignKey(Lore, models.CASCADE, null=True, related_name="picture_uses")
    npc = models.ForeignKey(NPC, models.CASCADE, null=True, related_name="picture_uses")
    position = models.PositiveIntegerField(_("position"), default=0)
    is_portrait = models.BooleanField(_("portrait"), default=False)
    is_hidden = models.BooleanField(
        _("hidden from players"),
        default=False,
        help_text=_("Here only game masters see it, unless the picture itself is open to others."),
    )
    removed_at = models.DateTimeField(null=True)

    objects = PictureUseQuerySet.as_manager()

    class Meta:
        verbose_name = _("use of a picture")
        verbose_name_plural = _("uses of pictures")
        ordering = ["position", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(lore=None) ^ models.Q(npc=None), name="picture_use_of_one_thing"
            ),
            models.UniqueConstraint(fields=["picture", "lore"], name="picture_once_in_lore"),
            models.UniqueConstraint(fields=["picture", "npc"], name="picture_once_in_npc"),
            models.UniqueConstraint(
                fields=["lore"],
                condition=models.Q(is_portrait=True, removed_at=None),
                name="one_portrait_of_lore",
            ),
            models.UniqueConstraint(
                fields=["npc"],
                condition=models.Q(is_portrait=True, removed_at=None),
                name="one_portrait_of_npc",
            ),
        ]

    def __str__(self) -> str:
        return str(self.picture)

    @property
    def thing(self) -> Any:
        return self.lore or self.npc


class ArtCard(Passage, Guarded):
    """A picture as its prompt, tags, and its file or its address elsewhere, which the server never
    fetches. The card is its own passage."""

    campaign_path = "scene__campaign"

    class Moderation(models.TextChoices):
        PENDING = "pending", _("Waiting")
        APPROVED = "approved", _("Approved")
        FLAGGED = "flagged", _("Flagged")
        REJECTED = "rejected", _("Rejected")

    external_id = models.CharField(_("image id"), max_length=EXTERNAL_ID)
    scene = models.ForeignKey(
        Scene, models.SET_NULL, null=True, blank=True, related_name="art", verbose_name=_("scene")
    )
    cdn_url = models.URLField(_("image URL"), max_length=1000, blank=True, default="")
    picture = models.ForeignKey(
        Picture,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="cards",
        verbose_name=_("uploaded picture"),
        help_text=_("Instead of an address."),
    )
    prompt_text = models.TextField(_("prompt"))
    entities = ArrayField(
        models.CharField(max_length=200),
        verbose_name=_("depicted people and things"),
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
    moderated_at = models.DateTimeField(_("moderated at"), null=True, blank=True)
    moderation_note = models.CharField(_("note"), max_length=400, blank=True, default="")
    place = models.ForeignKey(
        Lore,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="pictures",
        verbose_name=_("place"),
    )
    npcs = models.ManyToManyField(
        NPC, blank=True, related_name="art", verbose_name=_("depicted NPCs")
    )
    lore = models.ManyToManyField(
        Lore, blank=True, related_name="art", verbose_name=_("depicted lore")
    )
    episodes = models.ManyToManyField(
        Episode, blank=True, related_name="art", verbose_name=_("depicted episodes")
    )

    objects = ArtCardQuerySet.as_manager()

    known_to_own_party = True

    @property
    def own_party(self) -> Party | None:
        return self.scene.party if self.scene else None

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

    def clean(self) -> None:
        if not self.cdn_url and not self.picture:
            raise ValidationError({"cdn_url": gettext("Give an address or an uploaded picture.")})
        if self.picture and self.picture.world_id != self.world_id:
            raise ValidationError({"picture": gettext("The picture is of another world.")})
