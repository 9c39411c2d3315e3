"""Two requests create the same thing at the same moment: one of them is told so."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from memory_site.archive.runs import ask_for_archive
from tests import cast
from tests.conftest import ApiClient
from tests.people import member
from tests.row_locks import wait_for_lock
from worlds import keys
from worlds.archive_run import ArchiveRun
from worlds.models import Campaign, Character, GameSystem, Party, World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def installation(db: None) -> Client:
    _key, text = keys.create_key(None, name="engine", audience="gm", scopes=["admin"])
    return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


def answer_beside(create: Callable[[], Any], send: Callable[[], Any]) -> Any:
    """Return the answer of `send`, which runs while the row of `create` is not committed yet."""

    def send_and_close() -> Any:
        try:
            return send()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            create()
            answer = pool.submit(send_and_close)
            wait_for_lock()
        return answer.result()


@pytest.mark.parametrize("model", [Campaign, Party, Character])
def test_the_second_of_two_requests_gets_409(world: World, campaign: Campaign, model: Any) -> None:
    owner = {"campaign": campaign} if model is Party else {}
    engine, path = ApiClient(world), model._meta.verbose_name_plural

    def create() -> None:
        model.objects.create(world=world, slug="gulls", name="Gulls", **owner)

    status, body = answer_beside(create, lambda: engine.post(f"world/{path}", {"name": "Gulls"}))
    assert (status, body["code"]) == (409, "conflict")
    assert engine.post(f"world/{path}", {"name": "Gulls"})[0] == 409
    assert model.objects.filter(slug="gulls").count() == 1


def test_two_who_ask_for_an_archive_get_one(world: World) -> None:
    asked = answer_beside(lambda: ask_for_archive(world), lambda: ask_for_archive(world))
    assert asked == ArchiveRun.objects.get()


@pytest.mark.parametrize("path", ["systems", "worlds"])
def test_the_second_of_two_requests_for_a_world_or_a_game_system_gets_409(
    installation: Client, path: str
) -> None:
    model: Any = {"systems": GameSystem, "worlds": World}[path]
    answer = answer_beside(
        lambda: model.objects.create(slug="gulls", name="Gulls"),
        lambda: installation.post(
            f"/api/v1/{path}", {"name": "Gulls"}, content_type="application/json"
        ),
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_form_says_that_somebody_was_faster(
    world: World, campaign: Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    designer = member(world, "anna", role="designer")
    designer.raise_request_exception = False
    answer = answer_beside(
        lambda: cast.create_party(campaign, slug="gulls", name="Gulls"),
        lambda: designer.post(
            f"/w/{world.slug}/people/party/", {"name": "Gulls", "campaign": campaign.pk}
        ),
    )
    assert answer.status_code == 409
    assert "Somebody else" in answer.content.decode()
    constraint = "party_slug_in_world"
    assert constraint not in answer.content.decode()
    assert constraint in caplog.text, "the log says what was refused"
