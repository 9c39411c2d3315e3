"""Worlds, campaigns, parties, the people at the table, and the keys of programs."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7


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
    """A set of rules that several worlds may share."""

    class Meta:
        verbose_name = _("game system")
        verbose_name_plural = _("game systems")
        constraints = [models.UniqueConstraint(fields=["slug"], name="game_system_slug")]


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


class Campaign(Named):
    world = models.ForeignKey(World, models.CASCADE, related_name="campaigns")

    class Meta:
        verbose_name = _("campaign")
        verbose_name_plural = _("campaigns")
        constraints = [
            models.UniqueConstraint(fields=["world", "slug"], name="campaign_slug_in_world")
        ]


class Party(Named):
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


class Membership(models.Model):
    """What a site user is in a world: row scoping in the admin and on the pages follows it."""

    class Role(models.TextChoices):
        DESIGNER = "designer", _("Designer")
        GM = "gm", _("Game master")
        PLAYER = "player", _("Player")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    world = models.ForeignKey(World, models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=16, choices=Role)
    party = models.ForeignKey(
        Party, models.CASCADE, null=True, blank=True, related_name="memberships"
    )

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [
            models.UniqueConstraint(fields=["user", "world"], name="membership_user_world"),
            models.CheckConstraint(
                condition=models.Q(party__isnull=True) | models.Q(role="player"),
                name="membership_party_is_for_players",
            ),
        ]


GM_ROLES = (Membership.Role.DESIGNER, Membership.Role.GM)
"""The roles that see and edit everything in their world."""


class ApiKey(models.Model):
    """A program's access to one world. Only a hash of the secret is stored; `m37_<prefix>_<secret>`
    is shown once."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=120)
    prefix = models.CharField(_("prefix"), max_length=12, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="api_keys")
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="api_keys"
    )
    scopes = models.JSONField(_("scopes"), default=list)
    audience = models.CharField(
        _("audience cap"),
        max_length=80,
        default="public",
        help_text=_("gm, party:<slug>, npc:<slug> or public."),
    )
    namespace = models.CharField(_("agent namespace"), max_length=120, blank=True, default="")
    calls_per_minute = models.PositiveIntegerField(_("calls per minute"), default=600)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"


class CallCount(models.Model):
    """How often a key called a tool in the current minute (`worlds.callers`). Unlogged: derived and
    short-lived."""

    pk = models.CompositePrimaryKey("key_id", "tool")
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="+")
    tool = models.CharField(max_length=80)
    minute = models.DateTimeField()
    calls = models.PositiveIntegerField()


class AuditedCall(models.Model):
    """One call over any interface: who asked what for which audience, and which rows the answer
    held."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField(_("at"))
    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    key = models.ForeignKey(
        ApiKey, models.SET_NULL, null=True, related_name="+", verbose_name=_("key")
    )
    door = models.CharField(_("door"), max_length=16)
    tool = models.CharField(_("tool"), max_length=80)
    audience = models.CharField(_("audience"), max_length=120)
    request_id = models.CharField(_("request id"), max_length=64)
    asked = models.JSONField(_("asked"), default=dict)
    returned = models.JSONField(_("returned ids"), default=list)
    degraded = models.JSONField(_("degraded"), default=list)
    status = models.PositiveSmallIntegerField(_("status"))
    code = models.CharField(_("code"), max_length=60, blank=True, default="")
    milliseconds = models.FloatField(_("milliseconds"))

    class Meta:
        verbose_name = _("audited call")
        verbose_name_plural = _("audited calls")
        indexes = [models.Index(fields=["world", "-at"], name="audited_call_world_at")]


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
    by = models.CharField(_("by"), max_length=160, blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    undone_at = models.DateTimeField(_("undone"), null=True, blank=True, editable=False)

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


class IdempotentWrite(models.Model):
    """The stored answer of a write, replayed for a day when the same `Idempotency-Key` comes
    again.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="+")
    token = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(default=b"")
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "token"], name="idempotency_key_of_api_key")
        ]
