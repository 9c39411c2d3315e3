"""Columns that documents, rules and lore share, and the name of a passage."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from retrieval.models import Passage, uuid7
from worlds.models import Campaign, World


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


def own_campaign(related_name: str, help_text: Any) -> "models.ForeignKey[Campaign | None]":
    return models.ForeignKey(
        Campaign,
        models.CASCADE,
        null=True,
        blank=True,
        related_name=related_name,
        verbose_name=_("campaign"),
        help_text=help_text,
    )


def passage_name(passage: Passage) -> str:
    """Return where the passage stands (title and headings) and its first words. Reads no other
    row, so that a list of a hundred passages is one query."""
    beginning = Truncator(passage.text).words(8)
    return f"{passage.context}: {beginning}" if passage.context else beginning


class Versioned(models.Model):
    """A row that people edit. `version` is its entity tag and grows with each saved change."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        abstract = True
