"""Admin of player characters."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from worlds.admin_scoping import WorldScoped
from worlds.characters import delete_character, follow_party, lock_parties
from worlds.models import Character


@admin.register(Character)
class CharacterAdmin(WorldScoped, ModelAdmin):
    list_display = ["name", "slug", "party", "world"]
    list_filter = ["world", "party"]
    list_select_related = ["party", "world"]
    ordering = ["name", "pk"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world", "party"]
    fields = ["world", "name", "slug", "party"]

    def save_model(self, request: HttpRequest, obj: Character, form: Any, change: bool) -> None:
        lock_parties(obj.world_id)
        stored = Character.objects.filter(pk=obj.pk).select_related("party").first()
        super().save_model(request, obj, form, change)
        follow_party(obj, before=stored.party if stored else None)

    def delete_model(self, request: HttpRequest, obj: Character) -> None:
        delete_character(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Character]) -> None:
        for character in queryset:
            delete_character(character)
