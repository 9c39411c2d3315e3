"""The admin page of the calls of the language model, read-only."""

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from retrieval.models import LanguageModelCall


@admin.register(LanguageModelCall)
class LanguageModelCallAdmin(ModelAdmin):
    list_display = [
        "created_at",
        "model",
        "purpose",
        "tenant",
        "mode",
        "tokens_in",
        "tokens_out",
        "cost",
        "duration_ms",
        "ok",
    ]
    list_filter = ["ok", "purpose", "model", "mode"]
    search_fields = ["purpose", "model", "error", "tenant"]
    date_hierarchy = "created_at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: LanguageModelCall | None = None
    ) -> bool:
        return False
