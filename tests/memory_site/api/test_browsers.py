"""Web pages on other hosts call the API with keys that name them."""

import pytest
from django.test import Client

from retrieval.errors import Invalid
from tests.conftest import ApiClient
from worlds import keys
from worlds.models import World

pytestmark = pytest.mark.django_db
PAGE = "https://table.example.org"
ELSEWHERE = "https://elsewhere.example.org"
TOOL = "/api/v1/tools/rules_lookup"


@pytest.fixture
def browser(world: World) -> Client:
    _key, text = keys.create_key(world, name="page", origins=[PAGE])
    return Client(headers={"Authorization": f"Bearer {text}"})


def ask(client: Client, origin: str) -> tuple[int, str]:
    answer = client.post(
        TOOL, {"term": "grappled"}, content_type="application/json", headers={"Origin": origin}
    )
    return answer.status_code, answer.get("Access-Control-Allow-Origin", "")


def preflight(client: Client, origin: str) -> str:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    }
    answer = client.options(TOOL, headers=headers)
    return answer.get("Access-Control-Allow-Origin", "")


def test_a_page_uses_the_key_that_names_it(browser: Client, client: Client) -> None:
    assert preflight(client, PAGE) == PAGE
    assert ask(browser, PAGE) == (200, PAGE)


def test_another_page_does_not(browser: Client, client: Client) -> None:
    assert preflight(client, ELSEWHERE) == ""
    assert ask(browser, ELSEWHERE) == (403, "")


def test_a_page_may_read_why_it_is_refused(browser: Client, client: Client) -> None:
    assert ask(client, PAGE) == (401, PAGE)


def test_a_revoked_key_opens_no_page(world: World, client: Client) -> None:
    key, _text = keys.create_key(world, name="page", origins=[PAGE])
    keys.revoke(key)
    assert preflight(client, PAGE) == ""


def test_a_key_without_pages_is_read_by_none(engine: ApiClient, browser: Client) -> None:
    """Its answer is there, but the browser does not hand it to the script."""
    assert ask(engine.client, PAGE) == (200, "")


def test_a_program_without_an_origin_uses_any_key(browser: Client) -> None:
    assert browser.get("/api/v1/me").status_code == 200


def test_pages_of_the_site_itself_are_not_another_origin(browser: Client) -> None:
    assert ask(browser, "http://testserver")[0] == 200


@pytest.mark.parametrize(
    "rights", [{"audience": "gm"}, {"scopes": ["tools:read", "world:write"]}, {"scopes": ["admin"]}]
)
def test_a_key_of_pages_neither_sees_secrets_nor_writes(
    world: World, rights: dict[str, object]
) -> None:
    with pytest.raises(Invalid, match="read by everybody who opens the page"):
        keys.create_key(world, name="page", origins=[PAGE], **rights)  # type: ignore[arg-type]


def test_other_addresses_answer_no_page(browser: Client, client: Client) -> None:
    answer = client.get("/accounts/login/", headers={"Origin": PAGE})
    assert "Access-Control-Allow-Origin" not in answer
