"""The pages: who may download and restore, and what they get."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from memory_site.archive.write import archive_world
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db
ADDRESSES = ("export/", "export/archive/", "export/vault/")


def member(world: World | None, role: str, party: Party | None = None) -> Client:
    user = User.objects.create_user(f"a {role}")
    if world:
        Membership.objects.create(user=user, world=world, role=role, party=party)
    client = Client()
    client.force_login(user)
    return client


def statuses(client: Client, world: World) -> list[int]:
    first, *others = (f"/w/{world.slug}/{address}" for address in ADDRESSES)
    return [client.get(first).status_code, *(client.post(each).status_code for each in others)]


def test_a_designer_downloads_the_archive_that_the_command_writes(
    world: World, tmp_path: Path
) -> None:
    client = member(world, "designer")
    assert statuses(client, world) == [200, 200, 200]
    response: Any = client.post(f"/w/{world.slug}/export/archive/")
    archive_world(world, tmp_path / "world.zip")
    assert b"".join(response.streaming_content) == (tmp_path / "world.zip").read_bytes()


def test_others_get_nothing(world: World, lanternbearers: Party) -> None:
    assert statuses(member(world, "player", lanternbearers), world) == [404, 404, 404]
    assert statuses(member(None, "stranger"), world) == [404, 404, 404]
    assert statuses(Client(), world) == [302, 302, 302]


def test_a_game_master_who_views_as_a_party_gets_nothing(
    world: World, lanternbearers: Party
) -> None:
    client = member(world, "gm")
    client.post(f"/w/{world.slug}/as/", {"as": "party:lanternbearers"})
    assert statuses(client, world) == [404, 404, 404]


def test_whoever_uploads_an_archive_becomes_the_designer_of_its_world(
    world: World, tmp_path: Path
) -> None:
    client = member(world, "designer")
    user = User.objects.get(username="a designer")
    player = member(world, "player")
    archive_world(world, tmp_path / "world.zip")
    content = (tmp_path / "world.zip").read_bytes()

    def upload(slug: str = "", content: bytes = content) -> Any:
        file = SimpleUploadedFile("world.zip", content)
        return client.post("/worlds/restore/", {"file": file, "slug": slug})

    assert player.get("/worlds/restore/").status_code == 403
    assert client.get("/worlds/restore/").status_code == 200
    assert upload().status_code == 422
    assert "no zip file" in upload("copy", b"no zip").content.decode()
    assert upload("copy").status_code == 302
    people = Membership.objects.filter(world__slug="copy")
    assert [(row.user, row.role) for row in people] == [(user, "designer")]
