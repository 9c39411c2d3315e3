"""Webhooks: the models alone. `worlds.webhooks` writes them and delivers."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7


class Webhook(models.Model):
    """An address that is told of the events of a world. Audience, campaign and format stay as they
    were made: deliveries that wait were written for them."""

    class Format(models.TextChoices):
        STANDARD = "standard", _("Standard Webhooks (JSON, signed)")
        DISCORD = "discord", _("Discord (a message in a channel)")

    class Disabled(models.TextChoices):
        BY_HAND = "by_hand", _("disabled by hand")
        GONE = "gone", _("the target answered 410 Gone")
        FAILING = "failing", _("no delivery succeeded for days")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey("worlds.World", models.CASCADE, related_name="webhooks")
    campaign = models.ForeignKey(
        "worlds.Campaign",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("Empty: events of all campaigns."),
    )
    name = models.CharField(_("name"), max_length=120)
    url = models.CharField(_("address"), max_length=2000, help_text=_("Begins with https://"))
    audience = models.CharField(
        _("audience"),
        max_length=120,
        help_text=_(
            "Whose knowledge the events tell: gm, public, a party (party:lanternbearers), "
            "a character (character:nuri) or an NPC (npc:mira-voss)."
        ),
    )
    kinds = models.JSONField(
        _("kinds"), default=list, blank=True, help_text=_("None chosen: events of all kinds.")
    )
    format = models.CharField(_("format"), max_length=10, choices=Format, default=Format.STANDARD)
    # Encrypted (`worlds.webhooks.secret`).
    secret = models.TextField(editable=False)
    previous_secret = models.TextField(blank=True, default="", editable=False)
    previous_secret_until = models.DateTimeField(null=True, editable=False)
    disabled = models.CharField(
        _("disabled because"), max_length=10, choices=Disabled, blank=True, editable=False
    )
    disabled_at = models.DateTimeField(_("disabled at"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")

    def __str__(self) -> str:
        return self.name


class WebhookProgress(models.Model):
    """How far a webhook's deliveries have come. Apart from the webhook, because a form that saves
    the webhook must not set it back."""

    webhook = models.OneToOneField(
        Webhook, models.CASCADE, primary_key=True, related_name="progress"
    )
    position = models.BigIntegerField(default=0)
    """That of the last event of the log that was delivered or passed over."""
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(_("next attempt"), null=True)
    failing_since = models.DateTimeField(_("failing since"), null=True)
    last_success_at = models.DateTimeField(_("last success"), null=True)

    def __str__(self) -> str:
        return f"{self.webhook_id} {self.position}"


class WebhookDelivery(models.Model):
    """One message to a webhook, with its attempts."""

    class State(models.TextChoices):
        RETRYING = "retrying", _("Is tried again")
        DELIVERED = "delivered", _("Delivered")
        DEAD = "dead", _("Given up")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    # Empty for a test. No constraint: events are deleted sooner or later than deliveries.
    event_id = models.UUIDField(_("event"), null=True)
    message_id = models.CharField(_("message id"), max_length=64)
    type = models.CharField(_("type"), max_length=40)
    body = models.TextField(_("body"))
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.RETRYING)
    attempts = models.JSONField(_("attempts"), default=list)
    """The last attempts, each `{at, status, milliseconds, error, answer}`."""
    attempt_count = models.PositiveIntegerField(_("attempts"), default=0)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last attempt"), auto_now=True)
    give_up_after = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("delivery of a webhook")
        verbose_name_plural = _("deliveries of webhooks")
        indexes = [
            models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
            models.Index(fields=["updated_at"], name="delivery_updated"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="delivery_once_per_event")
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.message_id}"
