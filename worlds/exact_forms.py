"""Forms that write back exactly what is stored in every field that the user left as it was.

A browser changes values on the way: line breaks become CR LF, spaces at the ends are stripped,
JSON is written anew, a time loses its microseconds. `ExactModelForm` therefore keeps the stored
value of each field that the user did not edit."""

from typing import Any

from django import forms
from django.db import models

from worlds.list_fields import normalize_newlines


class ParagraphsField(forms.CharField):
    """A text of several lines. Line breaks are stored as LF."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return normalize_newlines(text) if text else text

    def has_changed(self, initial: Any, data: Any) -> bool:
        return normalize_newlines(str(initial or "")).strip() != (self.to_python(data) or "")


class LineField(forms.CharField):
    """A text of one line: a browser leaves out the line breaks that are stored in it."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return "".join(str(initial or "").splitlines()).strip() != (self.to_python(data) or "")


FORM_CLASSES: dict[type[Any], type[forms.CharField]] = {
    models.TextField: ParagraphsField,
    models.CharField: LineField,
}
"""For exactly these classes: a slug or an address has a form field of its own."""


class ExactModelForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not self.instance._state.adding:
            for field in self.instance._meta.concrete_fields:
                if field.name in data and field.name not in self.changed_data:
                    data[field.name] = getattr(self.instance, field.name)
        return data
