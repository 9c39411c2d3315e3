"""Every address names whom it is for, and lets nobody else in.

Pages say it by their decorator (`worlds.pages`); operations of the API all need a key. A page that
does not say it fails here, unless `OUTSIDE_OF_WORLDS` does.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from memories.models import Namespace
from tests.api_document import api_document
from tests.conftest import ApiClient
from tests.memory_site.test_query_counts import UNKNOWN, known_arguments, make_world
from worlds import keys
from worlds.models import Membership, Party, World
from worlds.pages import GAME_MASTERS, MEMBERS

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

OF_THE_KEY = ("/api/v1/me", "/api/v1/systems")
"""They tell of the key itself, and of what all worlds share."""
EVERYONE, SIGNED_IN, OPERATORS = "everyone", "signed in", "a token, if one is set"
OUTSIDE_OF_WORLDS = {
    "health-live": EVERYONE,
    "health-ready": EVERYONE,
    "favicon.ico": EVERYONE,
    "metrics": OPERATORS,
    "look": EVERYONE,
    "set_language": EVERYONE,
    **dict.fromkeys(("login", "account_login", "logout", "account_logout"), EVERYONE),
    "account_inactive": EVERYONE,
    # After the password, and before one is signed in.
    "mfa_authenticate": EVERYONE,
    **dict.fromkeys(("openid_connect_login", "openid_connect_callback"), EVERYONE),
    **dict.fromkeys(("socialaccount_login_cancelled", "socialaccount_login_error"), EVERYONE),
    "socialaccount_signup": EVERYONE,
    "invitation": EVERYONE,
    "password_reset": EVERYONE,
    "password_reset_done": EVERYONE,
    "password_reset_confirm": EVERYONE,
    "password_reset_complete": EVERYONE,
    "api-guide": EVERYONE,
    "worlds": SIGNED_IN,
    "world-new": SIGNED_IN,
    "world-restore": SIGNED_IN,
    "restoration": SIGNED_IN,
    "restoration-progress": SIGNED_IN,
    "restoration-delete": SIGNED_IN,
    "account": SIGNED_IN,
    **dict.fromkeys(("account_reauthenticate", "mfa_reauthenticate", "mfa_index"), SIGNED_IN),
    **dict.fromkeys(("mfa_activate_totp", "mfa_deactivate_totp"), SIGNED_IN),
    "mfa_view_recovery_codes": SIGNED_IN,
    "mfa_generate_recovery_codes": SIGNED_IN,
    "mfa_download_recovery_codes": SIGNED_IN,
    "socialaccount_connections": SIGNED_IN,
    "password_change": SIGNED_IN,
    "password_change_done": SIGNED_IN,
    "view-as": GAME_MASTERS,
    "choose-campaign": MEMBERS,
    # They lead to another address, which decides.
    "w/<str:world>/lore/<str:slug>/versions/": EVERYONE,
    "w/<str:world>/npcs/<str:slug>/versions/": EVERYONE,
}
"""Whom the addresses are for that are no page of a world, by name, else by their pattern."""


def site_patterns(
    resolver: Any, outer: dict[str, Any], before: str = ""
) -> Iterator[tuple[str, URLPattern, dict[str, Any]]]:
    """Every pattern outside the admin and the API, with its whole text and its arguments. The admin
    has a walk of its own."""
    for each in resolver.url_patterns:
        arguments = {**outer, **{n: type(c) for n, c in each.pattern.converters.items()}}
        text = f"{before}{each.pattern}"
        if isinstance(each, URLPattern):
            yield text, each, arguments
        elif not each.namespace:
            yield from site_patterns(each, arguments, text)


def access_of(text: str, pattern: URLPattern) -> str:
    stated = getattr(pattern.callback, "access", "")
    return stated or OUTSIDE_OF_WORLDS.get(pattern.name or text, "")


def test_every_address_names_whom_it_is_for() -> None:
    patterns = list(site_patterns(get_resolver(), {}))
    assert len(patterns) > 150
    assert [text for text, pattern, _arguments in patterns if not access_of(text, pattern)] == []


# --- pages of two worlds


def visitor(name: str, **membership: Any) -> Client:
    user = User.objects.create_user(name)
    if membership:
        Membership.objects.create(user=user, **membership)
    client = Client(raise_request_exception=False)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page_addresses(world: World) -> Iterator[tuple[str, str]]:
    """The address of every page of a world, with whom it is for."""
    known = known_arguments(world)
    for text, pattern, wanted in site_patterns(get_resolver(), {}):
        if not text.startswith("w/") or not pattern.name or pattern.name == "live":
            continue
        kwargs = {
            each: known.get(f"{pattern.name} {each}", known.get(each, UNKNOWN.get(kind, "nothing")))
            for each, kind in wanted.items()
        }
        yield reverse(pattern.name, kwargs=kwargs), access_of(text, pattern)


def test_no_page_lets_in_whom_it_is_not_for(db: None) -> None:
    own, foreign = make_world("own", 2), make_world("foreign", 2)
    party = Party.objects.filter(world=own).first()
    strangers = {
        "designer of another world": visitor("dana", world=own, role="designer"),
        "game master of another world": visitor("gus", world=own, role="gm"),
        "player of another world": visitor("pat", world=own, role="player", party=party),
        "operator": visitor("olga", world=None, role="operator"),
        "member of no world": visitor("nina"),
        "nobody": Client(raise_request_exception=False),
    }
    asked, passes = 0, []
    for address, access in page_addresses(foreign):
        for name, client in strangers.items():
            for send in (client.get, client.post):
                answer = send(address)
                asked += 1
                # 405 is said before anything is looked up, and a redirect leads to the login.
                is_login = answer.status_code == 302 and "/login/" in answer["Location"]
                if answer.status_code not in (404, 405) and not is_login:
                    passes.append((name, send.__name__, address, answer.status_code, access))
    for address, access in page_addresses(own):
        if access == GAME_MASTERS:
            for send in (strangers["player of another world"].get, client.post):
                answer = send(address)
                asked += 1
                is_login = answer.status_code == 302 and "/login/" in answer["Location"]
                if answer.status_code not in (404, 405) and not is_login:
                    passes.append(("player", send.__name__, address, answer.status_code, access))
    assert passes == []
    assert asked > 1_500


# --- operations


def operations() -> Iterator[tuple[str, str]]:
    for path, methods in api_document()["paths"].items():
        for method in methods:
            yield method.upper(), path


@pytest.mark.parametrize("value", ["1", "x", "01890000-0000-7000-8000-000000000001"])
def test_no_operation_answers_without_a_key(db: None, value: str) -> None:
    """Not even whether an id can be one."""
    client = Client(raise_request_exception=False)
    passes = []
    for method, path in operations():
        address = "".join(value if part.startswith("{") else part for part in split_path(path))
        status = client.generic(method, address, "{}", content_type="application/json").status_code
        if status != 401:
            passes.append((method, path, status))
    assert passes == []


def split_path(path: str) -> list[str]:
    return path.replace("{", "\0{").replace("}", "}\0").split("\0")


def test_no_operation_writes_with_a_key_that_reads(db: None, world: World) -> None:
    """A key with the scope of the tools alone changes nothing and reads no operation of the game
    master."""
    reader = ApiClient(world, audience="public", scopes=["tools:read"], calls_per_minute=1_000_000)
    passes = []
    for method, path in operations():
        if method == "GET" or path.startswith("/api/v1/tools/"):
            continue
        address = "".join("1" if part.startswith("{") else part for part in split_path(path))
        answer = reader.client.generic(method, address, "{}", content_type="application/json")
        if answer.status_code < 400 and path not in OF_THE_KEY:
            passes.append((method, path, answer.status_code))
    assert passes == []


def test_a_key_of_one_world_names_no_other(world: World) -> None:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    _key, text = keys.create_key(world, name="engine", audience="gm", scopes=["admin"])
    client = Client(headers={"Authorization": f"Bearer {text}", "X-World": other.slug})
    passes = []
    for method, path in operations():
        address = "".join("1" if part.startswith("{") else part for part in split_path(path))
        answer = client.generic(method, address, "{}", content_type="application/json")
        if answer.status_code < 400 and path not in OF_THE_KEY:
            passes.append((method, path, answer.status_code))
    assert passes == []


@pytest.mark.parametrize("slug", ["стылый-брод", "안개나루"])
@pytest.mark.parametrize("sent", ["utf-8", "percent"])
def test_a_key_of_the_installation_names_a_world_in_any_script(slug: str, sent: str) -> None:
    World.objects.create(slug=slug, name=slug)
    _key, text = keys.create_key(None, name="engine", audience="gm", scopes=["admin"])
    # Django's client sends the characters as the bytes of Latin-1, as a server receives them.
    header = quote(slug) if sent == "percent" else slug.encode().decode("latin-1")
    client = Client(headers={"Authorization": f"Bearer {text}", "X-World": header})
    answer = client.put(
        "/api/v1/world/npcs", {"npc_id": "a", "name": "A"}, content_type="application/json"
    )
    assert answer.json()["outcome"] == "created"
    namespace = {"X-Namespace": "летописец".encode().decode("latin-1")}
    stored = client.post(
        "/api/v1/memory", {"contents": ["Мы играем."]}, "application/json", headers=namespace
    )
    assert stored.status_code == 201, stored.content
    assert Namespace.objects.filter(world__slug=slug, name="летописец").exists()
