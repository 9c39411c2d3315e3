"""Admin of NPCs and of the disposition ledger. Entries are added and ruled on, never changed."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin, TabularInline

from episodes.admin import ReadOnlyAdmin
from npcs import dispositions
from npcs.models import NPC, Disposition, DispositionChange, Secret
from npcs.score import label_of
from retrieval.errors import Problem
from worlds.admin_scoping import WorldScoped
from worlds.erasure import permanent_deletion

SCORE_FIELDS = {"base", "half_life"}
"""Fields from which every disposition of the NPC is computed."""


class SecretInline(TabularInline):
    model = Secret
    fields = ["position", "text", "visibility"]
    extra = 0
    tab = True


@admin.register(NPC)
class NPCAdmin(WorldScoped, SimpleHistoryAdmin, ModelAdmin):
    list_display = ["name", "role", "faction", "home", "world", "visibility"]
    list_filter = ["world", "visibility", "faction"]
    search_fields = ["name", "slug", "aliases", "role"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world"]
    raw_id_fields = ["faction_lore", "home_lore", "biography"]
    inlines = [SecretInline]

    def save_model(self, request: HttpRequest, obj: NPC, form: Any, change: bool) -> None:
        obj.version += int(change)
        super().save_model(request, obj, form, change)
        if change and SCORE_FIELDS & set(form.changed_data):
            dispositions.recompute_all_parties(obj)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for secret in formset.save(commit=False):
            secret.world_id = form.instance.world_id
        super().save_formset(request, form, formset, change)

    def delete_model(self, _request: HttpRequest, obj: NPC) -> None:
        with permanent_deletion():
            obj.delete()

    def delete_queryset(self, _request: HttpRequest, queryset: QuerySet[NPC]) -> None:
        with permanent_deletion():
            queryset.delete()


class RulingForm(ActionForm):
    """The action form with the reason of a ruling."""

    reason = forms.CharField(label=_("reason"), required=False, max_length=2000)


@admin.register(DispositionChange)
class DispositionChangeAdmin(WorldScoped, ModelAdmin):
    """Adding an entry is a correction; the actions write rulings."""

    world_path = "npc__world"
    list_display = [
        "id",
        "npc",
        "party",
        "kind",
        "axis",
        "delta",
        "reason",
        "state",
        "episode",
        "made_by",
        "created_at",
    ]
    list_filter = ["npc__world", "party", "kind", "axis", "held"]
    search_fields = ["npc__name", "reason", "episode__external_id"]
    list_select_related = ["npc", "party", "episode", "about"]
    autocomplete_fields = ["npc", "party"]
    fields = ["npc", "party", "axis", "delta", "reason"]
    action_form = RulingForm
    actions = ["approve", "reject", "reverse", "restore"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[DispositionChange]:
        rows: Any = super().get_queryset(request)
        return DispositionChange.objects.filter(pk__in=rows.values("pk")).with_ruling()

    @admin.display(description=_("state"))
    def state(self, entry: Any) -> str:
        return "" if entry.about_id else dispositions.state_of(entry)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allowed only as part of deleting the NPC, on whose page this check also runs."""
        return obj is not None and f"/{self.opts.model_name}/" not in request.path

    def save_model(
        self, request: HttpRequest, obj: DispositionChange, form: Any, change: bool
    ) -> None:
        author = request.user.get_username()
        entry = dispositions.correct(
            obj.npc, obj.party, by=obj.delta, axis=obj.axis, reason=obj.reason, made_by=author
        )
        obj.pk = entry.pk

    @admin.action(description=_("Approve: let it count"), permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "approve")

    @admin.action(description=_("Reject: never let it count"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "reject")

    @admin.action(description=_("Reverse: as if it had not been"), permissions=["change"])
    def reverse(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "reverse")

    @admin.action(description=_("Restore what was reversed or rejected"), permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "restore")

    def write_rulings(
        self, request: HttpRequest, queryset: QuerySet[DispositionChange], verdict: str
    ) -> None:
        reason, author = request.POST.get("reason", ""), request.user.get_username()
        count = 0
        for entry in queryset.select_related("party"):
            try:
                dispositions.VERDICTS[verdict](entry, reason=reason, made_by=author)
                count += 1
            except Problem as problem:
                messages.error(request, f"{entry.pk}: {problem.detail}")
        if count:
            messages.success(request, gettext("Rulings written: %(count)s.") % {"count": count})


@admin.register(Disposition)
class DispositionAdmin(ReadOnlyAdmin, WorldScoped, ModelAdmin):
    """Computed from the ledger, so read-only."""

    world_path = "npc__world"
    list_display = ["npc", "party", "score", "label", "trend", "changes", "pending", "updated_at"]
    list_filter = ["npc__world", "party"]
    search_fields = ["npc__name", "party__name"]
    list_select_related = ["npc", "party"]
    ordering = ["-score"]

    @admin.display(description=_("label"))
    def label(self, row: Disposition) -> str:
        return str(label_of(row.score))
