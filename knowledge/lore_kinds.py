"""Kinds of lore entries that a world adds to the built-in ones: a deity, a ship, a recipe."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from worlds.models import Named, World


class LoreKind(Named):
    """A kind of a world's own. Its entries have the kind `custom` and point to it."""

    world = models.ForeignKey(World, models.CASCADE, related_name="lore_kinds")
    icon = models.CharField(
        _("icon"),
        max_length=16,
        blank=True,
        default="",
        help_text=_("One character or emoji, shown before the name."),
    )
    template = models.TextField(
        _("template"),
        blank=True,
        default="",
        help_text=_("Markdown that a new entry of this kind begins with."),
    )

    class Meta:
        verbose_name = _("kind of lore")
        verbose_name_plural = _("kinds of lore")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["world", "slug"], name="lore_kind_slug_in_world")
        ]
