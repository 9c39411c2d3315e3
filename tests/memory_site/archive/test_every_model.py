"""Rows of every model of a world come back byte for byte, whatever their columns hold."""

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory_site.archive.inventory import ARCHIVED, SHARED
from memory_site.archive.restore import delete_world, restore_world
from memory_site.archive.write import archive_world
from tests.memory_site.archive.generated_rows import (
    ONE_OF_A_WORLD,
    GeneratedWorld,
    delete_generated_files,
)

pytestmark = pytest.mark.django_db
ROWS_EACH = 2


@settings(
    max_examples=5,
    deadline=None,
    report_multiple_bugs=False,
    phases=[Phase.reuse, Phase.generate],  # to shrink such an example takes minutes
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
@given(data=st.data())
def test_every_model_comes_back_byte_for_byte(db: None, data: st.DataObject) -> None:
    with transaction.atomic():  # an example that fails must not spoil the next
        first, again, copy = round_trip(data)
        transaction.set_rollback(True)
    empty = {label for label in ARCHIVED if counts(first)[label] < ROWS_EACH}
    assert empty == {"worlds.World", *ONE_OF_A_WORLD}, "a model without rows proves nothing"
    assert all(counts(first)[label] == 1 for label in ONE_OF_A_WORLD)
    assert counts(first)["knowledge.ConflictRule"] == 1
    for name, content in members(first).items():
        assert members(again)[name] == content, name
    assert first == again
    assert counts(copy) == counts(first)
    assert not own_ids(first) & own_ids(copy), "a copy has ids of its own"


def round_trip(data: st.DataObject) -> tuple[bytes, bytes, bytes]:
    """Return the archive, that of the restored world, and that of a copy beside it."""
    world = GeneratedWorld(data.draw, rows_each=ROWS_EACH).world
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("first.zip", "again.zip", "copy.zip")]
        archive_world(world, paths[0])
        delete_world(world)
        delete_generated_files(world)
        restored = restore_world(paths[0]).world
        archive_world(restored, paths[1])
        copy = restore_world(paths[0], as_slug="copy").world
        archive_world(copy, paths[2])
        for each in (copy, restored):
            delete_generated_files(each)
        first, again, third = (path.read_bytes() for path in paths)
        return first, again, third


def members(content: bytes) -> dict[str, bytes]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in sorted(archive.namelist())}


def counts(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(members(content)["manifest.json"])["counts"]
    return found


def own_ids(content: bytes) -> set[str]:
    """The keys of the rows of an archive, of those that are not of all worlds."""
    ids = set()
    for label in set(ARCHIVED) - set(SHARED):
        for line in members(content).get(f"rows/{label}.jsonl", b"").splitlines():
            key = json.loads(line).get("id")
            ids |= {key} if isinstance(key, str) else set()
    return ids
