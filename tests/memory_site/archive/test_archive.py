"""A world in a file: archived, deleted, restored, archived again, with the same bytes."""

from pathlib import Path

import pytest
from django.apps import apps

from knowledge.models import Lore, LorePassage
from memory_site.archive.inventory import ARCHIVED, DERIVED, LEFT_OUT, OWN_APPS, SHARED
from memory_site.archive.restore import delete_world, restore_world
from memory_site.archive.write import archive_world
from npcs.models import NPC, DispositionChange
from worlds.models import World

pytestmark = pytest.mark.django_db


def test_every_model_is_archived_derived_or_left_out_with_a_reason() -> None:
    lists = (ARCHIVED, SHARED, DERIVED, LEFT_OUT)
    models = {
        model._meta.label
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in OWN_APPS
    }
    assert models == {label for each in lists for label in each}
    assert len(models) == sum(map(len, lists)), "a model is in two lists"


def test_rows_come_after_the_rows_that_they_refer_to() -> None:
    labels = [*SHARED, *ARCHIVED]
    for place, label in enumerate(labels):
        model = apps.get_model(*label.split(".")) if "_" not in label else None
        for field in model._meta.concrete_fields if model else ():
            target = field.related_model and field.related_model._meta.label
            if target in labels and not label.split(".")[1].startswith("Historical"):
                assert labels.index(target) <= place, f"{label}.{field.name}"


def test_the_demo_comes_back_byte_for_byte(demo: World, tmp_path: Path) -> None:
    before, after = tmp_path / "before.zip", tmp_path / "after.zip"
    archive_world(demo, before)
    assert before.stat().st_size > 10_000
    counts = [model.objects.count() for model in (Lore, LorePassage, NPC, DispositionChange)]
    delete_world(demo)
    restored = restore_world(before)
    assert [each.objects.count() for each in (Lore, LorePassage, NPC, DispositionChange)] == counts
    archive_world(restored.world, after)
    assert before.read_bytes() == after.read_bytes()
