"""Links between texts as rows, so that they can be counted, followed back and rewritten."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from worlds.models import World


class Link(models.Model):
    """One mention of a thing in a text. Derived from the text, written in its transaction.

    `targets` are the ids of every row that the name means: of a lore entry, an NPC and an entity
    that are one thing, or of several things if the name is ambiguous. Ids are unique over all
    tables, so they need no kind. A name that nothing has stays, and is resolved when something
    gets it.
    """

    class Kind(models.TextChoices):
        LINK = "link", _("Link")
        ALIAS = "alias", _("Link by another name")
        SECRET = "secret", _("Mention in a secret")
        FIELD = "field", _("Link in a field")
        NAME = "name", _("Mention without a link")

    class State(models.TextChoices):
        RESOLVED = "resolved", _("Resolved")
        UNRESOLVED = "unresolved", _("Unresolved")
        AMBIGUOUS = "ambiguous", _("Ambiguous")

    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    source_kind = models.CharField(_("kind of the source"), max_length=16)
    source_id = models.UUIDField(_("source"))
    field = models.CharField(_("field"), max_length=120)
    position = models.PositiveIntegerField(_("position"))
    raw = models.TextField(_("as written"))
    folder = models.CharField(_("folder"), max_length=200, blank=True, default="")
    name = models.CharField(_("name"), max_length=200)
    words = models.CharField(_("words shown"), max_length=300)
    name_keys = ArrayField(models.CharField(max_length=16), default=list)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind, default=Kind.LINK)
    secret = models.BooleanField(_("in a secret"), default=False)
    audiences = models.JSONField(_("audiences of the secret"), default=list)
    part = models.UUIDField(_("passage or secret that holds it"), null=True)
    targets = ArrayField(models.UUIDField(), default=list)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.UNRESOLVED)

    class Meta:
        verbose_name = _("link")
        verbose_name_plural = _("links")
        ordering = ["source_kind", "source_id", "position"]
        indexes = [
            models.Index(fields=["source_kind", "source_id"], name="link_source"),
            models.Index(fields=["world", "state", "name"], name="link_world_state_name"),
            GinIndex(fields=["targets"], name="link_targets"),
            GinIndex(fields=["name_keys"], name="link_name_keys"),
        ]

    def __str__(self) -> str:
        return self.raw
