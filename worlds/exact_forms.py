"""Forms that write back exactly what is stored in every field that the user left as it was.

A browser changes values on the way: line breaks become CR LF, spaces at the ends are stripped,
JSON is written anew, a time loses its microseconds. `ExactModelForm` therefore keeps the stored
value of each field that the user did not edit."""

from typing import Any

from django import forms
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from worlds.list_fields import normalize_newlines
from worlds.text_diff import lines_of_markers


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


UNFINISHED_MERGE = _(
    "Two texts are to be merged here. Keep one of them, and remove the lines that begin with "
    "<<<<<<<, ======= and >>>>>>>."
)


def refuse_markers(form: forms.BaseForm) -> None:
    """Add an error with the line to each edited text that still has both variants of a place that
    two people have changed. A text that was stored with them may stay while others change."""
    for name in form.changed_data:
        value = form.cleaned_data.get(name)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and (numbers := lines_of_markers(text)):
                values = {"line": numbers[0], "message": UNFINISHED_MERGE}
                form.add_error(name, gettext("Line %(line)d: %(message)s") % values)


class ExactModelForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        refuse_markers(self)
        if not self.instance._state.adding:
            for field in self.instance._meta.concrete_fields:
                if field.name in data and field.name not in self.changed_data:
                    data[field.name] = getattr(self.instance, field.name)
        return data
