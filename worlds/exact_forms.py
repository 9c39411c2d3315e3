"""Forms that write back exactly what is stored in every field that the user left as it was.

A browser changes values on the way: line breaks become CR LF, spaces at the ends are stripped,
JSON is written anew, a time loses its microseconds. `ExactModelForm` therefore keeps the stored
value of each field that the user did not edit."""

from typing import Any

from django import forms
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from worlds.day_field import DAY_FIELDS, DayField
from worlds.list_fields import normalize_newlines
from worlds.text_diff import lines_of_markers
from worlds.world_calendar import calendar_of_key


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


def refuse_rows_of_other_worlds(form: Any) -> None:
    """Add an error to each field whose row is of another world than the row of the form: a user may
    lead several worlds, but no row refers from one to another."""
    chosen = {
        name: world
        for name, value in form.cleaned_data.items()
        if name != "world" and (world := world_of(value))
    }
    world = world_of(form.cleaned_data.get("world")) or world_of(form.instance)
    world = world or next(iter(chosen.values()), None)
    for name, other in chosen.items():
        if other != world and name in form.changed_data:
            form.add_error(name, gettext("This is of another world: choose one of the same world."))


def world_of(row: Any) -> Any:
    """Return the key of the world that the row belongs to, None if it belongs to none. A row that
    is about to be made may have it by what it hangs on."""
    if not isinstance(row, models.Model):
        return None
    if row._meta.label == "worlds.World":
        return row.pk
    names = {field.name for field in row._meta.concrete_fields if field.is_relation}
    if world := "world" in names and getattr(row, "world_id", None):
        return world
    if "world" in names and not row._state.adding:
        return None  # shared by all worlds
    names = {name for name in names - {"world"} if row.__dict__.get(f"{name}_id")}
    return next(filter(None, (world_of(_related_row(row, name)) for name in sorted(names))), None)


def _related_row(row: models.Model, name: str) -> Any:
    try:
        return getattr(row, name)
    except ObjectDoesNotExist:  # of an inline below a row that is not saved yet
        return None


class ExactModelForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = [name for name in DAY_FIELDS if isinstance(self.fields.get(name), forms.FloatField)]
        calendar = calendar_of_key(world_of(self.instance)) if days else None
        for name in days:
            self.fields[name] = DayField.instead_of(self.fields[name], calendar)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        refuse_markers(self)
        refuse_rows_of_other_worlds(self)
        if not self.instance._state.adding:
            for field in self.instance._meta.concrete_fields:
                if field.name in data and field.name not in self.changed_data:
                    data[field.name] = getattr(self.instance, field.name)
        return data
