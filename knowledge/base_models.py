"""Columns that documents, rules and lore share."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7
from worlds.models import World


def names_field(label: Any, max_length: int = 200) -> "ArrayField[list[str], list[str]]":
    names = models.CharField(max_length=max_length)
    return ArrayField(names, verbose_name=label, default=list, blank=True)


def own_world(related_name: str) -> "models.ForeignKey[World | None]":
    return models.ForeignKey(
        World,
        models.CASCADE,
        null=True,
        blank=True,
        related_name=related_name,
        verbose_name=_("world"),
        help_text=_("If empty, all worlds of the game system share it."),
    )


class Versioned(models.Model):
    """A row that people edit. `version` is its entity tag and grows with each saved change."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        abstract = True
