"""Archives from before a model was there."""

import json
import zipfile
from pathlib import Path

import pytest

from memory_site.archive.restore import restore_world
from memory_site.archive.write import MANIFEST, archive_world
from worlds.characters import set_members
from worlds.models import Character, Party

pytestmark = pytest.mark.django_db
CHARACTERS = "rows/worlds.Character.jsonl"


def test_the_members_of_parties_become_characters(lanternbearers: Party, tmp_path: Path) -> None:
    set_members(lanternbearers, ["Бо", "Ana"])
    new, old = tmp_path / "new.zip", tmp_path / "old.zip"
    archive_world(lanternbearers.world, new)
    with zipfile.ZipFile(new) as source, zipfile.ZipFile(old, "w") as target:
        manifest = json.loads(source.read(MANIFEST))
        del manifest["members"][CHARACTERS]
        target.writestr(MANIFEST, json.dumps(manifest))
        for name in source.namelist():
            if name not in (MANIFEST, CHARACTERS):
                target.writestr(name, source.read(name))
    restored = restore_world(old, replace=True)
    rows = Character.objects.filter(world=restored.world).order_by("position")
    assert [(row.slug, row.name) for row in rows] == [("бо", "Бо"), ("ana", "Ana")]
    assert Party.objects.get(world=restored.world).members == ["Бо", "Ana"]
