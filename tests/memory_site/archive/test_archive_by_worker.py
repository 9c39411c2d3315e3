"""A real worker makes and restores archives, and the pages know whether one runs."""

import os
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse

from knowledge.models import Lore
from memory_site.presence import is_worker_running
from tests.memory_site.archive.test_export_pages import member, press_archive, upload
from tests.memory_site.test_worker import wait_for, worker
from worlds.archive_run import ArchiveRun
from worlds.models import World

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "DATABASE_URL" in os.environ, reason="the worker is pointed at the embedded test database"
    ),
]


def is_done() -> bool:
    return ArchiveRun.objects.latest("created_at", "pk").state == "done"


def test_a_worker_makes_an_archive_and_restores_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDIA_ROOT", str(settings.MEDIA_ROOT))
    Lore.objects.create(world=world, slug="bell", title="The Bell", body="Bronze.")
    client = member(world, "designer")
    assert not is_worker_running()
    page = client.get(press_archive(client, world).url).content.decode()
    assert "No background worker is running" in page
    with worker():
        assert wait_for(is_worker_running)
        assert wait_for(is_done)
        made = ArchiveRun.objects.get()
        file: Any = client.get(reverse("archive-file", args=[world.slug, made.pk]))
        content = b"".join(file.streaming_content)
        assert upload(client, content, "copy").status_code == 302
        assert wait_for(is_done), ArchiveRun.objects.latest("created_at", "pk").failure
    assert Lore.objects.get(world__slug="copy").body == "Bronze."
    assert wait_for(lambda: not is_worker_running())
