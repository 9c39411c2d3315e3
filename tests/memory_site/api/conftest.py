"""A small world with secrets, keys for each audience, and the site on a loopback port."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from knowledge.entry_store import save_entry
from knowledge.models import Document, Lore, Rule
from tests import cast
from tests.memory_site.api.serving import serve
from worlds import keys
from worlds.archive_run import ArchiveRun
from worlds.erasure import permanent_deletion
from worlds.models import ApiKey, GameSystem, World

Keys = Callable[..., str]


@pytest.fixture
def make_key(world: World) -> Keys:
    """Make a key of the world and return its text."""

    def make(
        audience: str = "gm", scopes: tuple[str, ...] = ("tools:read", "world:write"), **more: Any
    ) -> str:
        return keys.create_key(world, name="test", audience=audience, scopes=scopes, **more)[1]

    return make


@pytest.fixture
def asking() -> Callable[[str], Client]:
    """Return Django's test client with a key in its headers."""

    def with_key(key: str) -> Client:
        return Client(headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False)

    return with_key


@pytest.fixture
def mill(world: World) -> Lore:
    return Lore.objects.create(
        world=world,
        slug="drowned-mill",
        title="Drowned Mill",
        kind="place",
        status="published",
        visibility="gm",
        body="The guild hides its ledgers under the wheel.",
    )


@pytest.fixture(scope="module")
def site(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """A committed world, keys that may do everything (`key` in that world, `installation_key` in
    each), and the running site: `url`, `world`.

    Modules that use it are marked `django_db`, else there is no test database to serve from.
    """
    from memory_site.asgi import Application

    assert settings.DATABASES["default"]["NAME"].startswith("test_"), "mark the module django_db"
    with django_db_blocker.unblock():
        world = cast.create_world(slug="ferrymark-live")
        system = world.system
        cast.create_party(cast.create_campaign(world))
        house = Document.objects.create(
            slug="house", title="House rules", system=system, world=world
        )
        body = "A grappled creature's speed becomes 0."
        save_entry(
            Rule(
                key="house/conditions/grappled",
                document=house,
                world=world,
                title="Grappled",
                body=body,
            )
        )
        _key, text = keys.create_key(
            world,
            name="live",
            audience="gm",
            scopes=list(keys.Scope),
            calls_per_minute=1_000_000,
            namespace="live",
        )
        _key, installation_text = keys.create_key(
            None, name="live", audience="gm", scopes=[keys.Scope.ADMIN], calls_per_minute=1_000_000
        )
        with serve(Application()) as url:
            yield {
                "url": url,
                "key": text,
                "installation_key": installation_text,
                "world": world,
            }
        with permanent_deletion():  # ledgers and observations are append-only, short of that
            # Calls may have created more: worlds, rule books, game systems, keys and uploads.
            for model in (World, ArchiveRun, Document, GameSystem, ApiKey):
                model.objects.all().delete()
