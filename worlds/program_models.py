"""What programs use a world with: their keys, and what is recorded of their calls."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7


class ApiKey(models.Model):
    """A program's access to one world. Only a hash of the secret is stored; `m37_<prefix>_<secret>`
    is shown once.

    A key without a world is an installation key: it creates and deletes worlds, and asks in any of
    them by naming it in the header `X-World`. `origins` are the web pages (`https://host[:port]`)
    whose scripts may use the key; programs that are no browser send no origin."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=120)
    prefix = models.CharField(_("prefix"), max_length=12, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    world = models.ForeignKey(
        "worlds.World",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        help_text=_("Empty: the key is for the whole installation; it needs the scope admin."),
    )
    campaign = models.ForeignKey(
        "worlds.Campaign", models.CASCADE, null=True, blank=True, related_name="api_keys"
    )
    scopes = models.JSONField(_("scopes"), default=list)
    audience = models.CharField(
        _("audience cap"),
        max_length=120,
        default="public",
        help_text=_(
            "Whom the key may ask for at most: gm, public, a party (party:lanternbearers), "
            "a character (character:nuri) or an NPC (npc:mira-voss)."
        ),
    )
    namespace = models.CharField(_("agent namespace"), max_length=120, blank=True, default="")
    origins = models.JSONField(
        _("web origins"),
        default=list,
        blank=True,
        help_text=_(
            "Web pages whose scripts may use the key, such as https://table.example.org. "
            "Visitors of a page can read its key, so it must not see secrets or write."
        ),
    )
    calls_per_minute = models.PositiveIntegerField(_("calls per minute"), default=600)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(world__isnull=False)
                | models.Q(audience="gm", scopes__contains=["admin"]),
                name="api_key_of_installation_is_admin",
                violation_error_message=_(
                    "Choose a world. Only a key with the audience gm and the scope admin may be "
                    "for the whole installation."
                ),
            ),
        ]

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

    def __str__(self) -> str:
        return f"{self.tool} {self.minute:%Y-%m-%d %H:%M}"


class AuditedCall(models.Model):
    """One call over any interface: who asked what for which audience, and which rows the answer
    held."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField(_("time"))
    world = models.ForeignKey("worlds.World", models.CASCADE, related_name="+")
    key = models.ForeignKey(
        ApiKey, models.SET_NULL, null=True, related_name="+", verbose_name=_("key")
    )
    door = models.CharField(_("interface"), max_length=16)
    tool = models.CharField(_("tool"), max_length=80)
    audience = models.CharField(_("audience"), max_length=120)
    request_id = models.CharField(_("request id"), max_length=64)
    asked = models.JSONField(_("query"), default=dict)
    returned = models.JSONField(_("returned ids"), default=list)
    degraded = models.JSONField(_("unavailable parts"), default=list)
    status = models.PositiveSmallIntegerField(_("status"))
    code = models.CharField(_("code"), max_length=60, blank=True, default="")
    milliseconds = models.FloatField(_("milliseconds"))

    class Meta:
        verbose_name = _("audited call")
        verbose_name_plural = _("audited calls")
        indexes = [models.Index(fields=["world", "-at"], name="audited_call_world_at")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.tool} ({self.audience})"


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

    def __str__(self) -> str:
        return self.token
