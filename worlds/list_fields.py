"""A form field for a list of texts: one input per value, so that a value may contain anything.

    goals = ListField(base_field=forms.CharField(), widget=ListWidget(multiline=True))

Without JavaScript the empty inputs at the end are for new values, and a cleared input removes its
value; with it there are buttons to add, remove and move values (`static/memory37/lists.js`)."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.widgets import Script
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

EMPTY_ROWS = 2


def normalize_newlines(text: str) -> str:
    """Browsers send a line break of a textarea as CR LF; what is stored has LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def non_blank(values: Iterable[Any] | None) -> list[str]:
    texts = [normalize_newlines(str(value)).strip() for value in values or ()]
    return [text for text in texts if text]


class ListWidget(forms.Widget):
    """Inputs of one name, one per value. A value with a line break always gets a textarea."""

    template_name = "forms/list.html"

    class Media:
        js = [Script("memory37/lists.js", type="module")]
        css = {"all": ["memory37/lists.css"]}

    def __init__(self, attrs: dict[str, Any] | None = None, *, multiline: bool = False) -> None:
        super().__init__(attrs)
        self.multiline = multiline

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:  # noqa: ARG002
        attrs = self.build_attrs(self.attrs, attrs)
        identifier = attrs.pop("id", f"id_{name}")
        texts = [*(str(each) for each in value or ()), *[""] * EMPTY_ROWS]
        rows = [
            {
                "text": text,
                "multiline": self.multiline or "\n" in text,
                "id": f"{identifier}_{number}" if number else identifier,
                "label": gettext("Value %(number)d") % {"number": number + 1},
            }
            for number, text in enumerate(texts)
        ]
        empty = {"text": "", "multiline": self.multiline, "label": gettext("New value")}
        context = {"name": name, "rows": rows, "empty": empty, "attrs": attrs}
        return render_to_string(self.template_name, context)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:  # noqa: ARG002
        if hasattr(data, "getlist"):
            return list(data.getlist(name))
        value = data.get(name) or []
        return [value] if isinstance(value, str) else list(value)


class ListField(forms.Field):
    """A list of texts, each checked by `base_field`. Empty values are left out."""

    widget = ListWidget
    default_error_messages = {"row": _("Value %(number)d: %(message)s")}

    def __init__(
        self, *, base_field: forms.Field, max_length: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.base_field = base_field
        self.max_length = max_length

    def to_python(self, value: Any) -> list[str]:
        return non_blank(value)

    def clean(self, value: Any) -> list[str]:
        texts: list[str] = super().clean(value)
        cleaned, errors = [], []
        for number, text in enumerate(texts, 1):
            try:
                cleaned.append(self.base_field.clean(text))
            except ValidationError as problem:
                row = {"number": number, "message": " ".join(problem.messages)}
                errors.append(ValidationError(self.error_messages["row"], "row", row))
        if errors:
            raise ValidationError(errors)
        return cleaned

    def has_changed(self, initial: Any, data: Any) -> bool:
        return non_blank(initial) != non_blank(data)
