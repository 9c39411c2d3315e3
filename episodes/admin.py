"""Admin of sessions, scenes, episodes, threads and recaps.

An edited episode becomes its next version. A retraction withdraws its effects.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline

from episodes.erasure import erase_episode
from episodes.ingest import ingest_episode, restore_episode, retract_episode
from episodes.models import (
    Arc,
    Episode,
    EpisodeVersion,
    Scene,
    Session,
    Step,
    Thread,
)
from episodes.recap_models import Recap, RecapSentence
from episodes.schemas import EpisodeIn
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.admin_scoping import ScopedChoices, WorldScoped
from worlds.admin_texts import EditorTexts


class ReadOnlyAdmin:
    """Rows that the admin shows and does not write.

    Deleting is allowed only as part of deleting the parent row, on whose page this check also runs.
    """

    opts: Any

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return (
            obj is not None
            and f"/{self.opts.app_label}/{self.opts.model_name}/" not in request.path
        )


class SceneInline(ScopedChoices, TabularInline):
    model = Scene
    fields = ["position", "title", "external_id", "party", "place", "ended_at"]
    extra = 0
    show_change_link = True
    autocomplete_fields = ["party"]
    tab = True


@admin.register(Arc)
class ArcAdmin(WorldScoped, ModelAdmin):
    world_path = "campaign__world"
    list_display = ["title", "campaign", "position"]
    list_filter = ["campaign"]
    search_fields = ["title", "external_id"]
    autocomplete_fields = ["campaign"]


@admin.register(Session)
class SessionAdmin(WorldScoped, ModelAdmin):
    list_display = [
        "number",
        "title",
        "campaign",
        "party",
        "arc",
        "in_world_label",
        "played_at",
        "visibility",
    ]
    list_display_links = ["number", "title"]
    list_filter = ["world", "campaign", "party", "arc"]
    search_fields = ["title", "external_id"]
    autocomplete_fields = ["world", "campaign", "party", "arc"]
    list_select_related = ["campaign", "party", "arc"]
    inlines = [SceneInline]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        session = form.instance
        for scene_form in formset.forms:
            scene = scene_form.instance
            scene.world_id, scene.campaign_id = session.world_id, session.campaign_id
        super().save_formset(request, form, formset, change)


@admin.register(Scene)
class SceneAdmin(WorldScoped, ModelAdmin):
    list_display = [
        "title",
        "external_id",
        "session",
        "party",
        "place",
        "in_world_label",
        "visibility",
    ]
    list_filter = ["world", "campaign", "party"]
    search_fields = ["title", "external_id", "place"]
    autocomplete_fields = ["world", "campaign", "party", "session"]
    raw_id_fields = ["place_lore"]
    list_select_related = ["session", "party"]


class VersionInline(ReadOnlyAdmin, TabularInline):
    model = EpisodeVersion
    fields = readonly_fields = ["version", "came_from", "created_at", "body"]
    extra = 0
    tab = True


@admin.register(Episode)
class EpisodeAdmin(EditorTexts, WorldScoped, ModelAdmin):
    editor_texts = {"what", "notes"}
    list_display = [
        "external_id",
        "party",
        "session",
        "in_world_label",
        "happened_at",
        "version",
        "is_embedded",
        "is_in_force",
    ]
    list_filter = [
        "world",
        "campaign",
        "party",
        "visibility",
        ("retracted_at", admin.EmptyFieldListFilter),
    ]
    search_fields = ["external_id", "what", "place", "notes"]
    date_hierarchy = "happened_at"
    list_select_related = ["party", "session"]
    show_full_result_count = False
    fields = [
        "external_id",
        "world",
        "campaign",
        "party",
        "session",
        "scene",
        "version",
        "happened_at",
        "in_world_label",
        "players",
        "npcs",
        "place",
        "what",
        "notes",
        "visibility",
        "flags",
        "relations_delta",
        "retracted_at",
        "retracted_why",
    ]
    editable = {"what", "notes", "visibility"}
    inlines = [VersionInline]
    actions = ["retract", "restore", "embed_again"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Episode]:
        return super().get_queryset(request).defer("embedding", "search_vector")

    def get_readonly_fields(self, _request: HttpRequest, _obj: Episode | None = None) -> list[str]:
        return [str(name) for name in self.fields if name not in self.editable]

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    @admin.display(description=_("embedded"), boolean=True)
    def is_embedded(self, episode: Episode) -> bool:
        return episode.embedded_rev == episode.rev

    @admin.display(description=_("in effect"), boolean=True)
    def is_in_force(self, episode: Episode) -> bool:
        return episode.retracted_at is None

    def save_model(self, request: HttpRequest, obj: Episode, form: Any, change: bool) -> None:
        """Ingest the edit as the next version, so that its effects are replaced as well."""
        if not form.has_changed():
            return
        newest = obj.versions.latest("version")
        current = obj.versions.get(version=obj.version)
        form_values = {name: getattr(obj, name) for name in self.editable}
        body = {**current.body, **form_values, "version": newest.version + 1}
        ingest_episode(
            obj.world, EpisodeIn.model_validate(body), came_from=request.user.get_username()
        )
        obj.refresh_from_db()
        embed_soon("episode")

    def delete_model(self, _request: HttpRequest, obj: Episode) -> None:
        erase_episode(obj.world, obj.external_id)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Episode]) -> None:
        for episode in queryset.select_related("world"):
            self.delete_model(request, episode)

    @admin.action(
        description=_("Retract the selected episodes and undo their effects"),
        permissions=["change"],
    )
    def retract(self, request: HttpRequest, queryset: QuerySet[Episode]) -> None:
        for episode in queryset.select_related("world"):
            retract_episode(episode.world, episode.external_id, reason=request.user.get_username())
        messages.success(
            request, gettext("The selected episodes were retracted and their effects undone.")
        )

    @admin.action(description=_("Restore the selected episodes"), permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Episode]) -> None:
        for episode in queryset.select_related("world"):
            try:
                restore_episode(episode.world, episode.external_id)
            except Problem as problem:
                messages.error(request, f"{episode.external_id}: {problem.detail}")

    @admin.action(description=_("Embed again"), permissions=["change"])
    def embed_again(self, request: HttpRequest, queryset: QuerySet[Episode]) -> None:
        queryset.update(embedded_rev=0, embed_tries=0, embed_after=None)
        embed_soon("episode")
        messages.success(request, gettext("The vectors are being recomputed."))


class StepInline(ReadOnlyAdmin, TabularInline):
    model = Step
    fields = readonly_fields = ["number", "speaker", "text", "tokens", "created_at"]
    extra = 0
    tab = True


@admin.register(Thread)
class ThreadAdmin(ReadOnlyAdmin, WorldScoped, ModelAdmin):
    list_display = ["external_id", "title", "party", "state", "expires_at", "episode"]
    list_filter = ["world", "state", "party"]
    search_fields = ["external_id", "title"]
    list_select_related = ["party", "episode"]
    inlines = [StepInline]


class SentenceInline(ReadOnlyAdmin, TabularInline):
    model = RecapSentence
    fields = readonly_fields = ["position", "text"]
    extra = 0


@admin.register(Recap)
class RecapAdmin(ReadOnlyAdmin, WorldScoped, ModelAdmin):
    list_display = ["level", "audience", "method", "updated_at", "world"]
    list_filter = ["world", "level", "method"]
    inlines = [SentenceInline]
