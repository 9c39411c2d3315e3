"""What is no archive, or a bad one, is refused by file and line, and nothing is written."""

import hashlib
import json
import re
import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from art.models import Picture
from art.pictures import store_picture
from knowledge.models import Lore
from memory_site.archive import read
from memory_site.archive.restore import delete_world, restore_world
from memory_site.archive.write import archive_world
from retrieval.errors import Conflict, Invalid
from tests.art.image_samples import bomb, image_bytes
from worlds.audiences import Audience
from worlds.models import Reveal, World
from worlds.reveals import reveal

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


def test_a_world_with_a_reveal_of_what_was_deleted_can_be_copied(
    world: World, lanternbearers: Any, tmp_path: Path
) -> None:
    row = Lore.objects.create(world=world, slug="bell", title="The Bell")
    reveal(row, Audience("party", lanternbearers.slug))
    key = row.pk
    row.delete()
    assert Reveal.objects.filter(subject_id=key).exists()
    archive_world(world, tmp_path / "world.zip")
    copy = restore_world(tmp_path / "world.zip", as_slug="copy").world
    assert Reveal.objects.get(world=copy).subject_id != key


@pytest.fixture
def packed_picture(world: World, tmp_path: Path) -> Path:
    """An archive with a picture, whose world is gone."""
    store_picture(world, image_bytes(), name="pier.png")
    archive_world(world, tmp_path / "pictures.zip")
    world.delete()
    return tmp_path / "pictures.zip"


def test_pictures_are_restored_as_they_were(packed_picture: Path) -> None:
    world = restore_world(packed_picture).world
    picture = Picture.objects.get(world=world)
    with zipfile.ZipFile(packed_picture) as archive, picture.file.open() as stored:
        assert stored.read() == archive.read(f"files/{picture.file.name}")


PICTURES = "rows/art.Picture.jsonl"


@pytest.mark.parametrize(
    ("size", "content", "message"),
    [
        ("original.png", b"<script>alert(1)</script>", "no picture"),
        ("original.png", image_bytes("GIF"), "This is image/gif, not image/png"),
        ("original.png", image_bytes()[:-40], "damaged or incomplete"),
        ("original.png", bomb(), "million pixels"),
        ("thumbnail.webp", image_bytes("PNG"), "This is image/png, not image/webp"),
    ],
)
def test_a_file_that_is_no_picture_of_its_type_is_refused(
    packed_picture: Path, size: str, content: bytes, message: str
) -> None:
    def edit(members: Members) -> None:
        name = next(name for name in members if name.endswith(size))
        members[name] = content

    with pytest.raises(Invalid, match=f"files/pictures/.*{size}: .*{message}"):
        restore_world(change(packed_picture, edit))
    assert not World.objects.exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"image/png"', '"text/html"', "'text/html' is no type of a picture"),
        ("original.png", "original.html", "does not end with .png"),
        ("thumbnail.webp", "thumbnail.js", "does not end with .webp"),
    ],
)
def test_a_picture_of_another_type_is_refused(
    packed_picture: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        restore_world(change(packed_picture, replaced(PICTURES, old, new)))
    assert not World.objects.exists()


def linked(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("files/pictures/../../../etc/cron.d/x.png", "holds no such file"),
        ("/etc/passwd", "holds no such file"),
        ("..\\..\\outside.txt", "holds no such file"),
        (LORE, "a file is in the archive twice"),
    ],
)
def test_a_link_or_a_path_that_leads_out_is_refused(packed: Path, name: str, message: str) -> None:
    with zipfile.ZipFile(packed, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the name that is there twice
        archive.writestr(linked(name), "/etc/passwd")
    with pytest.raises(Invalid, match=message):
        restore_world(packed)
    assert not World.objects.exists()


def test_a_file_of_a_picture_that_is_a_link_is_content_and_no_link(
    packed: Path, tmp_path: Path
) -> None:
    """Members are read, never unpacked: what a link names is not followed. No row names it."""
    key = "00000000-0000-7000-8000-000000000000"
    change(packed, added(f"files/pictures/{key}/{key}/file.png", b"/etc/passwd"))
    with pytest.raises(Invalid, match="no picture of the archive names this file"):
        restore_world(packed)
    assert not default_storage.exists(f"pictures/{key}/{key}/file.png")
    assert not World.objects.exists()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_no_changed_byte_and_no_cut_goes_unnoticed(
    packed: Path, place: float, bit: int, cut: bool
) -> None:
    """Either the archive is refused, or the byte says nothing and the world is the same."""
    whole = packed.read_bytes()
    at = int(place * len(whole))
    other = whole[:at] if cut else whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
    damaged = packed.with_name("damaged.zip")
    damaged.write_bytes(other)
    with transaction.atomic():
        try:
            restored = restore_world(damaged).world
        except Invalid:
            assert not World.objects.exists()
        else:
            assert not cut
            assert Lore.objects.get(world=restored).body == "Bronze."
        transaction.set_rollback(True)
