"""Files that no row names are deleted, in a local folder and in a storage without folders (S3)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from art.pictures import file_names, store_picture
from art.tasks import purge_pictures
from memory_site.tasks import delete_old_archives, delete_old_uploads
from retrieval.models import uuid7
from tests.art.image_samples import image_bytes
from tests.flat_storage import FLAT_STORAGE
from worlds import stored_files
from worlds.models import ImportRun, World

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["folders", "no folders"], autouse=True)
def _storage(request: pytest.FixtureRequest, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    if request.param == "no folders":
        settings.STORAGES = {**settings.STORAGES, "default": FLAT_STORAGE}


@pytest.fixture
def _all_files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_files, "GRACE", timedelta(minutes=-1))


def stray(name: str) -> str:
    return default_storage.save(name, ContentFile(b"x"))


@pytest.mark.usefixtures("_all_files_are_old")
def test_files_of_pictures_without_a_row_are_deleted(world: World) -> None:
    kept = store_picture(world, image_bytes())
    lost = [stray(f"pictures/{world.pk}/{uuid7()}/original.png") for _each in range(2)]
    foreign = stray("pictures/photos/album/original.png")
    assert purge_pictures() == {"pictures": 0, "files": 2}
    assert not any(map(default_storage.exists, lost))
    assert all(map(default_storage.exists, [foreign, *file_names(kept)]))


@pytest.mark.usefixtures("_all_files_are_old")
def test_uploads_and_archives_without_a_run_are_deleted(world: World) -> None:
    run = ImportRun(world=world)
    run.file.save("kept.zip", ContentFile(b"x"))
    lost = [stray("imports/lost.zip"), stray("archives/lost.zip")]
    assert delete_old_uploads()["files"] == 1
    assert delete_old_archives()["files"] == 1
    assert not any(map(default_storage.exists, lost))
    assert default_storage.exists(run.file.name)


def test_young_files_and_an_empty_storage_are_left_alone(world: World) -> None:
    assert purge_pictures()["files"] == delete_old_uploads()["files"] == 0
    young = [stray(f"pictures/{world.pk}/{uuid7()}/original.png"), stray("imports/young.zip")]
    assert purge_pictures()["files"] == delete_old_uploads()["files"] == 0
    assert all(map(default_storage.exists, young))
