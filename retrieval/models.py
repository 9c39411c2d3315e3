"""The abstract passage: a searchable piece of text with its words, its vector and the state of both."""

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from retrieval.ids import uuid7


class Passage(models.Model):
    """What every searchable table holds (spec 1.1).

    A row is found by its words from the moment it is written; `embedding` follows when the sweep or a task has computed
    it, and is compared only with vectors of the same `embedding_model`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    text = models.TextField(_("text"))
    payload = models.JSONField(_("payload"), default=dict, blank=True)
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)
    language = models.CharField(_("language"), max_length=8, default="en")
    context = models.TextField(_("context"), blank=True, default="", help_text=_("Title, heading path, speaker, date."))
    embedding = HalfVectorField(null=True, editable=False)
    embedding_model = models.CharField(max_length=120, blank=True, default="", editable=False)
    content_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)
    search_vector = SearchVectorField(null=True, editable=False)

    class Meta:
        abstract = True
