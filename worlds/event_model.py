"""The event log of a world: the model alone. `worlds.event_log` writes and reads it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

EDITED_KINDS = ("lore", "npc", "rule")
"""Kinds of events that tell of what people write."""


class Event(models.Model):
    """One change of one row, written by a trigger in the transaction of the change.

    `position` orders the events of a world as their transactions were committed. It is set at the
    commit, under a lock of the world: when a reader sees a position, all smaller ones of that world
    are there. It is null in the writing transaction alone.

    Who may know of the event depends on the row before and after the change: `was_*` and
    `visibility` with `known_to`. An empty visibility means that there was (or is) no row.
    `seen_change` tells whether players can see what was changed: of a change of secret parts they
    must not even learn that there was one.
    """

    class Action(models.TextChoices):
        CREATED = "created", _("Created")
        CHANGED = "changed", _("Changed")
        DELETED = "deleted", _("Deleted")

    # The database makes the id. It is random: a number would tell readers how much they do not see.
    id = models.UUIDField(primary_key=True, editable=False)
    position = models.BigIntegerField(null=True, editable=False)
    # No constraint: events outlast the deletion of the world within its transaction.
    world = models.ForeignKey(
        "worlds.World", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    campaign_id = models.UUIDField(null=True, editable=False)
    at = models.DateTimeField()
    kind = models.CharField(max_length=20)
    action = models.CharField(max_length=8, choices=Action)
    row_id = models.CharField(max_length=40)
    ref = models.CharField(max_length=200)
    version = models.PositiveIntegerField(null=True)
    visibility = models.CharField(max_length=10, blank=True)
    known_to = models.JSONField(default=list)
    was_visibility = models.CharField(max_length=10, blank=True)
    was_known_to = models.JSONField(default=list)
    seen_change = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        indexes = [
            models.Index(fields=["world", "position"], name="event_of_world_position"),
            models.Index(fields=["at"], name="event_at"),
            # What people wrote since a day; play makes a hundred times as many events.
            models.Index(
                fields=["world", "at"],
                condition=models.Q(kind__in=EDITED_KINDS),
                name="event_of_edits",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref} {self.action}"
