"""Admin of worlds, the people at the table, keys, the reveal log and the audit."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm, MultipleChoiceField
from django.forms.widgets import CheckboxSelectMultiple
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline

from retrieval.errors import Invalid
from worlds import keys, reveals
from worlds.admin_scoping import WorldScoped
from worlds.audiences import Audience
from worlds.erasure import permanent_deletion
from worlds.models import (
    ApiKey,
    AuditedCall,
    Campaign,
    GameSystem,
    Membership,
    Party,
    Reveal,
    World,
)


@admin.register(GameSystem)
class GameSystemAdmin(ModelAdmin):
    list_display = ["name", "slug"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}


class DeletesLedgers:
    """Deleting it takes along what is otherwise append-only: the ledgers that hang on it."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Nobody may delete a row of a ledger by itself; with the whole it goes."""
        deleted, counts, _needed, protected = super().get_deleted_objects(objs, request)  # type: ignore[misc]
        return deleted, counts, set(), protected

    def delete_model(self, _request: HttpRequest, obj: Any) -> None:
        with permanent_deletion():
            obj.delete()

    def delete_queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with permanent_deletion():
            queryset.delete()


class MembershipInline(TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ["user", "party"]
    tab = True


class CampaignInline(TabularInline):
    model = Campaign
    extra = 0
    prepopulated_fields = {"slug": ["name"]}
    show_change_link = True
    tab = True


@admin.register(World)
class WorldAdmin(DeletesLedgers, WorldScoped, ModelAdmin):
    world_path = "pk"
    list_display = ["name", "slug", "system", "language"]
    list_filter = ["system"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["system"]
    inlines = [CampaignInline, MembershipInline]


@admin.register(Campaign)
class CampaignAdmin(DeletesLedgers, WorldScoped, ModelAdmin):
    list_display = ["name", "slug", "world"]
    list_filter = ["world"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world"]


@admin.register(Party)
class PartyAdmin(DeletesLedgers, WorldScoped, ModelAdmin):
    list_display = ["name", "slug", "campaign", "world"]
    list_filter = ["world", "campaign"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world", "campaign"]


class ApiKeyForm(ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    scopes = MultipleChoiceField(
        label=_("scopes"),
        choices=[(scope, scope) for scope in keys.Scope],
        widget=CheckboxSelectMultiple,
        initial=[keys.Scope.TOOLS_READ],
    )

    class Meta:
        model = ApiKey
        fields = [
            "name",
            "world",
            "campaign",
            "scopes",
            "audience",
            "namespace",
            "calls_per_minute",
            "expires_at",
        ]

    def clean_audience(self) -> str:
        try:
            return str(Audience.parse(self.cleaned_data["audience"]))
        except Invalid as problem:
            self.add_error("audience", str(problem))
            return ""


@admin.register(ApiKey)
class ApiKeyAdmin(WorldScoped, ModelAdmin):
    """A key's text is shown once, in the message after it was made. Keys are revoked, not deleted,
    so that the audit keeps their name."""

    form = ApiKeyForm
    list_display = [
        "name",
        "prefix",
        "world",
        "audience",
        "scopes",
        "last_used_at",
        "expires_at",
        "state",
    ]
    list_filter = ["world"]
    search_fields = ["name", "prefix"]
    autocomplete_fields = ["world", "campaign"]
    readonly_fields = ["prefix", "created_at", "last_used_at", "revoked_at"]
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        own = [*ApiKeyForm.Meta.fields]
        return [*own, *self.readonly_fields] if obj else own

    @admin.display(description=_("state"))
    def state(self, key: ApiKey) -> str:
        return (
            gettext("revoked")
            if key.revoked_at
            else gettext("valid")
            if keys.is_valid(key)
            else gettext("expired")
        )

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        text = keys.mint(obj)
        super().save_model(request, obj, form, change)
        messages.warning(
            request, gettext("Copy the key now, it is not shown again: %(key)s") % {"key": text}
        )

    @admin.action(description=_("Revoke the selected keys"))
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        for key in chosen:
            keys.revoke(key)
        messages.success(request, gettext("Revoked: they open nothing any more."))

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False


class ReadOnly:
    """What the site itself writes: looked at, not edited."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Reveal)
class RevealAdmin(ReadOnly, WorldScoped, ModelAdmin):
    list_display = [
        "created_at",
        "audience",
        "subject_kind",
        "subject_id",
        "episode_ref",
        "in_world_label",
        "undone_at",
    ]
    list_filter = ["world", "subject_kind", "audience"]
    search_fields = ["audience", "episode_ref", "note"]
    date_hierarchy = "created_at"
    actions = ["undo"]

    def has_undo_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("worlds.change_reveal")

    @admin.action(description=_("Undo the selected reveals"), permissions=["undo"])
    def undo(self, request: HttpRequest, chosen: QuerySet[Reveal]) -> None:
        standing = chosen.filter(undone_at=None).select_related("world")
        for entry in standing:
            reveals.undo_reveal(entry)
        messages.success(request, gettext("Undone: those audiences no longer find them."))


@admin.register(AuditedCall)
class AuditedCallAdmin(ReadOnly, WorldScoped, ModelAdmin):
    list_display = [
        "at",
        "tool",
        "door",
        "audience",
        "key",
        "status",
        "code",
        "returned_rows",
        "milliseconds",
        "request_id",
    ]
    list_filter = ["world", "door", "tool", "status"]
    search_fields = ["request_id", "audience", "tool"]
    date_hierarchy = "at"
    ordering = ["-at"]
    list_select_related = ["key"]
    show_full_result_count = False

    @admin.display(description=_("rows"))
    def returned_rows(self, call: AuditedCall) -> int:
        return len(call.returned)
