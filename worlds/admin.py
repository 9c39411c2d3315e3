"""Admin of worlds, the people at the table, keys, the reveal log and the audit."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.forms import MultipleChoiceField
from django.forms.widgets import CheckboxSelectMultiple
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline

from retrieval.errors import Invalid
from worlds import invitations, keys, reveals
from worlds.admin_forms import ExactFields, ExactForms
from worlds.admin_scoping import WorldScoped, administered_worlds, in_administered_worlds
from worlds.audiences import Audience
from worlds.character_admin import CharacterAdmin
from worlds.characters import lock_parties, set_members, write_members
from worlds.erasure import permanent_deletion
from worlds.exact_forms import ExactModelForm
from worlds.models import (
    ApiKey,
    AuditedCall,
    Campaign,
    GameSystem,
    Invitation,
    Membership,
    Party,
    Reveal,
    World,
)
from worlds.roles import is_operator, may_administer_by_key
from worlds.versions import lock_row
from worlds.webhook_admin import WebhookAdmin, WebhookDeliveryAdmin

# Registered by their modules.
__all__ = ["CharacterAdmin", "WebhookAdmin", "WebhookDeliveryAdmin"]


@admin.register(GameSystem)
class GameSystemAdmin(ExactForms, ModelAdmin):
    list_display = ["name", "edition", "slug"]
    ordering = ["name", "pk"]
    search_fields = ["name", "edition", "slug"]
    prepopulated_fields = {"slug": ["name", "edition"]}


class DeletesLedgers:
    """Deleting it takes along what is otherwise append-only: the ledgers that hang on it."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Nobody may delete a row of a ledger by itself; with the whole it goes."""
        deleted, counts, _needed, protected = super().get_deleted_objects(objs, request)  # type: ignore[misc]
        return deleted, counts, set(), protected

    # The rows are locked first: what others write meanwhile would refer to a row that is gone.

    def delete_model(self, _request: HttpRequest, obj: Any) -> None:
        with permanent_deletion():
            lock_row(obj)
            obj.delete()

    def delete_queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with permanent_deletion():
            rows = queryset.model._base_manager.filter(pk__in=queryset.values("pk"))
            list(rows.select_for_update(of=("self",)).order_by("pk"))
            queryset.delete()


class MembershipInline(ExactFields, TabularInline):
    """For operators; designers and game masters have the page "People" of their world."""

    model = Membership
    extra = 0
    fields = ["user", "role"]
    autocomplete_fields = ["user"]
    tab = True


class CampaignInline(ExactFields, TabularInline):
    model = Campaign
    extra = 0
    prepopulated_fields = {"slug": ["name"]}
    show_change_link = True
    tab = True


@admin.register(World)
class WorldAdmin(DeletesLedgers, WorldScoped, ModelAdmin):
    world_path = "pk"
    open_to_operators = True
    list_display = ["name", "slug", "system", "language"]
    ordering = ["name", "pk"]
    list_filter = ["system"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["system"]
    inlines = [CampaignInline, MembershipInline]

    def save_model(self, request: HttpRequest, obj: World, form: Any, change: bool) -> None:
        """A designer leads the world that they make, and could not see it otherwise."""
        super().save_model(request, obj, form, change)
        if not change and not is_operator(request.user):
            assert isinstance(request.user, User)
            Membership.objects.create(user=request.user, world=obj, role=Membership.Role.DESIGNER)


@admin.register(Campaign)
class CampaignAdmin(DeletesLedgers, WorldScoped, ModelAdmin):
    list_display = ["name", "slug", "world"]
    list_filter = ["world"]
    ordering = ["name", "pk"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world"]


@admin.register(Party)
class PartyAdmin(DeletesLedgers, WorldScoped, ModelAdmin):
    list_display = ["name", "slug", "campaign", "world"]
    list_filter = ["world", "campaign"]
    ordering = ["name", "pk"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world", "campaign"]
    text_lists = {"members"}

    def save_model(self, request: HttpRequest, obj: Party, form: Any, change: bool) -> None:
        lock_parties(obj.world_id)
        names = list(obj.members)
        super().save_model(request, obj, form, change)
        if "members" in form.changed_data:
            set_members(obj, names)
        else:
            write_members(obj)


KEY_RULE_FIELDS = ("world", "audience", "scopes", "origins")
RIGHTS_OF_KEYS = ("world", "campaign", "scopes", "audience", "namespace", "origins")


class ApiKeyForm(ExactModelForm):
    user: ClassVar[Any] = None
    """Who fills in the form; `ApiKeyAdmin` sets it on the class of each request."""
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
            "origins",
            "calls_per_minute",
            "expires_at",
        ]

    def clean(self) -> dict[str, Any]:
        """Refuse what `create_key` refuses."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                # What the user may not change is not in the form: as it is stored.
                values = {
                    name: cleaned.get(name, getattr(self.instance, name))
                    for name in KEY_RULE_FIELDS
                }
                keys.require_sound_key(ApiKey(**values))
            except Invalid as problem:
                self.add_error(None, str(problem))
            self.require_designer(cleaned)
        return cleaned

    def require_designer(self, cleaned: dict[str, Any]) -> None:
        """Let designers alone make a key that administers a world, or change its rights."""
        if keys.Scope.ADMIN not in cleaned.get("scopes", ()):
            return
        is_widened = any(name in RIGHTS_OF_KEYS for name in self.changed_data)
        if is_widened and not may_administer_by_key(self.user, cleaned.get("world")):
            self.add_error(
                "scopes", _("Only a designer of the world makes a key that administers it.")
            )

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
    open_to_operators = True
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
    text_lists = {"origins"}
    readonly_fields = ["prefix", "created_at", "last_used_at", "revoked_at"]
    actions = ["revoke"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Keys of the installation are for superusers and operators alone."""
        rows = super().get_queryset(request)
        may_see_all = request.user.is_superuser or is_operator(request.user)
        return rows if may_see_all else rows.exclude(world=None)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        own = [*ApiKeyForm.Meta.fields]
        return [*own, *self.readonly_fields] if obj else own

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """An operator who is no member of the world limits and ends keys. More scopes or another
        audience would open the world to whoever holds the key."""
        if obj is None or (
            obj.world and administered_worlds(request.user).filter(pk=obj.world.pk).exists()
        ):
            return self.readonly_fields
        return [*self.readonly_fields, *RIGHTS_OF_KEYS]

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, *args, **kwargs)
        form.user = request.user
        return form

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """A key is made for a world that the user is a designer or game master of."""
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None:
            worlds = administered_worlds(request.user)
            field.queryset = in_administered_worlds(field.queryset, worlds, self.admin_site)
        return field

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
            request,
            gettext("Copy the key now. It will not be shown again: %(key)s") % {"key": text},
        )

    @admin.action(description=_("Revoke the selected keys"))
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            keys.revoke(key)
        messages.success(request, gettext("The selected keys were revoked and no longer work."))

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False


@admin.register(Membership)
class MembershipAdmin(WorldScoped, ModelAdmin):
    """Every membership of the installation, for operators."""

    open_to_operators = True
    list_display = ["user", "role", "world", "party", "character"]
    list_filter = ["role", "world"]
    list_select_related = ["user", "world", "party", "character"]
    search_fields = ["user__username", "world__name"]
    autocomplete_fields = ["user", "world", "party", "character"]

    def get_fields(self, request: HttpRequest, obj: Membership | None = None) -> Any:
        fields = ["user", "role", "world"]
        # Which parties and characters there are is the world's own affair.
        may_see = request.user.has_perm("worlds.view_party")
        return [*fields, "party", "character"] if may_see else fields

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        if obj.character:
            obj.party = obj.character.party
        super().save_model(request, obj, form, change)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and db_field.name == "world":
            field.required = False  # an operator has none; the constraint asks for the others'
        return field


@admin.register(Invitation)
class InvitationAdmin(WorldScoped, ModelAdmin):
    """Looked at and revoked; made on the page "People" of a world, which shows the link."""

    open_to_operators = True
    list_display = ["world", "role", "note", "invited_by", "use_count", "expires_at", "revoked_at"]
    list_filter = ["world", "role"]
    list_select_related = ["world", "invited_by"]
    search_fields = ["world__name", "note", "invited_by__username"]
    date_hierarchy = "created_at"
    actions = ["revoke"]

    @admin.display(description=_("used"))
    def use_count(self, invitation: Invitation) -> str:
        return f"{invitation.uses}/{invitation.max_uses}"

    @admin.action(description=_("Revoke the selected invitations"))
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        for invitation in queryset:
            invitations.revoke_invitation(invitation)
        messages.success(request, gettext("The selected invitations no longer work."))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
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
    def undo(self, request: HttpRequest, queryset: QuerySet[Reveal]) -> None:
        standing = queryset.filter(undone_at=None).select_related("world")
        for entry in standing:
            reveals.undo_reveal(entry)
        messages.success(
            request,
            gettext(
                "The selected reveals were undone. Those audiences can no longer find the entries."
            ),
        )


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
