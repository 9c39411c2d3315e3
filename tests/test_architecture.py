"""Rules of the house that import-linter cannot see."""

from django.apps import apps
from django.conf import settings

LAYERS = ["retrieval", "worlds", "knowledge", "episodes", "npcs", "art", "memories", "memory_site"]


def test_foreign_keys_point_down() -> None:
    upward = []
    for model in apps.get_models():
        if (own := model._meta.app_label) not in LAYERS:
            continue
        for field in model._meta.get_fields():
            target = (
                field.related_model._meta.app_label
                if field.is_relation and field.concrete and field.related_model
                else None
            )
            if target in LAYERS and LAYERS.index(target) > LAYERS.index(own):
                upward.append(f"{own}.{model.__name__}.{field.name} -> {target}")
    assert upward == []


def test_every_layer_is_an_installed_app() -> None:
    assert set(LAYERS) <= set(settings.INSTALLED_APPS)
