"""Sessions, scenes, episodes, threads, scratch and recaps; notes are in `report_models`."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

import episodes.prep_models
import episodes.recap_models
import episodes.report_models  # noqa: F401 - the app has these models
from episodes.base_models import InWorldTime, TimestampedModel
from episodes.followers import followers
from episodes.querysets import (
    OPEN_TO_OTHERS,
    EpisodeQuerySet,
    PartyOwned,
    SessionQuerySet,
    ThreadQuerySet,
)
from knowledge.models import Lore
from retrieval.models import Passage, SearchConfig, uuid7
from worlds.audiences import Guarded
from worlds.models import Campaign, Party, World

EXTERNAL_ID = 120


class Arc(TimestampedModel):
    """A part of a campaign: some sessions in a row with one story."""

    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="arcs", verbose_name=_("campaign")
    )
    external_id = models.CharField(_("id"), max_length=EXTERNAL_ID)
    title = models.CharField(_("title"), max_length=200)
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        verbose_name = _("arc")
        verbose_name_plural = _("arcs")
        ordering = ["position", "created_at"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="arc_in_campaign")
        ]

    def __str__(self) -> str:
        return self.title


class Session(TimestampedModel, InWorldTime, Guarded):
    """One evening at the table."""

    known_to_own_party, campaign_path = True, "campaign"

    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="sessions", verbose_name=_("campaign")
    )
    party = models.ForeignKey(
        Party,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="sessions",
        verbose_name=_("party"),
    )
    arc = models.ForeignKey(
        Arc, models.SET_NULL, null=True, blank=True, related_name="sessions", verbose_name=_("arc")
    )
    external_id = models.CharField(_("id"), max_length=EXTERNAL_ID)
    number = models.PositiveIntegerField(_("number"), default=0)
    title = models.CharField(_("title"), max_length=200, blank=True, default="")
    played_at = models.DateTimeField(_("played at"), null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["number", "created_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "external_id"], name="session_in_world")
        ]

    def __str__(self) -> str:
        return self.title or self.external_id


class Scene(TimestampedModel, InWorldTime, Guarded):
    """One scene of a session."""

    known_to_own_party, campaign_path = True, "campaign"

    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="scenes", verbose_name=_("campaign")
    )
    party = models.ForeignKey(
        Party, models.CASCADE, null=True, blank=True, related_name="scenes", verbose_name=_("party")
    )
    session = models.ForeignKey(
        Session,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="scenes",
        verbose_name=_("session"),
    )
    external_id = models.CharField(_("id"), max_length=EXTERNAL_ID)
    title = models.CharField(_("title"), max_length=200, blank=True, default="")
    place = models.CharField(_("place"), max_length=200, blank=True, default="")
    place_lore = models.ForeignKey(
        Lore,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="scenes",
        verbose_name=_("lore entry of the place"),
    )
    position = models.PositiveIntegerField(_("position"), default=0)
    # Slugs, because NPCs are in the app above.
    cast = ArrayField(
        models.CharField(max_length=120), verbose_name=_("cast"), default=list, blank=True
    )
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    objects = PartyOwned.as_manager()

    class Meta:
        verbose_name = _("scene")
        verbose_name_plural = _("scenes")
        ordering = ["position", "created_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "external_id"], name="scene_in_world")
        ]

    def __str__(self) -> str:
        return self.title or self.external_id

    @property
    def place_entry(self) -> Lore | None:
        """The lore entry of the place, unless it is in the trash."""
        entry = self.place_lore
        return entry if entry and not entry.deleted_at else None


class Episode(Passage, InWorldTime, Guarded):
    """The current version of an episodic summary. The row is also the passage that is searched.

    `text` is what is searched and what players may read: `what` without its secret blocks. `notes`,
    `flags` and `relations_delta` are the game master's. `version` is the engine's; older versions
    stay in `EpisodeVersion`.
    """

    is_history: ClassVar[bool] = True

    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="episodes", verbose_name=_("campaign")
    )
    party = models.ForeignKey(
        Party, models.CASCADE, related_name="episodes", verbose_name=_("party")
    )
    scene = models.ForeignKey(
        Scene,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="episodes",
        verbose_name=_("scene"),
    )
    session = models.ForeignKey(
        Session,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="episodes",
        verbose_name=_("session"),
    )
    external_id = models.CharField(_("summary id"), max_length=EXTERNAL_ID)
    happened_at = models.DateTimeField(
        _("happened at"), default=timezone.now, help_text=_("Real time at the table.")
    )
    players = ArrayField(
        models.CharField(max_length=200), verbose_name=_("players"), default=list, blank=True
    )
    npcs = ArrayField(
        models.CharField(max_length=200),
        verbose_name=_("NPCs"),
        default=list,
        blank=True,
        help_text=_("As spelled in the source."),
    )
    place = models.CharField(_("place"), max_length=200, blank=True, default="")
    what = models.TextField(_("what happened"))
    flags = ArrayField(
        models.CharField(max_length=120), verbose_name=_("flags"), default=list, blank=True
    )
    relations_delta = models.JSONField(_("relation changes"), default=list, blank=True)
    notes = models.TextField(_("notes"), blank=True, default="")
    retracted_at = models.DateTimeField(_("retracted"), null=True, blank=True, editable=False)
    retracted_why = models.CharField(
        _("reason for retraction"), max_length=400, blank=True, default="", editable=False
    )
    lore = models.ManyToManyField(
        Lore, through="Mention", related_name="episodes", verbose_name=_("mentioned lore")
    )

    objects = EpisodeQuerySet.as_manager()

    known_to_own_party, campaign_path = True, "campaign"
    search_config = SearchConfig("episode")

    class Meta(Passage.Meta):
        verbose_name = _("episode")
        verbose_name_plural = _("episodes")
        ordering = ["-happened_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "external_id"], name="episode_in_world")
        ]
        indexes = [
            models.Index(fields=["party", "-happened_at", "-id"], name="episode_latest_of_party"),
            models.Index(fields=["world", "-happened_at"], name="episode_latest_of_world"),
            models.Index(
                fields=["world", "-happened_at", "-id"],
                condition=OPEN_TO_OTHERS,
                name="episode_open_to_others",
            ),
            models.Index(fields=["party", "-in_world_at"], name="episode_party_day"),
            models.Index(fields=["world", "in_world_at", "id"], name="episode_day_of_world"),
        ]

    def __str__(self) -> str:
        return self.external_id

    def visibility_changed(self) -> None:
        for follower in followers():
            follower.follow_audience(self)

    def ruling_changed(self) -> None:
        """Call it after a ruling about what the episode changed, with the episode locked."""
        for follower in followers():
            follower.follow_ruling(self)


class EpisodeVersion(models.Model):
    """Every version of a summary as it was sent, also one that arrived after a newer one."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField(_("version"))
    body = models.JSONField(_("summary"))
    digest = models.CharField(max_length=64)
    came_from = models.CharField(_("sender"), max_length=150, blank=True, default="")
    created_at = models.DateTimeField(_("received at"), auto_now_add=True)

    class Meta:
        verbose_name = _("episode version")
        verbose_name_plural = _("episode versions")
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "version"], name="episode_version")
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} v{self.version}"


class Mention(models.Model):
    """A place or other lore entry that an episode names; `secret`: only in its secret blocks, so
    that the mention is for game masters alone."""

    class Role(models.TextChoices):
        PLACE = "place", _("Scene location")
        NAMED = "named", _("Mentioned")

    episode = models.ForeignKey(Episode, models.CASCADE, related_name="mentions")
    lore = models.ForeignKey(Lore, models.CASCADE, related_name="mentions")
    role = models.CharField(_("role"), max_length=8, choices=Role, default=Role.NAMED)
    secret = models.BooleanField(default=False)

    class Meta:
        verbose_name = _("mention")
        verbose_name_plural = _("mentions")
        constraints = [models.UniqueConstraint(fields=["episode", "lore"], name="mention_once")]

    def __str__(self) -> str:
        return f"{self.episode_id}: {self.lore_id}"


class Thread(TimestampedModel):
    """Short-term memory: the steps of a running scene, until they become an episode."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        CONSOLIDATED = "consolidated", _("Consolidated")
        EXPIRED = "expired", _("Expired")

    world = models.ForeignKey(
        World, models.CASCADE, related_name="threads", verbose_name=_("world")
    )
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="threads"
    )
    party = models.ForeignKey(Party, models.CASCADE, null=True, blank=True, related_name="threads")
    scene = models.ForeignKey(Scene, models.SET_NULL, null=True, blank=True, related_name="threads")
    external_id = models.CharField(_("id"), max_length=EXTERNAL_ID)
    title = models.CharField(_("title"), max_length=200, blank=True, default="")
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.OPEN)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    episode = models.ForeignKey(
        Episode, models.SET_NULL, null=True, blank=True, related_name="threads"
    )

    objects = ThreadQuerySet.as_manager()

    class Meta:
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        ordering = ["-updated_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "external_id"], name="thread_in_world")
        ]
        indexes = [
            models.Index(
                fields=["expires_at"], name="thread_expiry", condition=models.Q(state="open")
            )
        ]

    def __str__(self) -> str:
        return self.title or self.external_id


class Step(models.Model):
    """One turn of a thread. `tokens` is an estimate, made when the step is written."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField(_("number"))
    step_id = models.CharField(_("step id"), max_length=EXTERNAL_ID, blank=True, default="")
    speaker = models.CharField(_("speaker"), max_length=200, blank=True, default="")
    text = models.TextField(_("text"))
    payload = models.JSONField(_("payload"), default=dict, blank=True)
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["thread", "number"], name="step_number"),
            models.UniqueConstraint(
                fields=["thread", "step_id"], name="step_once", condition=~models.Q(step_id="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}. {self.text[:60]}"


class Scratch(models.Model):
    """Working memory of a scene, deleted when the scene ends."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    scene = models.ForeignKey(Scene, models.CASCADE, related_name="scratch")
    key = models.CharField(_("key"), max_length=EXTERNAL_ID)
    value = models.JSONField(_("value"))
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("scratch note")
        verbose_name_plural = _("scratch notes")
        ordering = ["key"]
        constraints = [models.UniqueConstraint(fields=["scene", "key"], name="scratch_key")]

    def __str__(self) -> str:
        return self.key
