"""The pages: who may make, download and restore archives, what they get, and what a failure
leaves."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory_site import tasks
from memory_site.archive.write import archive_world
from worlds.archive_run import ArchiveRun
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db
STEPS = ("archive", "archive-progress", "archive-file")


def member(world: World | None, role: str, party: Party | None = None) -> Client:
    user = User.objects.create_user(f"a {role}")
    if world:
        Membership.objects.create(user=user, world=world, role=role, party=party)
    client = Client()
    client.force_login(user)
    return client


def press_archive(client: Client, world: World) -> Any:
    return client.post(reverse("export-archive", args=[world.slug]))


def make(client: Client, world: World) -> ArchiveRun:
    """Ask for an archive, and let the worker make it."""
    assert press_archive(client, world).status_code == 302
    tasks.make_archive(str(ArchiveRun.objects.latest("created_at", "pk").pk))
    return ArchiveRun.objects.latest("created_at", "pk")


def statuses(client: Client, run: ArchiveRun) -> list[int]:
    assert run.world
    address = f"/w/{run.world.slug}/export/"
    keys = [run.world.slug, run.pk]
    return [
        client.get(address).status_code,
        *(client.get(reverse(step, args=keys)).status_code for step in STEPS),
        client.post(f"{address}archive/").status_code,
        client.post(f"{address}vault/").status_code,
        client.post(reverse("archive-delete", args=keys)).status_code,
    ]


def test_a_designer_downloads_the_archive_that_the_command_writes(
    world: World, tmp_path: Path
) -> None:
    client = member(world, "designer")
    asked = press_archive(client, world)
    waiting = client.get(asked.url).content.decode()
    assert "Waiting for the worker" in waiting
    assert "No background worker is running" in waiting
    run = make(client, world)
    assert "The archive is ready" in client.get(asked.url).content.decode()
    response: Any = client.get(reverse("archive-file", args=[world.slug, run.pk]))
    archive_world(world, tmp_path / "world.zip")
    content = b"".join(response.streaming_content)
    assert content == (tmp_path / "world.zip").read_bytes()
    assert run.size == len(content)
    assert statuses(client, run) == [200, 200, 286, 200, 302, 200, 302]


def test_asking_twice_makes_one_archive(world: World) -> None:
    client = member(world, "designer")
    assert press_archive(client, world).url == press_archive(client, world).url
    assert ArchiveRun.objects.count() == 1


def test_others_get_nothing(world: World, lanternbearers: Party) -> None:
    run = make(member(world, "designer"), world)
    assert statuses(member(world, "player", lanternbearers), run) == [404] * 7
    assert statuses(member(None, "stranger"), run) == [404] * 7
    assert statuses(Client(), run) == [302] * 7
    assert default_storage.exists(run.file.name)


def test_an_archive_is_no_file_of_another_world(world: World) -> None:
    run = make(member(world, "designer"), world)
    other = World.objects.create(slug="other", name="Other")
    client = member(other, "gm")
    for step in STEPS:
        assert client.get(reverse(step, args=["other", run.pk])).status_code == 404


def test_a_game_master_who_views_as_a_party_gets_nothing(
    world: World, lanternbearers: Party
) -> None:
    client = member(world, "gm")
    run = make(client, world)
    client.post(f"/w/{world.slug}/as/", {"as": "party:lanternbearers"})
    assert statuses(client, run) == [404] * 7


def test_archives_go_after_some_days_with_their_files(world: World) -> None:
    client = member(world, "designer")
    old, new = make(client, world), make(client, world)
    days = timedelta(days=settings.ARCHIVE_KEEP_DAYS, seconds=1)
    ArchiveRun.objects.filter(pk=old.pk).update(created_at=timezone.now() - days)
    assert tasks.delete_old_archives()["archives"] == 1
    assert client.get(reverse("archive-file", args=[world.slug, old.pk])).status_code == 404
    assert client.get(reverse("archive-file", args=[world.slug, new.pk])).status_code == 200


def upload(client: Client, content: bytes, slug: str = "") -> Any:
    file = SimpleUploadedFile("world.zip", content)
    return client.post("/worlds/restore/", {"file": file, "slug": slug})


def restore(client: Client, content: bytes, slug: str = "") -> ArchiveRun:
    """Upload an archive, and let the worker restore it."""
    assert upload(client, content, slug).status_code == 302
    run = ArchiveRun.objects.latest("created_at", "pk")
    tasks.restore_archive(str(run.pk))
    run.refresh_from_db()
    return run


@pytest.fixture
def packed(world: World, tmp_path: Path) -> bytes:
    archive_world(world, tmp_path / "world.zip")
    return (tmp_path / "world.zip").read_bytes()


def test_whoever_uploads_an_archive_becomes_the_designer_of_its_world(
    world: World, packed: bytes
) -> None:
    client = member(world, "designer")
    user = User.objects.get(username="a designer")
    run = restore(client, packed, "copy")
    assert run.state == "done", run.failure
    people = Membership.objects.filter(world__slug="copy")
    assert [(row.user, row.role) for row in people] == [(user, "designer")]
    page = client.get(reverse("restoration", args=[run.pk])).content.decode()
    assert "/w/copy/" in page
    assert not run.file, "the upload is not kept"


def test_only_those_who_may_create_worlds_restore_and_each_sees_their_own(
    world: World, packed: bytes
) -> None:
    client, player = member(world, "designer"), member(world, "player")
    assert client.get("/worlds/restore/").status_code == 200
    run = restore(client, packed)
    other = member(World.objects.create(slug="other", name="Other"), "designer 2")
    Membership.objects.filter(user__username="a designer 2").update(role="designer")
    for name in ("restoration", "restoration-progress"):
        address = reverse(name, args=[run.pk])
        assert player.get(address).status_code == 403
        assert other.get(address).status_code == 404
        assert client.get(address).status_code in (200, 286)
    assert player.get("/worlds/restore/").status_code == 403
    assert upload(player, packed).status_code == 403


def test_a_taken_address_can_be_changed_without_a_second_upload(
    world: World, packed: bytes
) -> None:
    client = member(world, "designer")
    run = restore(client, packed)
    page = client.get(reverse("restoration", args=[run.pk])).content.decode()
    assert run.state == "failed"
    assert "There is a world at the address &#x27;ferrymark&#x27; already" in page
    client.post(reverse("restoration", args=[run.pk]), {"slug": "페리"})
    tasks.restore_archive(str(run.pk))
    run.refresh_from_db()
    assert (run.state, run.failure) == ("done", "")
    assert World.objects.filter(slug="페리").exists()


def test_a_bad_archive_is_named_and_leaves_nothing(world: World, packed: bytes) -> None:
    client = member(world, "designer")
    before = set(World.objects.values_list("slug", flat=True))
    run = restore(client, b"no zip", "copy")
    page = client.get(reverse("restoration", args=[run.pk])).content.decode()
    assert "world.zip: damaged or no zip file" in page
    assert upload(client, b"").status_code == 422
    assert set(World.objects.values_list("slug", flat=True)) == before
    client.post(reverse("restoration-delete", args=[run.pk]))
    assert not ArchiveRun.objects.filter(pk=run.pk).exists()


def test_work_whose_message_was_lost_is_sent_again_but_not_forever(
    world: World, packed: bytes
) -> None:
    client = member(world, "designer")
    press_archive(client, world)
    run = ArchiveRun.objects.get()
    ArchiveRun.objects.update(created_at=timezone.now() - timedelta(minutes=2), state="working")
    tasks.resume_archives()
    ArchiveRun.objects.update(tries=3)
    tasks.make_archive(str(run.pk))
    run.refresh_from_db()
    assert run.state == "failed"
    assert "each time" in run.failure


def test_files_of_a_deleted_world_are_deleted(world: World) -> None:
    run = make(member(world, "designer"), world)
    world.delete()
    stray = default_storage.save("archives/stray.zip", ContentFile(b"x"))
    assert tasks.delete_old_archives()["files"] == 0, "young files may still be written"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("worlds.stored_files.GRACE", timedelta(seconds=-60))
        assert tasks.delete_old_archives()["files"] >= 2
    assert not default_storage.exists(run.file.name)
    assert not default_storage.exists(stray)
