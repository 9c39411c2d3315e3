"""Two people edited one row: what each of them wrote, field by field, and a merge to save.

The page templates/editor/conflict.html shows it, in the admin and on the site. It sends the whole
form again with the token of the stored row, so that nothing that was typed is lost."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from worlds.list_fields import normalize_newlines
from worlds.text_diff import DiffPiece, as_text, merge_texts, word_diff

UNKNOWN = object()
"""The value of a field in a version that is not stored any more."""
PART_OF_WIDGET = re.compile(r"_\d+$")


@dataclass(frozen=True)
class FieldInConflict:
    """A field in which the form that was sent differs from the stored row."""

    name: str
    """Name of its input, with the prefix of the form."""
    input_id: str
    label: str
    yours: str
    stored: str
    diff: list[DiffPiece]
    """From the stored text to that of the form."""
    widget: SafeString
    """The input, filled in with the merge."""
    changed_by: str
    """`you`, `others`, `both`; empty when the version that was edited is unknown."""
    overlaps: int
    """Places that both have changed: the merge shows both texts."""


def fields_in_conflict(
    form: Any, base: Mapping[str, Any] | None = None, *, label: str = ""
) -> list[FieldInConflict]:
    """Compare a form that is bound to what was sent and has the stored values as `initial`. `base`
    holds the values of the version that was edited, `label` begins the label of each field."""
    sent = {**form.cleaned_data} if form.is_valid() else {**getattr(form, "cleaned_data", {})}
    found = []
    for name in form.changed_data:
        bound = form[name]
        if bound.is_hidden:
            continue
        stored = plain(bound.initial)
        yours = plain(sent[name]) if name in sent else bound.data
        before = (base or {}).get(name, UNKNOWN)
        # Markers of two variants would be an odd title: there the own text is offered.
        has_lines = isinstance(bound.field.widget, forms.Textarea)
        merged, overlaps = merge_values(before, yours, stored, has_lines=has_lines)
        texts = [display_text(bound.field, value) for value in (stored, yours)]
        found.append(
            FieldInConflict(
                name=bound.html_name,
                input_id=bound.id_for_label,
                label=f"{label}{bound.label}",
                stored=texts[0],
                yours=texts[1],
                diff=word_diff(*texts),
                widget=_widget(bound, merged),
                changed_by=_changed_by(before, yours, stored),
                overlaps=overlaps,
            )
        )
    return found


def conflict_page(
    request: HttpRequest, fields: list[FieldInConflict], context: Mapping[str, Any]
) -> HttpResponse:
    """Answer with the page. `context` has `base_template`, `title`, `media`, `new_values` (pairs of
    name and value: the hidden inputs that name the stored version) and `stored_url` (the form as it
    is stored)."""
    new_names = [name for name, _value in context["new_values"]]
    values = {
        "fields": fields,
        "hidden": [*_carry(request.POST, [*new_names, *(each.name for each in fields)])],
        "overlaps": sum(each.overlaps for each in fields),
        "action": request.get_full_path(),
        **context,
    }
    return render(request, "editor/conflict.html", values, status=409)


def merge_values(base: Any, yours: Any, stored: Any, *, has_lines: bool) -> tuple[Any, int]:
    """Return the merge of two values and the number of places that both have changed. Only a text
    that `has_lines` can hold both variants of such a place."""
    if base is UNKNOWN or stored in (base, yours):
        return yours, 0
    if yours == base:
        return stored, 0
    if all(isinstance(value, str) for value in (base, yours, stored)):
        names = gettext("what you wrote"), gettext("what is stored")
        merge = merge_texts(normalize_newlines(base), yours, stored, names=names)
        return merge if has_lines or not merge.overlaps else (yours, 1)
    if all(isinstance(value, list) for value in (base, yours, stored)):
        rest = [value for value in stored if value in yours or value not in base]
        return [*rest, *(each for each in yours if each not in base and each not in stored)], 0
    return yours, 1


def plain(value: Any) -> Any:
    """Return a value as the form's initial values hold it: rows by their keys."""
    if isinstance(value, Model):
        return value.pk
    if isinstance(value, (QuerySet, tuple)) or (isinstance(value, list) and value):
        return [plain(each) for each in value]
    return value


def display_text(field: forms.Field, value: Any) -> str:
    """Return the value as a reader knows it: the label of a choice, the name of a row."""
    if isinstance(field, forms.ModelChoiceField):
        keys = value if isinstance(value, list) else [value] if value else []
        return "\n".join(str(row) for row in field.queryset.filter(pk__in=keys))  # type: ignore[union-attr]
    if isinstance(field, forms.ChoiceField):
        labels = dict(_flat(field.choices))
        values = value if isinstance(value, list) else [value]
        return "\n".join(str(labels.get(str(each), each or "")) for each in values)
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return normalize_newlines(as_text(value))


def _flat(choices: Any) -> Iterator[tuple[str, str]]:
    for value, label in choices:
        if isinstance(label, (list, tuple)):
            yield from _flat(label)
        else:
            yield str(value or ""), str(label)


def _widget(bound: Any, value: Any) -> SafeString:
    widget, field = bound.field.widget, bound.field
    attrs = bound.build_widget_attrs({"id": bound.auto_id}, widget)
    html: SafeString = widget.render(
        bound.html_name, field.prepare_value(value), attrs, renderer=bound.form.renderer
    )
    return html


def _changed_by(base: Any, yours: Any, stored: Any) -> str:
    if base is UNKNOWN:
        return ""
    if stored == base:
        return "you"
    return "others" if yours == base else "both"


def _carry(data: QueryDict, without: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what was sent beside the inputs of the page, `without` those and their parts."""
    skipped = {"csrfmiddlewaretoken", *without}
    for name, values in data.lists():
        if name not in skipped and PART_OF_WIDGET.sub("", name) not in skipped:
            yield from ((name, value) for value in values)
