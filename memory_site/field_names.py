"""Fields that carry no name of their own are shown under the translation of their attribute's
name.
"""

from collections.abc import Iterable

from django.db.models import Model
from django.utils.translation import gettext_lazy, gettext_noop

ATTRIBUTES = (
    gettext_noop("system"),
    gettext_noop("secret hash"),
)  # the others are names of things: world, party, …


def translate_plain_names(models: Iterable[type[Model]]) -> None:
    """Django names `Scene.world` "world", in English for everybody. Migrations do not see the
    change."""
    for model in models:
        for field in (*model._meta.local_fields, *model._meta.local_many_to_many):
            if isinstance(field.verbose_name, str) and field.verbose_name:
                field.verbose_name = gettext_lazy(field.verbose_name)
