"""What every form of the admin shares: lists with one input per value, and a save without a change
writes nothing."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.http import HttpRequest
from django.utils.text import capfirst
from unfold.widgets import INPUT_CLASSES

from worlds.admin_locking import LockedForms
from worlds.exact_forms import FORM_CLASSES, ExactModelForm, LineField
from worlds.list_fields import ListField, ListWidget

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    Base = ModelAdmin[Any]
else:
    Base = object


class ExactFields(Base):
    """Mixin for a `ModelAdmin` or an inline. A form of its own must extend `ExactModelForm`."""

    form: Any = ExactModelForm
    text_lists: ClassVar[set[str]] = set()
    """JSON fields that hold a list of texts. Other JSON fields are edited as JSON."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        # Changes are measured against the stored row, not against a copy in a hidden input, which
        # Django adds when the default is a function.
        kwargs["show_hidden_initial"] = False
        if isinstance(db_field, ArrayField):
            multiline = isinstance(db_field.base_field, models.TextField)
            kwargs |= {"form_class": ListField, "widget": list_widget(multiline=multiline)}
        elif db_field.name in self.text_lists:
            return ListField(
                base_field=LineField(max_length=TEXT_IN_JSON),
                label=capfirst(db_field.verbose_name),
                help_text=db_field.help_text,
                required=not db_field.blank,
                widget=list_widget(),
            )
        elif type(db_field) in FORM_CLASSES and not db_field.choices:
            kwargs.setdefault("form_class", FORM_CLASSES[type(db_field)])
        return super().formfield_for_dbfield(db_field, request, **kwargs)


class ExactForms(ExactFields, LockedForms):
    """Mixin for a `ModelAdmin`."""

    def get_ordering(self, request: HttpRequest) -> Any:
        """The order of lists and of the choices of autocomplete, never none: pages of rows in no
        order may repeat some and leave out others. The order of the model's class counts for
        little: PostgreSQL groups rows that are counted, and Django drops it then."""
        return super().get_ordering(request) or self.model._meta.ordering or ["-pk"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change or form.has_changed():
            super().save_model(request, obj, form, change)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """An empty message means that nothing was changed."""
        return super().log_change(request, obj, message) if message else None


TEXT_IN_JSON = 200


def list_widget(*, multiline: bool = False) -> ListWidget:
    return ListWidget({"class": " ".join(INPUT_CLASSES)}, multiline=multiline)
