"""What is no archive, or a bad one, is refused by file and line, and nothing is written."""

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.models import Lore
from memory_site.archive import read
from memory_site.archive.restore import delete_world, restore_world
from memory_site.archive.write import archive_world
from retrieval.errors import Conflict, Invalid
from worlds.models import World

pytestmark = pytest.mark.django_db
LORE = "rows/knowledge.Lore.jsonl"
Members = dict[str, bytes]


@pytest.fixture
def packed(world: World, campaign: Any, tmp_path: Path) -> Path:
    Lore.objects.create(world=world, slug="bell", title="The Bell", body="Bronze.")
    archive_world(world, tmp_path / "world.zip")
    delete_world(world)
    return tmp_path / "world.zip"


def change(path: Path, edit: Callable[[Members], None], *, sign: bool = True) -> Path:
    """Rewrite an archive; with `sign` its manifest agrees with the changed files."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    edit(members)
    if sign:
        manifest = json.loads(members["manifest.json"])
        manifest["members"] = {
            name: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
            for name, content in members.items()
            if name != "manifest.json"
        }
        members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def replaced(member: str, old: str, new: str) -> Callable[[Members], None]:
    def edit(members: Members) -> None:
        assert old.encode() in members[member]
        members[member] = members[member].replace(old.encode(), new.encode())

    return edit


def added(member: str, content: bytes) -> Callable[[Members], None]:
    def edit(members: Members) -> None:
        members[member] = members.get(member, b"") + content

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (added(LORE, b"{broken\n"), f"{LORE}, line 2: not valid JSON"),
        (added(LORE, b"[1]\n"), f"{LORE}, line 2: not a row"),
        (replaced(LORE, '"body"', '"corpus"'), f"{LORE}, line 1: this site knows no field"),
        (replaced(LORE, '"custom"', '"spell"'), f"{LORE}, line 1: 'spell' is no kind"),
        (replaced(LORE, '"version": 1', '"version": -1'), f"{LORE}, line 1"),
        (added("rows/knowledge.Spell.jsonl", b"{}\n"), "holds no such file"),
        (added("files/../../etc/passwd", b"root"), "holds no such file"),
        (added("../outside.txt", b"x"), "holds no such file"),
        (added("rows/worlds.World.jsonl", b""), ""),
        (replaced("manifest.json", '"version": 1,', '"version": 2,'), "newer than 1"),
        (replaced("manifest.json", "memory37-archive", "other"), "is not 'memory37-archive'"),
    ],
)
def test_a_bad_archive_is_refused_and_named(
    packed: Path, edit: Callable[[Members], None], message: str
) -> None:
    change(packed, edit)
    if not message:
        assert restore_world(packed).counts["knowledge.Lore"] == 1
        return
    with pytest.raises(Invalid, match=re.escape(message)):
        restore_world(packed)
    assert not World.objects.exists()


def test_a_changed_file_has_the_wrong_checksum(packed: Path) -> None:
    change(packed, replaced(LORE, "Bronze", "Silver"), sign=False)
    with pytest.raises(Invalid, match=f"{LORE}: damaged"):
        restore_world(packed)


def test_a_truncated_file_and_no_zip_at_all(packed: Path) -> None:
    packed.write_bytes(packed.read_bytes()[:-200])
    with pytest.raises(Invalid, match=r"world\.zip: damaged or no zip file"):
        restore_world(packed)


def test_a_zip_bomb_is_not_unpacked(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "NEVER_TOO_LARGE", 1_000_000)
    change(packed, added(LORE, b" " * 50_000_000))
    with pytest.raises(Invalid, match="too large"):
        restore_world(packed)


def test_a_row_of_another_world_is_refused(packed: Path) -> None:
    victim = World.objects.create(slug="other", name="Other")
    change(packed, lambda members: into_world(members, victim))
    with pytest.raises(Invalid, match=f"{LORE}, line 1: world .* is not in the archive"):
        restore_world(packed)
    assert not Lore.objects.filter(world=victim).exists()


def into_world(members: Members, world: World) -> None:
    row = json.loads(members[LORE])
    members[LORE] = json.dumps({**row, "world_id": str(world.pk)}).encode() + b"\n"


def test_a_world_that_is_here_is_replaced_only_on_demand(packed: Path) -> None:
    restored = restore_world(packed).world
    Lore.objects.filter(world=restored).update(body="Changed.")
    with pytest.raises(Conflict, match="already"):
        restore_world(packed)
    assert Lore.objects.get(world=restored).body == "Changed."
    restore_world(packed, replace=True)
    assert Lore.objects.get(world__slug=restored.slug).body == "Bronze."


def test_a_copy_has_ids_of_its_own(packed: Path, tmp_path: Path) -> None:
    first = restore_world(packed).world
    copy = restore_world(packed, as_slug="copy")
    assert copy.is_copy
    assert copy.world.pk != first.pk
    assert Lore.objects.get(world=first).pk != Lore.objects.get(world=copy.world).pk
    assert copy.world.campaigns.count() == first.campaigns.count() == 1
