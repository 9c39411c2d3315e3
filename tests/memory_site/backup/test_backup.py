"""A backup of a running installation, restored into a new one by the commands."""

import io
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyrage
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from PIL import Image

from art.pictures import store_picture
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from memory_site.archive.write import archive_world
from memory_site.backup import restore, write
from memory_site.backup.errors import BackupError
from memory_site.backup.restore import open_backup, read_manifest, refuse_newer
from memory_site.backup.workspace import workspace
from memory_site.backup.write import one_snapshot, write_backup
from worlds.models import World

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[3]


@contextmanager
def load(world: World) -> Iterator[list[str]]:
    """Write entries all the while; yield the slugs of those that were acknowledged."""
    over, written = threading.Event(), list[str]()

    def write_on() -> None:
        with closing(connection):
            while not over.is_set():
                slug = f"pier-{len(written)}"
                save_entry(Lore(world=world, slug=slug, title=slug, body="Boats moor here."))
                written.append(slug)

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        while len(written) < 3:
            over.wait(0.01)
        yield written
    finally:
        over.set()
        writer.join()


def png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (30, 20), "teal").save(buffer, "PNG")
    return buffer.getvalue()


def run_in(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in an installation of its own below `folder`."""
    own = {"MEMORY37_VAR": str(folder), "EMBEDDER": "hashing", "PYTHONWARNINGS": "ignore"}
    environment = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"} | own
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=250
    )


def test_a_backup_made_under_load_gives_the_same_export_elsewhere(
    world: World, tmp_path: Path, settings: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    picture = store_picture(world, png())
    key = tmp_path / "key"
    call_command("backup", new_key=key)
    public = key.read_text().split("public key: ")[1].split()[0]
    with load(world) as written:
        with one_snapshot() as snapshot:
            archive_world(world, tmp_path / "before.zip")
            seen = len(written)
            write_backup(tmp_path / "all.backup", recipient=public, snapshot=snapshot)
        assert len(written) > seen, "nothing was written during the backup"
    assert (tmp_path / "all.backup").stat().st_mode & 0o077 == 0
    fresh = tmp_path / "fresh"
    refused = run_in(fresh, "restore", str(tmp_path / "all.backup"))
    assert "--identity" in refused.stderr
    done = run_in(fresh, "restore", str(tmp_path / "all.backup"), "--identity", str(key))
    assert done.returncode == 0, done.stderr
    done = run_in(fresh, "archive_world", world.slug, str(tmp_path / "after.zip"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "after.zip").read_bytes() == (tmp_path / "before.zip").read_bytes()
    assert (fresh / "media" / picture.file.name).exists()
    again = run_in(fresh, "restore", str(tmp_path / "all.backup"), "--identity", str(key))
    assert "--replace" in again.stderr


def test_a_damaged_backup_changes_nothing(world: World, tmp_path: Path) -> None:
    write_backup(tmp_path / "all.backup")
    with tarfile.open(tmp_path / "all.backup") as archive:
        archive.extractall(tmp_path / "content", filter="data")
    (tmp_path / "content" / "database.dump").write_bytes(b"half")
    with pytest.raises(BackupError, match=r"damaged: database\.dump"):
        read_manifest(tmp_path / "content")
    (tmp_path / "cut").write_bytes((tmp_path / "all.backup").read_bytes()[:700])
    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", tmp_path / "cut")
    assert World.objects.filter(pk=world.pk).exists()


def test_a_backup_of_a_newer_version_is_refused(world: World, tmp_path: Path) -> None:
    manifest = write_backup(tmp_path / "all.backup")
    refuse_newer(manifest)
    manifest.migrations.append("knowledge.9999_from_the_future")
    with pytest.raises(BackupError, match="Install that version"):
        refuse_newer(manifest)


def test_a_database_in_use_is_not_replaced(world: World, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(restore, "OTHERS", "SELECT 2, true")
    write_backup(tmp_path / "all.backup")
    with pytest.raises(CommandError, match="stop web, worker and scheduler"):
        call_command("restore", tmp_path / "all.backup", replace=True)


def test_a_file_that_is_missing_is_named_with_what_it_is_for(world: World, tmp_path: Path) -> None:
    write_backup(tmp_path / "all.backup")
    with pytest.raises(CommandError, match=r"There is no file .*/no\.key with the secret key"):
        call_command("restore", tmp_path / "all.backup", identity=tmp_path / "no.key")
    with pytest.raises(CommandError, match=r"There is no file .*/none\.backup with the backup"):
        call_command("restore", tmp_path / "none.backup")
    with pytest.raises(CommandError, match=r"There is no folder .*/nowhere for the backup"):
        call_command("backup", tmp_path / "nowhere" / "all.backup")


def test_the_wrong_key_opens_nothing(world: World, tmp_path: Path) -> None:
    right, wrong = (pyrage.x25519.Identity.generate() for _key in range(2))
    write_backup(tmp_path / "all.backup", recipient=str(right.to_public()))
    (tmp_path / "wrong").write_text(f"{wrong}\n")
    with (
        pytest.raises(BackupError, match="does not open"),
        open_backup(tmp_path / "all.backup", tmp_path / "wrong"),
    ):
        pass
    with pytest.raises(BackupError, match="no public key"):
        write_backup(tmp_path / "other", recipient="age1nonsense")
    assert not list(tmp_path.glob(".backup-*"))


def test_an_encrypted_backup_that_was_cut_or_changed_is_named_as_damaged(
    world: World, tmp_path: Path
) -> None:
    key, whole = pyrage.x25519.Identity.generate(), tmp_path / "all.backup"
    write_backup(whole, recipient=str(key.to_public()))
    (tmp_path / "key").write_text(f"{key}\n")
    content = bytearray(whole.read_bytes())
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    content[len(content) // 2] ^= 1
    (tmp_path / "changed").write_bytes(content)
    for name in ("cut", "changed"):
        with pytest.raises(CommandError, match=f"{name} is damaged or not whole"):
            call_command("restore", tmp_path / name, identity=tmp_path / "key")
    assert World.objects.filter(pk=world.pk).exists()


def test_what_is_not_encrypted_stays_in_the_folder_of_the_data(
    world: World, tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    """The folder of the backup may be a share, and that of a restoration read-only."""
    settings.VAR_DIR, share = tmp_path / "var", tmp_path / "share"
    share.mkdir()
    seen = list[Path]()
    pack = write.pack

    def pack_and_look(*arguments: Any) -> None:
        pack(*arguments)
        seen.extend(share.iterdir())

    monkeypatch.setattr(write, "pack", pack_and_look)
    key = pyrage.x25519.Identity.generate()
    write_backup(share / "all.backup", recipient=str(key.to_public()))
    assert seen == []
    assert list(share.iterdir()) == [share / "all.backup"]
    assert (share / "all.backup").stat().st_mode & 0o077 == 0
    (tmp_path / "key").write_text(f"{key}\n")
    with open_backup(share / "all.backup", tmp_path / "key") as folder:
        assert folder.is_relative_to(settings.VAR_DIR)
        assert list(share.iterdir()) == [share / "all.backup"]
    assert list(settings.VAR_DIR.iterdir()) == []


WAITING = """
import time
from memory_site.backup.workspace import workspace
with workspace() as folder:
    (folder / "secret_key").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


@contextmanager
def interrupted_work(var: Path) -> Iterator["subprocess.Popen[str]"]:
    own = {"MEMORY37_VAR": str(var), "DJANGO_SETTINGS_MODULE": "memory_site.settings"}
    command = [sys.executable, "-c", WAITING]
    environment = {**os.environ, **own}
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, text=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        assert list(var.glob(".backup-*/*/secret_key"))
        yield process


def test_a_backup_that_is_told_to_end_or_is_killed_leaves_nothing_for_long(
    tmp_path: Path, settings: Any
) -> None:
    settings.VAR_DIR = tmp_path
    with interrupted_work(tmp_path) as process:
        process.terminate()
    assert not list(tmp_path.glob(".backup-*"))
    with interrupted_work(tmp_path) as process:
        with workspace():
            assert list(tmp_path.glob(".backup-*/*/secret_key")), "it is still at work"
        process.kill()
    with workspace() as own:
        assert list(tmp_path.glob(".backup-*")) == [own.parent]
