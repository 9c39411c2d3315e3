"""Every row has a name that people can read, and every help text is safe to show as HTML."""

import re

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db.models import Model
from django.test import RequestFactory

from worlds.models import World

MODELS = [
    model
    for model in apps.get_models()
    if model.__module__.split(".")[0] not in ("django", "axes", "simple_history")
]
PLAIN_TAGS = re.compile(r"</?(a|b|br|code|em|i|li|p|strong|ul)\b[^>]*>")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_model_names_its_rows(model: type[Model]) -> None:
    assert model.__str__ is not Model.__str__


def test_no_row_of_the_demo_is_called_an_object(demo: World) -> None:
    unnamed = [
        str(row)
        for model in MODELS
        for row in model._default_manager.all()[:20]
        if "object (" in str(row)
    ]
    assert not unnamed


def test_help_texts_hold_no_angle_brackets_that_a_page_would_swallow(admin_user) -> None:  # type: ignore[no-untyped-def]
    """`party:<slug>` in a help text was shown as `party:`: the admin shows help texts as HTML."""
    request = RequestFactory().get("/")
    request.user = admin_user
    swallowed = [
        (model._meta.label, name, field.help_text)
        for model, model_admin in site._registry.items()
        for name, field in model_admin.get_form(request, change=True).base_fields.items()
        if "<" in PLAIN_TAGS.sub("", str(field.help_text))
    ]
    assert not swallowed
