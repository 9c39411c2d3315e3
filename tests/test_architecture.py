"""Rules of the code base that import-linter cannot see."""

import ast
from pathlib import Path

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


PUBLIC_MODULES = {
    f"retrieval.{name}"
    for name in ("embedders", "errors", "indexing", "llm", "models", "search", "tasks", "text")
}


def test_other_apps_import_only_the_public_modules_of_retrieval() -> None:
    root = Path(settings.BASE_DIR)
    sources = [path for app in (*LAYERS[1:], "tests") for path in (root / app).rglob("*.py")]
    deep = [
        f"{path.relative_to(root)}: {node.module}"
        for path in sources
        if "migrations" not in path.parts and root / "tests" / "retrieval" not in path.parents
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] == "retrieval"
        and node.module not in PUBLIC_MODULES
    ]
    assert deep == []
