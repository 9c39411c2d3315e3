"""Memories with their evidence, successions and state changes."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from episodes.models import Episode
from memories.identity import Identity
from memories.models.namespaces import Namespace
from memories.models.observations import Observation
from memories.querysets import MemoryQuerySet
from memories.states import Bucket, LinkKind, Maker, State
from retrieval.models import Passage, SearchConfig, uuid7


class MemoryItem(Passage):
    """One memory: the passage that is searched. Its text is never edited in place: a new text is
    a new memory."""

    search_config = SearchConfig(
        "memory", scope="namespace_id", public=models.Q(state=State.ACTIVE), text_weight=3
    )

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="memories")
    bucket = models.CharField(_("bucket"), max_length=10, choices=Bucket, default=Bucket.FACT)
    importance = models.FloatField(_("importance"), default=0.5)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACTIVE)
    made_by = models.CharField(_("created by"), max_length=10, choices=Maker, default=Maker.RULES)
    source = models.CharField(_("source"), max_length=200, blank=True, default="")
    subject = models.CharField(_("subject"), max_length=200, blank=True, default="")
    speaker = models.CharField(_("speaker"), max_length=120, blank=True, default="")
    event_at = models.DateTimeField(_("happened at"), null=True, blank=True)
    in_world_at = models.FloatField(_("in-world day"), null=True, blank=True)
    in_world_label = models.CharField(_("in-world date"), max_length=120, blank=True, default="")
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    episode = models.ForeignKey(
        Episode,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="memories",
        verbose_name=_("episode"),
        editable=False,
        db_index=False,
    )
    forgotten_from = models.FloatField(
        _("forgotten from the in-world day"), null=True, blank=True, editable=False
    )
    timestamp_ms = models.BigIntegerField(_("recorded at (ms)"), default=0, editable=False)
    turn_order = models.BigIntegerField(
        null=True,
        editable=False,
        help_text=_("Its place among the turns of its source; empty if it is no turn."),
    )
    previous_turn = models.UUIDField(null=True, editable=False)
    name_keys = ArrayField(
        models.CharField(max_length=16),
        default=list,
        db_default=[],
        editable=False,
        help_text=_("Keys of the names of what it is about; computed."),
    )
    recalls = models.PositiveIntegerField(_("times recalled"), default=0, editable=False)
    last_recalled_at = models.DateTimeField(_("last recalled"), null=True, editable=False)
    observations = models.ManyToManyField(Observation, through="Evidence", related_name="memories")

    objects = MemoryQuerySet.as_manager()

    class Meta(Passage.Meta):
        abstract = False
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        indexes = [
            models.Index(fields=["namespace", "state", "-timestamp_ms"], name="memory_latest"),
            models.Index(fields=["namespace", "source"], name="memory_from"),
            models.Index(
                fields=["namespace", "source", "turn_order"],
                name="memory_turns",
                condition=models.Q(turn_order__isnull=False),
            ),
            models.Index(
                fields=["previous_turn"],
                name="memory_turn_after",
                condition=models.Q(previous_turn__isnull=False),
            ),
            models.Index(
                fields=["episode", "namespace"],
                name="memory_of_episode",
                condition=models.Q(episode__isnull=False),
            ),
            models.Index(
                fields=["expires_at"],
                name="memory_expiring",
                condition=models.Q(expires_at__isnull=False),
            ),
            GinIndex(
                fields=["name_keys"], name="memory_name_keys", condition=~models.Q(name_keys=[])
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(importance__gte=0, importance__lte=1),
                name="memory_importance_is_a_share",
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def identity(self) -> Identity:
        return Identity.of(speaker=self.speaker, subject=self.subject, metadata=self.metadata)


class ClientVector(models.Model):
    """The vector of a memory in a namespace whose vectors come from the caller's own client, with
    the client's width and in full precision.

    The site cannot compute it again, so it is exported with the memory.
    """

    memory = models.OneToOneField(
        MemoryItem, models.CASCADE, primary_key=True, related_name="client_vector"
    )
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="+")
    vector = VectorField()

    class Meta:
        verbose_name = _("client vector")
        verbose_name_plural = _("client vectors")

    def __str__(self) -> str:
        return f"{len(self.vector)} {self.memory_id}"


class Evidence(models.Model):
    memory = models.ForeignKey(MemoryItem, models.CASCADE, related_name="evidence")
    observation = models.ForeignKey(Observation, models.CASCADE, related_name="evidence")

    class Meta:
        verbose_name = _("evidence")
        verbose_name_plural = _("evidence")
        constraints = [
            models.UniqueConstraint(fields=["memory", "observation"], name="memory_evidence_once")
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} ← {self.observation_id}"


class Succession(models.Model):
    """`newer` replaced `older`, or contradicts it. With `in_effect` false it waits for the approval
    of `newer`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    older = models.ForeignKey(MemoryItem, models.CASCADE, related_name="successors")
    newer = models.ForeignKey(MemoryItem, models.CASCADE, related_name="predecessors")
    kind = models.CharField(_("kind"), max_length=10, choices=LinkKind, default=LinkKind.SUPERSEDES)
    in_effect = models.BooleanField(_("in effect"), default=True)
    reason = models.CharField(_("reason"), max_length=300, blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    undone_at = models.DateTimeField(_("undone at"), null=True, blank=True)
    checked_at = models.DateTimeField(_("checked by a person at"), null=True, blank=True)

    class Meta:
        verbose_name = _("succession")
        verbose_name_plural = _("successions")
        constraints = [
            models.UniqueConstraint(
                fields=["older", "newer", "kind"], name="memory_succession_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(older=models.F("newer")), name="memory_succeeds_another"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.older_id} → {self.newer_id}"


class StateChange(models.Model):
    """The log of a memory's states, each with its time and reason; `as_of` queries read it."""

    id = models.BigAutoField(primary_key=True)
    memory = models.ForeignKey(MemoryItem, models.CASCADE, related_name="changes")
    state = models.CharField(_("state"), max_length=10, choices=State)
    at = models.DateTimeField(_("since"))
    by = models.CharField(_("changed by"), max_length=120, blank=True, default="")
    reason = models.CharField(_("reason"), max_length=300, blank=True, default="")

    class Meta:
        verbose_name = _("state change")
        verbose_name_plural = _("state changes")
        indexes = [models.Index(fields=["memory", "at"], name="memory_state_at")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.get_state_display()}"
