"""Admin of uploaded pictures, and of art cards and their moderation."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from art.card_forms import ArtCardAdminForm
from art.models import ArtCard, Picture
from art.pictures import change_picture
from art.schemas import ArtCardIn
from art.upsert import COPIED, ingest_art, moderate_card
from retrieval.tasks import embed_soon
from worlds.admin_scoping import WorldScoped


@admin.register(Picture)
class PictureAdmin(WorldScoped, ModelAdmin):
    """Texts of pictures. They are uploaded, shown and deleted on the pages of their world."""

    list_display = ["__str__", "name", "world", "visibility", "created_at"]
    list_filter = ["world", "visibility"]
    search_fields = ["name", "alt", "caption"]
    list_select_related = ["world"]
    fields = ["world", "name", "alt", "caption", "visibility", "uploaded_by", "created_at"]
    readonly_fields = ["world", "name", "uploaded_by", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Picture]:
        return super().get_queryset(request).filter(deleted_at=None)

    def save_model(self, request: HttpRequest, obj: Picture, form: Any, change: bool) -> None:
        change_picture(obj, alt=obj.alt, caption=obj.caption, visibility=obj.visibility)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ArtCard)
class ArtCardAdmin(WorldScoped, ModelAdmin):
    list_display = [
        *("external_id", "scene", "place", "style", "moderation", "visibility", "is_embedded"),
        "updated_at",
    ]
    list_filter = ["world", "moderation", "visibility"]
    search_fields = ["external_id", "prompt_text", "entities", "visual_tags"]
    list_select_related = ["scene", "place"]
    form = ArtCardAdminForm
    fields = [
        *("world", "external_id", "scene", "preview", "upload", "picture", "cdn_url"),
        *("prompt_text", "entities"),
        "visual_tags",
        *("style", "seed", "moderation", "moderation_note", "visibility", "place"),
        *("moderated_by", "moderated_at"),
    ]
    readonly_fields = ["preview", "place", "moderated_by", "moderated_at"]
    autocomplete_fields = ["world", "scene", "picture"]
    actions = ["approve", "flag", "reject", "embed_again"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ArtCard]:
        return super().get_queryset(request).defer("embedding", "search_vector")

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.uploaded_by = request.user.get_username()
        return form

    @admin.display(description=_("present picture"))
    def preview(self, card: ArtCard) -> SafeString:
        return render_to_string("admin/art_card.html", {"card": card})

    @admin.display(description=_("embedded"), boolean=True)
    def is_embedded(self, card: ArtCard) -> bool:
        return card.embedded_rev == card.rev

    def save_model(self, request: HttpRequest, obj: ArtCard, form: Any, change: bool) -> None:
        """Ingest the card as if an engine had sent it, so that its text and links are updated."""
        if change and not form.has_changed():
            return
        values = {name: getattr(obj, name) for name in (*COPIED, "moderation")}
        scene_id = obj.scene.external_id if obj.scene else None
        entry = ArtCardIn.model_validate(
            {
                **values,
                "image_id": obj.external_id,
                "scene_id": scene_id,
                "picture_id": obj.picture_id,
            }
        )
        card, _outcome, _unknown = ingest_art(obj.world, entry)
        if "moderation" in form.changed_data:
            author = request.user.get_username()
            moderate_card(card, obj.moderation, by=author, note=obj.moderation_note)
        # The admin logs and redirects by `obj`, but it was `ingest_art` that made the row.
        obj.pk = card.pk
        embed_soon("art")

    @admin.action(description=_("Approve and show to players"), permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[ArtCard]) -> None:
        self.moderate_all(request, queryset, ArtCard.Moderation.APPROVED)

    @admin.action(description=_("Flag for review"), permissions=["change"])
    def flag(self, request: HttpRequest, queryset: QuerySet[ArtCard]) -> None:
        self.moderate_all(request, queryset, ArtCard.Moderation.FLAGGED)

    @admin.action(description=_("Reject"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[ArtCard]) -> None:
        self.moderate_all(request, queryset, ArtCard.Moderation.REJECTED)

    @admin.action(description=_("Embed again"), permissions=["change"])
    def embed_again(self, request: HttpRequest, queryset: QuerySet[ArtCard]) -> None:
        queryset.update(embedded_rev=0, embed_tries=0, embed_after=None)
        embed_soon("art")
        messages.success(request, gettext("The vectors are being recomputed."))

    def moderate_all(self, request: HttpRequest, queryset: QuerySet[ArtCard], verdict: str) -> None:
        for card in queryset:
            moderate_card(card, verdict, by=request.user.get_username())
        messages.success(request, gettext("Cards moderated: %(count)s.") % {"count": len(queryset)})
