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
    for name in (
        *("copied_rows", "embedders", "errors", "indexing", "llm", "models"),
        *(
            "named_relations",
            "presets",
            "search",
            "statement_pairs",
            "tasks",
            "text",
            "vector_store",
        ),
    )
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


ENTRY_POINTS = {
    "admin",
    "admin_pages",
    "agent_admin",
    "agent_api",
    "api",
    "management",
    "rest",
    "card_views",
    "rule_views",
    "views",
}
"""Modules (or the folder of commands) that parse, authorize, call a service, and serialize."""


def imports_of(*libraries: str) -> list[tuple[Path, str]]:
    """The product files below the composition root that import a module of `libraries`."""
    root = Path(settings.BASE_DIR)
    return [
        (path.relative_to(root), module)
        for app in LAYERS[:-1]
        for path in (root / app).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([getattr(node, "module", None) or ""] + [each.name for each in node.names])
        if module in libraries or module.startswith(tuple(f"{each}." for each in libraries))
    ]


def is_api(path: Path) -> bool:
    return path.stem == "api" or path.stem.endswith("_api")


def is_tools(path: Path) -> bool:
    return path.stem == "tools" or path.stem.endswith("_tools")


def test_only_the_api_layer_knows_ninja() -> None:
    importers = {path for path, _module in imports_of("ninja")}
    assert importers
    assert {path for path in importers if path.stem != "rest" and not is_api(path)} == set()


def test_only_tasks_know_celery() -> None:
    importers = {path for path, _module in imports_of("celery", "kombu")}
    assert importers
    assert {path for path in importers if path.stem != "tasks"} == set()


def test_only_entry_points_enqueue_tasks() -> None:
    importers = {path for path, _module in imports_of(*(f"{app}.tasks" for app in LAYERS))}
    assert importers
    others = {path for path in importers if not ENTRY_POINTS & {path.stem, *path.parts}}
    assert {path for path in others if not (is_api(path) or is_tools(path))} == set()
