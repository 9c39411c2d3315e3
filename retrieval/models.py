"""The abstract passage, and tables of word statistics, cached vectors and model calls."""

from typing import ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField
from uuid6 import uuid7 as _uuid7

from retrieval.domains import SearchConfig, get_passage_model, passage_models

__all__ = [
    "PARKED_AFTER",
    "CachedVector",
    "LanguageModelCall",
    "Passage",
    "ScopeStatistics",
    "SearchConfig",
    "ServingModel",
    "StagedVector",
    "UpgradeStep",
    "WordStatistics",
    "get_passage_model",
    "passage_models",
    "uuid7",
]


PARKED_AFTER = 8
"""Tries. A parked passage is tried again when its text changes or by `reindex`."""


def uuid7() -> UUID:
    """Return a new UUIDv7 as a standard library UUID (uuid6's subclass would not adapt as one)."""
    return UUID(int=_uuid7().int)


class Passage(models.Model):
    """What every searchable table holds (requirement 1.1).

    A row is found by its words from the moment it is written; `embedding` follows when the sweep or
    a task has computed it, and is compared only with vectors of the same `embedding_model`.

    A concrete model says with `search_config` how it is searched. A database trigger, installed
    after `migrate` for every concrete model, keeps `search_vector`, `word_count` and `rev`:
    `update()` and raw SQL are covered too.
    """

    search_config: ClassVar[SearchConfig]

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    text = models.TextField(_("text"))
    payload = models.JSONField(_("payload"), default=dict, blank=True)
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)
    language = models.CharField(_("language"), max_length=8, default="en")
    context = models.TextField(
        _("context"), blank=True, default="", help_text=_("Title, heading path, speaker, date.")
    )
    surroundings = models.TextField(
        _("surrounding text"),
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text=_(
            "Text around the passage, such as the turns before and after. Used for search, "
            "never shown."
        ),
    )
    embedding = HalfVectorField(null=True, editable=False)
    embedding_model = models.CharField(max_length=120, blank=True, default="", editable=False)
    content_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)
    search_vector = SearchVectorField(null=True, editable=False)
    word_count = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    rev = models.PositiveIntegerField(default=1, db_default=1, editable=False)
    embedded_rev = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    embed_tries = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    embed_after = models.DateTimeField(
        null=True, editable=False, help_text=_("Leased or postponed until this time.")
    )
    embed_error = models.CharField(
        max_length=200, blank=True, default="", db_default="", editable=False
    )

    class Meta:
        abstract = True

    @property
    def indexed_text(self) -> str:
        """What is embedded: the text under its title, heading path, speaker or date."""
        return f"{self.context}\n{self.text}" if self.context else self.text


class ScopeStatistics(models.Model):
    """The number of passages and words in one scope of a domain, in all and public."""

    pk = models.CompositePrimaryKey("domain", "scope")
    domain = models.CharField(max_length=40)
    scope = models.CharField(max_length=80, help_text=_("World, game system or agent namespace."))
    rows = models.IntegerField()
    public_rows = models.IntegerField()
    words = models.BigIntegerField()
    public_words = models.BigIntegerField()
    languages = ArrayField(models.CharField(max_length=8))
    refreshed_at = models.DateTimeField(help_text=_("Passages created until then are counted."))
    edited_rows = models.PositiveIntegerField(
        default=0, db_default=0, help_text=_("Edits since the whole scope was counted.")
    )

    class Meta:
        verbose_name = _("scope statistics")
        verbose_name_plural = _("scope statistics")

    def __str__(self) -> str:
        return f"{self.domain} {self.scope}"


class WordStatistics(models.Model):
    """The number of passages of a scope with a word. Words of a single passage have no row."""

    pk = models.CompositePrimaryKey("domain", "scope", "word")
    domain = models.CharField(max_length=40)
    scope = models.CharField(max_length=80)
    word = models.TextField()
    rows = models.IntegerField()
    public_rows = models.IntegerField()

    class Meta:
        verbose_name = _("word statistics")
        verbose_name_plural = _("word statistics")

    def __str__(self) -> str:
        return f"{self.domain} {self.scope}: {self.word}"


class CachedVector(models.Model):
    """The vector of a text, by its hash, so that no text is embedded twice. Holds no text."""

    model = models.CharField(max_length=120)
    text_hash = models.CharField(max_length=64)
    vector = models.BinaryField()
    used_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("cached vector")
        verbose_name_plural = _("cached vectors")
        constraints = [
            models.UniqueConstraint(
                fields=["text_hash", "model"], name="cached_vector_text_and_model"
            )
        ]

    def __str__(self) -> str:
        return f"{self.text_hash[:12]} {self.model}"


class LanguageModelCall(models.Model):
    """The usage and outcome of one call of the language model, without its text."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True, db_index=True)
    model = models.CharField(_("model"), max_length=120)
    purpose = models.CharField(_("purpose"), max_length=60, blank=True, default="")
    tenant = models.CharField(
        _("world"),
        max_length=64,
        blank=True,
        default="",
        help_text=_("Id of the world whose allowance paid."),
    )
    mode = models.CharField(
        _("mode"),
        max_length=12,
        help_text=_("Format requested for the answer: schema, json or plain."),
    )
    tokens_in = models.PositiveIntegerField(_("input tokens"), default=0)
    tokens_out = models.PositiveIntegerField(_("output tokens"), default=0)
    cost = models.DecimalField(
        _("cost"),
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text=_("Empty if no price is set."),
    )
    duration_ms = models.PositiveIntegerField(_("duration, ms"), default=0)
    ok = models.BooleanField(_("succeeded"), default=True)
    error = models.CharField(_("error"), max_length=60, blank=True, default="")

    class Meta:
        verbose_name = _("language model call")
        verbose_name_plural = _("language model calls")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.model} {self.purpose}"


class ServingModel(models.Model):
    """The embedding model whose vectors the passages of a domain have. It changes in the
    transaction that swaps the vectors, so every search sees both or neither."""

    domain = models.CharField(max_length=40, primary_key=True)
    model = models.CharField(max_length=120)

    class Meta:
        verbose_name = _("embedding model in use")
        verbose_name_plural = _("embedding models in use")

    def __str__(self) -> str:
        return f"{self.domain}: {self.model}"


class StagedVector(models.Model):
    """A vector of the next model, unused until its whole domain has one (`switch_model`)."""

    pk = models.CompositePrimaryKey("domain", "model", "passage_id")
    domain = models.CharField(max_length=40)
    model = models.CharField(max_length=120)
    passage_id = models.UUIDField()
    rev = models.PositiveIntegerField()
    vector = HalfVectorField()

    class Meta:
        verbose_name = _("staged vector")
        verbose_name_plural = _("staged vectors")

    def __str__(self) -> str:
        return f"{self.domain} {self.passage_id}"


class UpgradeStep(models.Model):
    """How far stored data have followed an upgrade. Work for `next_version` continues behind
    `position`."""

    name = models.CharField(max_length=200, primary_key=True)
    version = models.CharField(max_length=64, default="", help_text=_("Of all of the data."))
    next_version = models.CharField(max_length=64, default="")
    position = models.UUIDField(null=True)
    changed = models.PositiveIntegerField(default=0, help_text=_("Rows changed on the way."))

    class Meta:
        verbose_name = _("upgrade step")
        verbose_name_plural = _("upgrade steps")

    def __str__(self) -> str:
        return self.name
