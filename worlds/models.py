"""Worlds, campaigns, parties and their people; the other models of the app are imported here."""

from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

import worlds.archive_run
import worlds.calendar_model
import worlds.event_model
import worlds.webhook_model  # noqa: F401 - the app has these models
from retrieval.models import uuid7
from retrieval.text import read_fences, without_secrets
from worlds.program_models import ApiKey, AuditedCall, CallCount, IdempotentWrite

__all__ = [
    "GM_ROLES",
    "ApiKey",
    "AuditedCall",
    "CallCount",
    "Campaign",
    "Character",
    "GameSystem",
    "IdempotentWrite",
    "ImportRun",
    "ImportedRow",
    "Invitation",
    "Membership",
    "Named",
    "Party",
    "Reveal",
    "World",
]


class Named(models.Model):
    """A thing with a stable readable `slug` and a display `name`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(_("slug"), max_length=80, allow_unicode=True)
    name = models.CharField(_("name"), max_length=200)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class GameSystem(Named):
    """A set of rules that several worlds may share: one edition of a game."""

    edition = models.CharField(_("edition"), max_length=80, blank=True, default="")

    class Meta:
        verbose_name = _("game system")
        verbose_name_plural = _("game systems")
        constraints = [models.UniqueConstraint(fields=["slug"], name="game_system_slug")]

    def __str__(self) -> str:
        return f"{self.name} ({self.edition})" if self.edition else self.name


FOR_ALL_MEMBERS = _(
    "Everybody in this world reads the description. Write the secret into an entry."
)


class World(Named):
    """Everything stored belongs to a world, and no query crosses that line."""

    system = models.ForeignKey(
        GameSystem, models.PROTECT, null=True, blank=True, related_name="worlds"
    )
    language = models.CharField(_("language"), max_length=8, default="en")
    description = models.TextField(_("description"), blank=True, default="")

    class Meta:
        verbose_name = _("world")
        verbose_name_plural = _("worlds")
        constraints = [models.UniqueConstraint(fields=["slug"], name="world_slug")]

    def clean(self) -> None:
        """Refuse a secret block in the description: all members read it, and all keys."""
        if read_fences(self.description):
            raise ValidationError({"description": FOR_ALL_MEMBERS})

    @property
    def open_description(self) -> str:
        """The description as it is shown. Writers refuse secret blocks in it, but a text that was
        stored before may have some."""
        return without_secrets(self.description)


class Campaign(Named):
    world = models.ForeignKey(World, models.CASCADE, related_name="campaigns")

    class Meta:
        verbose_name = _("campaign")
        verbose_name_plural = _("campaigns")
        constraints = [
            models.UniqueConstraint(fields=["world", "slug"], name="campaign_slug_in_world")
        ]


class Party(Named):
    audience_kind: ClassVar[str] = "party"

    world = models.ForeignKey(World, models.CASCADE, related_name="parties")
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="parties")
    members = models.JSONField(
        _("members"), default=list, blank=True, help_text=_("Names of the player characters.")
    )

    class Meta:
        verbose_name = _("party")
        verbose_name_plural = _("parties")
        constraints = [
            models.UniqueConstraint(fields=["world", "slug"], name="party_slug_in_world")
        ]


class Character(Named):
    """A player character. It knows what its party knows, and what was revealed to it alone; that
    stays when it leaves the party."""

    audience_kind: ClassVar[str] = "character"

    world = models.ForeignKey(World, models.CASCADE, related_name="characters")
    party = models.ForeignKey(
        Party,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="characters",
        verbose_name=_("party"),
        help_text=_("Empty: the character has left its party."),
    )
    position = models.PositiveSmallIntegerField(_("place in the party"), default=0, editable=False)

    class Meta:
        verbose_name = _("character")
        verbose_name_plural = _("characters")
        constraints = [
            models.UniqueConstraint(fields=["world", "slug"], name="character_slug_in_world")
        ]


class Membership(models.Model):
    """What a site user is in a world. The role carries the rights: what the pages and the admin
    show, and which permissions the admin asks for (`worlds.roles`).

    An operator looks after the installation (users, keys, health), not after a world: the row
    names no world and opens none.
    """

    class Role(models.TextChoices):
        DESIGNER = "designer", _("Designer")
        GM = "gm", _("Game master")
        PLAYER = "player", _("Player")
        OPERATOR = "operator", _("Operator")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    world = models.ForeignKey(
        World, models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    role = models.CharField(_("role"), max_length=16, choices=Role)
    party = models.ForeignKey(
        Party, models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    character = models.ForeignKey(
        Character,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="memberships",
        verbose_name=_("character"),
        help_text=_("Whom the player plays. The party follows the character."),
    )
    seen_at = models.DateTimeField(_("last seen"), null=True, blank=True, editable=False)
    """When the player last opened a page of players in this world."""
    new_since = models.DateTimeField(_("news since"), null=True, blank=True, editable=False)
    """When the visit before the present one ended."""

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [
            models.UniqueConstraint(fields=["user", "world"], name="membership_user_world"),
            models.UniqueConstraint(
                fields=["user"],
                condition=models.Q(world=None),
                name="membership_operator_once",
                violation_error_message=_("This user is an operator already."),
            ),
            models.CheckConstraint(
                condition=models.Q(party__isnull=True) | models.Q(role="player"),
                name="membership_party_is_for_players",
                violation_error_message=_("Only players belong to a party."),
            ),
            models.CheckConstraint(
                condition=models.Q(character__isnull=True) | models.Q(role="player"),
                name="membership_character_is_for_players",
                violation_error_message=_("Only players have a character."),
            ),
            models.CheckConstraint(
                condition=models.Q(world__isnull=True, role="operator")
                | models.Q(world__isnull=False) & ~models.Q(role="operator"),
                name="membership_operator_has_no_world",
                violation_error_message=_(
                    "An operator has no world; every other role needs a world."
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"


GM_ROLES = (Membership.Role.DESIGNER, Membership.Role.GM)
"""The roles that see and edit everything in their world."""


class Invitation(models.Model):
    """A link that makes whoever follows it a member of `world`. Only a hash of its token is stored,
    so the link is shown once."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="invitations")
    role = models.CharField(
        _("role"),
        max_length=16,
        choices=[(role.value, role.label) for role in Membership.Role if role.value != "operator"],
    )
    party = models.ForeignKey(
        Party, models.CASCADE, null=True, blank=True, related_name="invitations"
    )
    character = models.ForeignKey(
        Character,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="invitations",
        verbose_name=_("character"),
    )
    note = models.CharField(
        _("for whom"), max_length=120, blank=True, default="", help_text=_("A note for yourself.")
    )
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    max_uses = models.PositiveSmallIntegerField(_("how many people"), default=1)
    uses = models.PositiveSmallIntegerField(_("used"), default=0, editable=False)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(party__isnull=True) | models.Q(role="player"),
                name="invitation_party_is_for_players",
                violation_error_message=_("Only players belong to a party."),
            ),
            models.CheckConstraint(
                condition=models.Q(character__isnull=True) | models.Q(role="player"),
                name="invitation_character_is_for_players",
                violation_error_message=_("Only players have a character."),
            ),
            models.CheckConstraint(
                condition=models.Q(uses__lte=models.F("max_uses")),
                name="invitation_used_at_most",
            ),
        ]

    def __str__(self) -> str:
        return self.note or f"{self.world} ({self.get_role_display()})"


class Reveal(models.Model):
    """Who learned what, when, from which episode. The rows' own `known_to` follows this log
    (`worlds.reveals`)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="reveals")
    subject_kind = models.CharField(_("kind"), max_length=40)
    subject_id = models.UUIDField(_("subject"))
    audience = models.CharField(_("audience"), max_length=120)
    episode_ref = models.CharField(_("episode"), max_length=120, blank=True, default="")
    in_world_at = models.FloatField(_("in-world day"), null=True, blank=True)
    in_world_label = models.CharField(_("in-world date"), max_length=120, blank=True, default="")
    note = models.TextField(_("note"), blank=True, default="")
    by = models.CharField(_("revealed by"), max_length=160, blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    undone_at = models.DateTimeField(_("undone at"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("reveal")
        verbose_name_plural = _("reveals")
        constraints = [
            models.UniqueConstraint(
                fields=["subject_kind", "subject_id", "audience", "episode_ref"],
                condition=models.Q(undone_at=None),
                name="reveal_stands_once",
            )
        ]
        indexes = [models.Index(fields=["world", "in_world_at", "id"], name="reveal_day_of_world")]

    def __str__(self) -> str:
        return f"{self.audience}: {self.subject_kind} {self.subject_id}"


class ImportRun(models.Model):
    """One import of files into a world: the upload, the options, and the result."""

    class State(models.TextChoices):
        READING = "reading", _("Reading the files")
        READY = "ready", _("Ready to check")
        CHECKING = "checking", _("Checking")
        CHECKED = "checked", _("Checked")
        IMPORTING = "importing", _("Importing")
        DONE = "done", _("Imported")
        FAILED = "failed", _("Failed")
        UNDOING = "undoing", _("Undoing")
        UNDONE = "undone", _("Undone")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="import_runs")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    file = models.FileField(_("file"), upload_to="imports/", max_length=200, blank=True)
    file_name = models.CharField(_("file name"), max_length=200)
    options = models.JSONField(_("options"), default=dict, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.READING)
    progress = models.PositiveSmallIntegerField(_("progress, %"), default=0)
    tries = models.PositiveSmallIntegerField(_("attempts"), default=0, db_default=0)
    report = models.JSONField(_("report"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    undone_at = models.DateTimeField(_("undone at"), null=True, blank=True)

    class Meta:
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["world", "-created_at"], name="import_run_of_world")]

    def __str__(self) -> str:
        return self.file_name


class ImportedRow(models.Model):
    """What an import did to one row. `before` are the row's values before a change; `mark` is a
    digest of its values after it, so that an undo can tell what was changed since by hand."""

    class Outcome(models.TextChoices):
        CREATED = "created", _("Created")
        CHANGED = "changed", _("Changed")
        UNCHANGED = "unchanged", _("Unchanged")
        SKIPPED = "skipped", _("Skipped")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(ImportRun, models.CASCADE, related_name="rows")
    kind = models.CharField(_("kind"), max_length=20)
    row_id = models.UUIDField(_("row"), null=True)
    name = models.CharField(_("name"), max_length=200)
    slug = models.CharField(_("slug"), max_length=120, blank=True, default="")
    source = models.CharField(_("source"), max_length=400, blank=True, default="")
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome)
    before = models.JSONField(_("values before"), null=True, blank=True)
    mark = models.CharField(max_length=64, blank=True, default="")
    undone = models.BooleanField(_("undone"), default=False)

    class Meta:
        verbose_name = _("imported row")
        verbose_name_plural = _("imported rows")
        ordering = ["id"]
        indexes = [models.Index(fields=["run", "kind", "outcome"], name="imported_row_of_run")]

    def __str__(self) -> str:
        return self.name
