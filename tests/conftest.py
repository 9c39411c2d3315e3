"""Shared fixtures. The database is the embedded one (or DATABASE_URL); nothing has to be started by
hand."""

import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.management.commands import flush
from django.db import connection, transaction
from django.test import Client
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from memory_site.broker import celery_defaults
from memory_site.celery import app as celery_app
from memory_site.demo.load import load_demo
from npcs.models import NPC
from retrieval.embedders import serving_models
from tests import cast
from tests.counters import _metric_reader, counted  # noqa: F401
from tests.distribution import (
    ONE_SERVER,
    pytest_xdist_make_scheduler,  # noqa: F401
    sort_by_duration,
)
from tests.loopback.fixtures import hosted_embedder, openai_server, scripted_llm  # noqa: F401
from tests.migrated_template import migrated_template
from tests.saved_rows import SavedRows
from worlds import audit, callers, keys
from worlds.models import Campaign, Party, World

# Times of a shared machine say nothing about the code.
hypothesis_settings.register_profile(
    "memory37", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("memory37")

SLOW_FOLDERS = {*ONE_SERVER, "browser", "api", "demo", "bench"}
SLOW_FIXTURES = {"transactional_db", "openai_server", "live_server"}
"""Tests in these folders, or with these fixtures, commit rows or start servers: `make quick` leaves
them out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-examples", action="store_true", help="Write the examples of the API document."
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.parent.name
        if folder in SLOW_FOLDERS or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    sort_by_duration(items)


def pytest_collection_finish() -> None:
    """Thousands of collected tests and all modules live as long as the process: the garbage
    collector need not look through them again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> None:
    """Copy the test database from one that is migrated already."""
    with django_db_blocker.unblock():
        settings.DATABASES["default"]["TEST"]["TEMPLATE"] = migrated_template()


@pytest.fixture(autouse=True)
def _hashing_embedder() -> None:
    """Tests use the deterministic embedder through the real setting; a test that wants another
    overrides it."""
    settings.EMBEDDER = "hashing"
    serving_models.set_serving_models({})


@pytest.fixture(autouse=True)
def _language_of_the_settings() -> Iterator[None]:
    """A request in another language leaves it active in this thread; the next test begins anew."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def _quick_password_hashes() -> None:
    """The hasher of the site takes a quarter of a second for each password, on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_found_when_asked_for() -> None:
    """Else each `Client` reads the folders of all static files before its first request."""
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session", autouse=True)
def _pictures_in_a_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("media")


@pytest.fixture(autouse=True)
def _gathered_calls_are_written(request: pytest.FixtureRequest) -> Iterator[None]:
    """Before a test's tables are emptied: a row that comes later would find its world gone."""
    yield
    marker = request.node.get_closest_marker("django_db")
    commits = marker is not None and marker.kwargs.get("transaction")
    if commits or "transactional_db" in request.fixturenames:
        audit.flush()


@pytest.fixture(scope="session", autouse=True)
def _close_the_broker(django_db_setup: None) -> Iterator[None]:
    """The broker is in the test database, whose name is known only now; its pool must not outlive
    that database."""
    celery_app.conf.update(celery_defaults())
    yield
    celery_app.pool.force_close_all()


@pytest.fixture(scope="session", autouse=True)
def _quick_test_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Commits do not wait for the disk, in no process that uses the database; no test crashes its
    server. After a test that commits, Django truncates every table and makes content types and
    rights anew, which takes half a second; to put back the rows of a new database takes ten
    milliseconds.
    """
    name = connection.settings_dict["NAME"]
    if name != connection.settings_dict["TEST"]["NAME"]:  # no test of this run needs one
        yield
        return
    with django_db_blocker.unblock():
        with connection.cursor() as cursor:
            cursor.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        connection.close()
        connection.close_pool()
        with transaction.atomic():
            first_rows = SavedRows.read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush.Command, "handle", lambda *_given, **_options: first_rows.write())
        yield


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls of API keys are counted in one minute: a test that runs while the next one begins
    would find its limit full again."""
    minute = "date_trunc('minute', clock_timestamp())"
    assert minute in callers.COUNT_CALL
    fixed = callers.COUNT_CALL.replace(minute, "timestamptz '2026-01-01 12:00:00Z'")
    monkeypatch.setattr(callers, "COUNT_CALL", fixed)


@pytest.fixture(scope="session")
def demo_rows(django_db_setup: None, django_db_blocker: Any) -> SavedRows:
    """The rows of a database that holds the demo world and nothing else. Each process loads it
    once, because that takes as long as ten other tests."""
    settings.EMBEDDER = "hashing"
    with django_db_blocker.unblock(), transaction.atomic():
        assert not World.objects.exists()
        load_demo()
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture
def demo(demo_rows: SavedRows, db: None) -> World:
    """The demo world. A test that asks for `transactional_db` as well has it committed."""
    demo_rows.write()
    return World.objects.get(slug="ferrymark")


@pytest.fixture
def world(db: None) -> World:
    return cast.create_world()


@pytest.fixture
def campaign(world: World) -> Campaign:
    return cast.create_campaign(world)


@pytest.fixture
def lanternbearers(campaign: Campaign) -> Party:
    return cast.create_party(campaign)


@pytest.fixture
def gilded_oath(campaign: Campaign) -> Party:
    return cast.create_party(campaign, **cast.GILDED_OATH)


@pytest.fixture
def mira(world: World) -> NPC:
    return cast.create_npc(world, **cast.MIRA_VOSS)


@pytest.fixture
def jory(world: World) -> NPC:
    return cast.create_npc(world, **cast.JORY_FENN)


@pytest.fixture
def ninth_oarsman(world: World) -> NPC:
    return cast.create_npc(world, **cast.NINTH_OARSMAN)


class ApiClient:
    """An HTTP client with an API key: sends JSON, returns the status and the parsed JSON."""

    def __init__(self, world: World, **key: Any) -> None:
        given = {"name": "test", "audience": "gm", "scopes": ["tools:read", "world:write"], **key}
        self.key, text = keys.create_key(world, **given)
        self.client = Client(
            headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False
        )

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        sent = "" if body is None else json.dumps(body)
        kind = "application/json"
        answer = self.client.generic(
            method, f"/api/v1/{path}", sent, content_type=kind, headers=headers
        )
        return answer.status_code, json.loads(answer.content or b"null")

    def post(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        return self.send("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        return self.send("PUT", path, body, **headers)

    def get(self, path: str) -> tuple[int, Any]:
        return self.send("GET", path)

    def tool(self, name: str, **arguments: Any) -> tuple[int, Any]:
        return self.post(f"tools/{name}", arguments)


@pytest.fixture
def engine(world: World) -> ApiClient:
    """A game engine: a key that may write and sees what a game master sees."""
    return ApiClient(world)


@pytest.fixture
def client_with_key(world: World) -> Callable[..., ApiClient]:
    """Create a client with a key of any audience or scope:
    `client_with_key(audience="party:lanternbearers")`."""
    return lambda **key: ApiClient(world, **key)
