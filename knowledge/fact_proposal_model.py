"""What a text says of the graph, waiting for a game master's decision."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7
from worlds.audiences import Visibility
from worlds.models import World


class FactProposal(models.Model):
    """A statement that was read in a text, with the sentence that says so. Nothing is believed
    before it is accepted. Only game masters see it.

    `key` is of the source, the sentence and the statement: what was decided does not come back when
    the text is read again. `fields` is as `memory_site.fact_proposals.fields` has it; names of the
    world's entities have their `id`. `written` is what the acceptance wrote, for undoing it.
    """

    class Kind(models.TextChoices):
        ENTITY = "entity", _("New name")
        ALIAS = "alias", _("Another name")
        DATE = "date", _("Date")
        DEATH = "death", _("Death")
        FACT = "fact", _("Fact")

    class Source(models.TextChoices):
        LORE = "lore", _("Lore entry")
        EPISODE = "episode", _("Episode")
        THREAD = "thread", _("Thread")

    class State(models.TextChoices):
        OPEN = "open", _("Pending")
        ACCEPTED = "accepted", _("Accepted")
        CHANGED = "changed", _("Changed and accepted")
        DROPPED = "dropped", _("Dropped")

    class Method(models.TextChoices):
        RULES = "rules", _("Rules")
        LLM = "llm", _("Language model")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(
        World, models.CASCADE, related_name="fact_proposals", verbose_name=_("world")
    )
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    source_kind = models.CharField(_("source"), max_length=8, choices=Source)
    source_id = models.UUIDField(_("row of the source"))
    source_ref = models.CharField(_("source id"), max_length=200)
    source_version = models.PositiveIntegerField(_("version of the source"), default=1)
    quote = models.TextField(_("sentence"))
    start = models.PositiveIntegerField(_("begins at character"), default=0)
    fields = models.JSONField(_("proposed"), default=dict)
    visibility = models.CharField(
        _("visibility"), max_length=10, choices=Visibility, default=Visibility.GM
    )
    known_to = ArrayField(
        models.CharField(max_length=120), verbose_name=_("known to"), default=list, blank=True
    )
    method = models.CharField(_("read by"), max_length=5, choices=Method, default=Method.RULES)
    contradicts = models.JSONField(_("contradicts"), default=list, blank=True)
    key = models.CharField(max_length=64)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True, default="")
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    written = models.JSONField(_("what the acceptance wrote"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("proposal from a text")
        verbose_name_plural = _("proposals from texts")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["world", "key"], name="fact_proposal_once")]
        indexes = [
            models.Index(fields=["world", "state", "kind", "id"], name="fact_proposal_state"),
            models.Index(fields=["source_id"], name="fact_proposal_source"),
        ]

    def __str__(self) -> str:
        return self.quote[:80]


class LatestReading(models.Model):
    """Which save of a text was read for proposals last. A text that was saved after `saved_at` has
    not been read since: the message that asked for it may be lost.

    `unfinished` are the sweeps that began to read this save and did not end.
    """

    source_id = models.UUIDField(primary_key=True)
    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    saved_at = models.DateTimeField()
    unfinished = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name = _("reading of a text")
        verbose_name_plural = _("readings of texts")

    def __str__(self) -> str:
        return str(self.source_id)
