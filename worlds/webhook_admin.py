"""Admin of webhooks: made and changed in a form, tried by a button, with the log of deliveries."""

from typing import Any, get_args
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import MultipleChoiceField
from django.forms.widgets import CheckboxSelectMultiple
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action

from retrieval.errors import Problem
from worlds.admin_scoping import WorldScoped
from worlds.audiences import Audience
from worlds.exact_forms import ExactModelForm
from worlds.schemas import EventKind
from worlds.webhook_model import Webhook, WebhookDelivery
from worlds.webhooks.attempts import disable, enable, redeliver, send_test
from worlds.webhooks.registry import require_sound_webhook, store_webhook

FIXED_FIELDS = ["world", "campaign", "audience", "format"]
"""Deliveries that wait were written for these."""


class WebhookForm(ExactModelForm):
    kinds = MultipleChoiceField(
        label=capfirst(_("kinds")),
        choices=[(kind, kind) for kind in get_args(EventKind)],
        widget=CheckboxSelectMultiple,
        required=False,
        help_text=_("None chosen: events of all kinds."),
    )

    class Meta:
        model = Webhook
        fields = ["name", "url", "kinds", *FIXED_FIELDS]

    def clean(self) -> dict[str, Any]:
        """Refuse what REST refuses."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            if "audience" in cleaned:
                cleaned["audience"] = str(Audience.parse(cleaned["audience"]))
            world = cleaned.get("world", self.instance.world if self.instance.world_id else None)
            campaign = cleaned.get("campaign")
            if campaign and campaign.world != world:
                self.add_error("campaign", _("This campaign belongs to another world."))
            probe = Webhook(world=world, url=cleaned["url"])
            probe._state.adding = self.instance._state.adding
            require_sound_webhook(probe)
        except Problem as problem:
            self.add_error(None, str(problem))
        return cleaned


@admin.register(Webhook)
class WebhookAdmin(WorldScoped, ModelAdmin):
    """The secret is shown once, in the message after the webhook was made."""

    form = WebhookForm
    list_display = ["name", "world", "address", "audience", "state", "last_success"]
    list_filter = ["world", "disabled"]
    list_select_related = ["world", "progress"]
    search_fields = ["name", "url"]
    autocomplete_fields = ["world", "campaign"]
    readonly_fields = ["state", "last_success", "created_at"]
    actions = ["switch_on", "switch_off"]
    actions_detail = ["try_out", "open_log"]

    def get_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        own = WebhookForm.Meta.fields
        return [*own, *self.readonly_fields] if obj else own

    def get_readonly_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        return [*self.readonly_fields, *FIXED_FIELDS] if obj else self.readonly_fields

    @admin.display(description=_("address"))
    def address(self, webhook: Webhook) -> str:
        # The path of a Discord webhook is its password.
        return urlsplit(webhook.url).netloc

    @admin.display(description=_("state"))
    def state(self, webhook: Webhook) -> str:
        if webhook.disabled:
            return gettext("disabled: %(why)s") % {"why": webhook.get_disabled_display()}
        failing = webhook.progress.failing_since
        return gettext("failing since %(day)s") % {"day": failing.date()} if failing else "✓"

    @admin.display(description=_("last success"))
    def last_success(self, webhook: Webhook) -> Any:
        return webhook.progress.last_success_at

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        if change:
            obj.save(update_fields=["name", "url", "kinds", "updated_at"])
            return
        text = store_webhook(obj)
        messages.warning(
            request,
            gettext("Copy the secret now. It will not be shown again: %(secret)s")
            % {"secret": text},
        )

    @admin.action(description=_("Enable the selected webhooks"), permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Webhook]) -> None:
        for webhook in queryset:
            enable(webhook)
        messages.success(request, gettext("They go on with the event at which they stopped."))

    @admin.action(description=_("Disable the selected webhooks"), permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Webhook]) -> None:
        for webhook in queryset:
            disable(webhook, Webhook.Disabled.BY_HAND)
        messages.success(request, gettext("Nothing is sent until you enable them again."))

    def has_try_out_permission(self, request: HttpRequest, object_id: Any) -> bool:
        webhook = self.get_queryset(request).filter(pk=object_id).first()
        return webhook is not None and self.has_change_permission(request, webhook)

    @action(description=_("Send a test message"), url_path="test", permissions=["try_out"])
    def try_out(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        webhook = get_object_or_404(self.get_queryset(request), pk=object_id)
        tell_outcome(request, send_test(webhook))
        return redirect(reverse("admin:worlds_webhook_change", args=[webhook.pk]))

    @action(description=_("Log of deliveries"), url_path="log", permissions=["try_out"])
    def open_log(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        webhook = get_object_or_404(self.get_queryset(request), pk=object_id)
        log = reverse("admin:worlds_webhookdelivery_changelist")
        return redirect(f"{log}?webhook__id__exact={webhook.pk}")


def tell_outcome(request: HttpRequest, delivery: WebhookDelivery) -> None:
    last = delivery.attempts[-1]
    if 200 <= last["status"] < 300:
        text = gettext("Delivered in %(milliseconds)d ms.")
        messages.success(request, text % {"milliseconds": last["milliseconds"]})
    else:
        why = last["error"] or f"HTTP {last['status']}"
        messages.error(request, gettext("Not delivered: %(why)s") % {"why": why})


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(WorldScoped, ModelAdmin):
    """What was sent and what the target answered; kept for some weeks."""

    world_path = "webhook__world"
    list_display = ["updated_at", "webhook", "type", "state", "attempt_count", "last_answer"]
    list_filter = ["webhook", "state"]
    list_select_related = ["webhook"]
    search_fields = ["message_id", "type"]
    ordering = ["-id"]
    actions = ["send_again"]

    @admin.display(description=_("last answer"))
    def last_answer(self, delivery: WebhookDelivery) -> str:
        last = delivery.attempts[-1] if delivery.attempts else {}
        return str(last.get("error") or last.get("status") or "")

    def has_send_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("worlds.change_webhook")

    @admin.action(description=_("Send the selected messages again"), permissions=["send_again"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        for delivery in queryset.select_related("webhook__world"):
            try:
                tell_outcome(request, redeliver(delivery.webhook, delivery))
            except Problem as problem:
                messages.error(request, str(problem))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
