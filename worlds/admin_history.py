"""The history of a row in the admin, and the page that restores an old version.

simple_history's own page saves the old version through the change form, which alters values on the
way and bypasses the services. Here the domain's service writes the stored values."""

from abc import ABCMeta, abstractmethod
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms.widgets import MediaDefiningClass
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext
from simple_history.admin import SimpleHistoryAdmin

from retrieval.errors import Problem
from worlds.text_diff import DiffPiece, as_text, word_diff


class FieldOfVersion(NamedTuple):
    label: str
    text: str
    diff: list[DiffPiece]
    """From the present text to that of the version; empty when they are the same."""


class AbstractAdmin(ABCMeta, MediaDefiningClass):
    """Metaclass of an admin with abstract methods: registering one that lacks them fails."""


class VersionHistory(SimpleHistoryAdmin, metaclass=AbstractAdmin):  # type: ignore[misc]  # untyped
    """Mixin for a `ModelAdmin` of a model with history."""

    restore_template = "admin/restore_version.html"
    hidden_in_history = frozenset({"id", "created_at", "updated_at", "name_keys", "known_to"})

    @abstractmethod
    def restore_version(self, request: HttpRequest, obj: Any, record: Any, reason: str) -> str:
        """Write the values of `record` into `obj` through the domain's service; return its
        outcome (`changed`, `unchanged`)."""

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """List the versions of a row that the user may see. For any other row simple_history would
        take the name and the texts from its history."""
        if not request.user.is_superuser and self.get_object(request, object_id) is None:
            raise Http404
        answer: HttpResponse = super().history_view(request, object_id, extra_context)
        return answer

    def history_form_view(
        self,
        request: HttpRequest,
        object_id: str,
        version_id: str,
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show an old version and what restoring it would change; restore it on POST."""
        obj = self.get_object(request, object_id)
        history = obj.history if obj is not None else self.model.history.none()
        row = get_object_or_404(history, history_id=version_id)
        if not self.has_view_history_or_change_history_permission(request, obj):
            raise PermissionDenied
        if request.method == "POST":
            return self._restore(request, obj, row)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Version %(version)s of %(name)s")
            % {"version": getattr(row, "version", row.pk), "name": obj},
            "opts": self.opts,
            "original": obj,
            "row": row,
            "fields": self._fields_of_version(obj, row.instance),
            "can_restore": not self.revert_disabled(request, obj),
            "change_url": self._url("change", obj),
            "history_url": self._url("history", obj),
            **(extra_context or {}),
        }
        return render(request, self.restore_template, context)

    def _restore(self, request: HttpRequest, obj: Any, row: Any) -> HttpResponse:
        if self.revert_disabled(request, obj):
            raise PermissionDenied
        date = date_format(row.history_date, "SHORT_DATETIME_FORMAT")
        reason = gettext("Restored the version of %(date)s") % {"date": date}
        try:
            outcome = self.restore_version(request, obj, row.instance, reason)
        except Problem as problem:
            messages.error(request, problem.detail)
            return HttpResponseRedirect(request.path)
        if outcome == "unchanged":
            messages.info(request, gettext("Nothing was changed: this version is the present one."))
        else:
            self.log_change(request, obj, reason)
            messages.success(
                request, gettext("The version of %(date)s was restored.") % {"date": date}
            )
        return HttpResponseRedirect(self._url("change", obj))

    def _url(self, page: str, obj: Any) -> str:
        name = f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_{page}"
        return reverse(name, args=[obj.pk])

    def _fields_of_version(self, obj: Any, version: Any) -> list[FieldOfVersion]:
        fields = [
            field for field in self.opts.concrete_fields if field.name not in self.hidden_in_history
        ]
        rows = []
        for field in fields:
            old, new = (as_text(getattr(row, field.attname)) for row in (obj, version))
            if field.choices:
                old, new = (str(dict(field.flatchoices).get(text, text)) for text in (old, new))
            diff = word_diff(old, new) if old != new else []
            rows.append(FieldOfVersion(capfirst(field.verbose_name), new, diff))
        return sorted(rows, key=lambda row: not row.diff)
