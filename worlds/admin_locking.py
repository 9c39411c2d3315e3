"""Optimistic locking of the admin's forms: each carries a token of the row that it shows."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from worlds.conflicts import FieldInConflict, conflict_page, fields_in_conflict

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    Base = ModelAdmin[Any]
else:
    Base = object

TOKEN = "edit_token"


class LockedForms(Base):
    """Mixin for a `ModelAdmin`: a form that was opened before somebody else saved the row is not
    saved but compared with what is stored.

    The token holds the version of the row, by which the edited text is found in the history, and a
    digest of what the form shows: a reveal, for instance, makes no version."""

    change_form_before_template = "forms/edit_token.html"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        show = super().changeform_view
        if object_id is None or "_saveasnew" in request.POST:
            return show(request, object_id, form_url, extra_context)
        # The row stays locked until the form is saved.
        with transaction.atomic():
            row = self._row(request, object_id, lock=request.method == "POST")
            token = self.edit_token(request, row) if row else ""
            # A form without a token has read no version: it may be older than any.
            sent = request.POST.get(TOKEN, "")
            if row and request.method == "POST" and sent != token:
                return self.conflict_view(request, row, sent, token)
            return show(request, object_id, form_url, {**(extra_context or {}), TOKEN: token})

    def _row(self, request: HttpRequest, object_id: str, *, lock: bool) -> Any:
        """Return the row, None if the user may not change it: then the page itself says so."""
        try:
            rows = self.model._base_manager.filter(pk=unquote(object_id))
            row = rows.first()
            if row and lock:
                self.lock_before_row(row)
                row = rows.select_for_update().first()
        except (ValidationError, ValueError):
            return None
        return row if row and self.has_change_permission(request, row) else None

    def lock_before_row(self, row: Any) -> None:
        """Take the locks that a save takes before that of the row."""

    def edit_token(self, request: HttpRequest, row: Model) -> str:
        form = self.get_form(request, row, change=True)(instance=row)
        names = [name for name in form.fields if _is_stored(self.model, name)]
        own = [form.get_initial_for_field(form.fields[name], name) for name in names]
        shown = json.dumps([own, *self._rows_of_inlines(request, row)], default=str)
        return f"{getattr(row, 'version', 0)}.{sha256(shown.encode()).hexdigest()[:20]}"

    def _rows_of_inlines(self, request: HttpRequest, row: Model) -> Iterator[list[Any]]:
        for formset, inline in self.get_formsets_with_inlines(request, row):
            fields = formset.form.base_fields
            names = [name for name in fields if _is_stored(inline.model, name)]
            if names:
                rows = inline.get_queryset(request).filter(**{formset.fk.name: row})
                yield list(rows.order_by("pk").values_list("pk", *names))

    def conflict_view(self, request: HttpRequest, row: Any, sent: str, token: str) -> HttpResponse:
        """Show what the form says and what is stored. The row is locked, and not changed."""
        name, base = str(row), self._base(row, sent.partition(".")[0])
        form = self.get_form(request, row, change=True)(request.POST, request.FILES, instance=row)
        fields = fields_in_conflict(form, base)
        media = self.media + form.media
        for inline_form, label in self._forms_of_inlines(request, row):
            fields += self._fields_of_inline(inline_form, label)
            media += inline_form.media
        context = {
            **self.admin_site.each_context(request),
            "base_template": "admin/base_site.html",
            "title": gettext("Somebody else saved “%(name)s” meanwhile") % {"name": name},
            "opts": self.opts,
            "media": media,
            "new_values": [(TOKEN, token)],
            "stored_url": request.get_full_path(),
        }
        return conflict_page(request, fields, context)

    def _base(self, row: Any, version: str) -> dict[str, Any] | None:
        """Return the values of the version that was edited, if they are in the history."""
        if not hasattr(row, "history") or not version.isdecimal() or len(version) > 9:
            return None
        record = row.history.filter(version=int(version)).first()
        fields = self.opts.concrete_fields
        return record and {each.name: getattr(record, each.attname, None) for each in fields}

    def _forms_of_inlines(self, request: HttpRequest, row: Any) -> Iterator[tuple[Any, str]]:
        """Yield the forms of the rows that the page shows below its own fields."""
        for formset_class, inline in self.get_formsets_with_inlines(request, row):
            prefix = formset_class.get_default_prefix()
            kwargs = self.get_formset_kwargs(request, row, inline, prefix)
            formset = formset_class(**kwargs)
            if f"{prefix}-TOTAL_FORMS" in request.POST and formset.management_form.is_valid():
                for number, form in enumerate(formset.initial_forms, 1):
                    yield form, f"{inline.opts.verbose_name} {number}: "

    def _fields_of_inline(self, form: Any, label: str) -> list[FieldInConflict]:
        return fields_in_conflict(form, label=label) if form.instance.pk else []


def _is_stored(model: type[Model], name: str) -> bool:
    try:
        return bool(model._meta.get_field(name).concrete)
    except FieldDoesNotExist:
        return False
