"""Translates the names of model fields that have no `verbose_name` of their own."""

from collections.abc import Iterable

from django.db.models import Model
from django.utils.translation import gettext_lazy, gettext_noop

# For `make messages`: the other attributes have the name of a model (world, party, …).
ATTRIBUTES = (gettext_noop("system"), gettext_noop("secret hash"))


def translate_plain_names(models: Iterable[type[Model]]) -> None:
    """Django names `Scene.world` "world", in English for everybody. Migrations do not see the
    change."""
    for model in models:
        for field in (*model._meta.local_fields, *model._meta.local_many_to_many):
            if isinstance(field.verbose_name, str) and field.verbose_name:
                field.verbose_name = gettext_lazy(field.verbose_name)
