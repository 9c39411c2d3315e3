"""What a game master writes about a session: notes during play, reports after it, and the loose
ends that episodes leave."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from episodes.base_models import TimestampedModel
from worlds.models import Campaign, Party, World


class SessionReport(TimestampedModel):
    """A text about what happened at the table, and the episode that is proposed from it.

    `digest` is of the words alone, so that the same text pasted again is noticed. A report is
    deleted with its episode, because it holds the same text.
    """

    class State(models.TextChoices):
        READING = "reading", _("Reading the report")
        OPEN = "open", _("Waits for your review")
        RECORDED = "recorded", _("Recorded")

    world = models.ForeignKey(World, models.CASCADE, related_name="session_reports")
    party = models.ForeignKey(Party, models.CASCADE, related_name="session_reports")
    session = models.ForeignKey("episodes.Session", models.CASCADE, related_name="reports")
    author = models.CharField(_("author"), max_length=150, blank=True, default="")
    text = models.TextField(_("text"))
    digest = models.CharField(max_length=64)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.READING)
    progress = models.PositiveSmallIntegerField(_("progress, %"), default=0)
    tries = models.PositiveSmallIntegerField(_("attempts"), default=0, db_default=0)
    proposal = models.JSONField(_("proposal"), default=dict, blank=True)
    episode = models.ForeignKey(
        "episodes.Episode", models.CASCADE, null=True, blank=True, related_name="reports"
    )

    class Meta:
        verbose_name = _("session report")
        verbose_name_plural = _("session reports")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["world", "digest"], name="session_report_once")
        ]

    def __str__(self) -> str:
        return self.text[:60]


class SessionNote(TimestampedModel):
    """A note that a game master makes during play. Only game masters read it. It is offered as
    material for a report until it is used in one."""

    world = models.ForeignKey(World, models.CASCADE, related_name="session_notes")
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="session_notes"
    )
    party = models.ForeignKey(
        Party, models.CASCADE, null=True, blank=True, related_name="session_notes"
    )
    session = models.ForeignKey(
        "episodes.Session", models.SET_NULL, null=True, blank=True, related_name="notes"
    )
    author = models.CharField(_("author"), max_length=150, blank=True, default="")
    text = models.TextField(_("note"))
    report = models.ForeignKey(
        SessionReport, models.SET_NULL, null=True, blank=True, related_name="notes"
    )

    class Meta:
        verbose_name = _("session note")
        verbose_name_plural = _("session notes")
        ordering = ["-id"]
        indexes = [models.Index(fields=["world", "-id"], name="session_note_latest")]

    def __str__(self) -> str:
        return self.text[:60]


class LooseEnd(TimestampedModel):
    """A promise, a question or a task that an episode leaves open. It counts while its episode is
    not retracted."""

    world = models.ForeignKey(World, models.CASCADE, related_name="loose_ends")
    party = models.ForeignKey(Party, models.CASCADE, related_name="loose_ends")
    episode = models.ForeignKey(
        "episodes.Episode", models.CASCADE, related_name="loose_ends", verbose_name=_("episode")
    )
    text = models.CharField(_("loose end"), max_length=400)
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)
    closed_by = models.CharField(_("closed by"), max_length=150, blank=True, default="")

    class Meta:
        verbose_name = _("loose end")
        verbose_name_plural = _("loose ends")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["episode", "text"], name="loose_end_once")]
        indexes = [
            models.Index(
                fields=["party", "-id"],
                name="loose_end_open",
                condition=models.Q(closed_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.text
