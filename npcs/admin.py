"""Admin of NPCs and of the disposition ledger. Entries are added and ruled on, never changed."""

from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline

from episodes.admin import ReadOnlyAdmin
from knowledge.graph.upsert import lock_graph
from npcs import dispositions
from npcs.change_states import state_of
from npcs.dispositions import day_reached
from npcs.field_links import FIELDS_WITH_ENTRY, unlinked_names
from npcs.links import claims_of_npc
from npcs.models import NPC, Disposition, DispositionChange, Secret
from npcs.profiles import present_disposition
from npcs.trash import trash_npcs
from npcs.upsert import restore_npc, store_npc
from retrieval.errors import Problem
from worlds.admin_forms import ExactFields
from worlds.admin_history import VersionHistory
from worlds.admin_scoping import WorldScoped
from worlds.admin_texts import EditorTexts

SCORE_FIELDS = {"base", "half_life"}
"""Fields from which every disposition of the NPC is computed."""


class SecretInline(ExactFields, TabularInline):
    model = Secret
    fields = ["position", "text", "visibility"]
    extra = 0
    tab = True


@admin.register(NPC)
class NPCAdmin(EditorTexts, WorldScoped, VersionHistory, ModelAdmin):
    editor_texts = {"summary", "voice"}
    list_per_page = 20
    list_select_related = ["world"]
    list_display = ["name", "role", "faction", "home", "world", "visibility"]
    list_filter = ["world", "visibility", "faction"]
    search_fields = ["name", "slug", "aliases", "role"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world"]
    raw_id_fields = ["faction_lore", "home_lore", "biography"]
    history_list_display = ["version"]
    inlines = [SecretInline]

    def get_readonly_fields(self, request: HttpRequest, obj: NPC | None = None) -> Any:
        """World and slug are the identity of the NPC: engines and the graph refer to it by them."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "world", "slug"] if obj else fields

    def get_prepopulated_fields(self, request: HttpRequest, obj: NPC | None = None) -> Any:
        return {} if obj else super().get_prepopulated_fields(request, obj)

    def lock_before_row(self, row: NPC) -> None:
        lock_graph(row.world)

    def save_model(self, request: HttpRequest, obj: NPC, form: Any, change: bool) -> None:
        for name in set(FIELDS_WITH_ENTRY) & set(form.changed_data):
            if f"{name}_lore" not in form.changed_data:
                # The entry of the old name: that of the new one is found when the NPC is stored.
                setattr(obj, f"{name}_lore", None)
        store_npc(obj)
        if not change or {"name", "aliases"} & set(form.changed_data):
            for claim in claims_of_npc(obj):
                messages.warning(request, claim.html)
        for text in unlinked_names(obj, form.changed_data):
            messages.warning(request, text)
        if change and SCORE_FIELDS & set(form.changed_data):
            dispositions.recompute_all_parties(obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        has_new_secrets = any(formset.has_changed() for formset in formsets)
        # Changed fields have made the version already.
        if change and has_new_secrets and not form.has_changed():
            store_npc(form.instance, has_new_secrets=True)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for secret in formset.save(commit=False):
            secret.world_id = form.instance.world_id
        super().save_formset(request, form, formset, change)

    def restore_version(self, request: HttpRequest, obj: NPC, record: NPC, reason: str) -> str:
        return restore_npc(obj, record, reason=reason)

    def delete_model(self, request: HttpRequest, obj: NPC) -> None:
        trash_npcs([obj], by=request.user.get_username())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[NPC]) -> None:
        for _world, npcs in groupby(queryset.order_by("world"), key=attrgetter("world_id")):
            trash_npcs(list(npcs), by=request.user.get_username())


class OfLiveNPCs(WorldScoped):
    """What belongs to NPCs, without those in the trash."""

    world_path = "npc__world"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(npc__deleted_at=None)


class RulingForm(ActionForm):
    """The action form with the reason of a ruling."""

    reason = forms.CharField(label=_("reason"), required=False, max_length=2000)


@admin.register(DispositionChange)
class DispositionChangeAdmin(OfLiveNPCs, ModelAdmin):
    """Adding an entry is a correction; the actions write rulings."""

    list_per_page = 20

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
        return "" if entry.about_id else state_of(entry)

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

    @admin.action(description=_("Approve and apply"), permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "approve")

    @admin.action(description=_("Reject and do not apply"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "reject")

    @admin.action(description=_("Reverse the change"), permissions=["change"])
    def reverse(self, request: HttpRequest, queryset: QuerySet[DispositionChange]) -> None:
        self.write_rulings(request, queryset, "reverse")

    @admin.action(description=_("Restore reversed or rejected changes"), permissions=["change"])
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
            messages.success(request, gettext("Rulings recorded: %(count)s.") % {"count": count})


@admin.register(Disposition)
class DispositionAdmin(ReadOnlyAdmin, OfLiveNPCs, ModelAdmin):
    """Computed from the ledger, so read-only."""

    list_per_page = 20

    list_display = ["npc", "party", "present", "label", "trend", "changes", "pending", "updated_at"]
    list_filter = ["npc__world", "party"]
    search_fields = ["npc__name", "party__name"]
    list_select_related = ["npc", "party", "last_change"]
    ordering = ["-score"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.annotate(today=day_reached("party"))  # type: ignore[no-any-return]

    @admin.display(description=_("score"), ordering="score")
    def present(self, row: Any) -> float:
        return present_disposition(row, today=row.today).score

    @admin.display(description=_("label"))
    def label(self, row: Any) -> str:
        return str(present_disposition(row, today=row.today).label)
