"""Texts of the admin's forms are written in the editor of the site."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse

from worlds.admin_scoping import ScopedChoices, administered_worlds
from worlds.models import World


class EditorTexts(ScopedChoices):
    """Mixin for a `ModelAdmin`: the fields in `editor_texts` are written in the editor, which asks
    the server about a world. Without one (a rule of all worlds; a new row, while the user has
    several worlds) they stay plain text areas.

    The editor keeps no drafts here: they belong to the forms of the site."""

    editor_texts: ClassVar[set[str]] = set()
    change_form_after_template = "admin/editor.html"

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name in self.editor_texts:
            field.widget.attrs |= {"data-editor": True, "data-drafts": "off"}
        return field

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        context["world"] = self.world_of_editor(request, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)

    def world_of_editor(self, request: HttpRequest, row: Any) -> World | None:
        worlds = administered_worlds(request.user)
        if row is not None:
            return worlds.filter(pk=row.world_id).first()
        some = list(worlds[:2])
        return some[0] if len(some) == 1 else None
