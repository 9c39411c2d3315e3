"""Whoever set up a second factor signs in with it, wherever they come from. An identity provider
may take the place of the password."""

import base64
import hmac
import json
import struct
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from worlds.models import Membership

pytestmark = pytest.mark.django_db
PASSWORD = "a lantern at the pier"


def code_now(secret: str, *, steps_ago: int = 0) -> str:
    """RFC 6238 with SHA-1, six digits and steps of 30 seconds."""
    counter = struct.pack(">Q", int(time.time()) // 30 - steps_ago)
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def signed_in_user(client: Client) -> int | None:
    key = client.session.get("_auth_user_id")
    return int(key) if key else None


def sign_in(client: Client, **more: Any) -> Any:
    return client.post(reverse("login"), {"username": "kay", "password": PASSWORD, **more})


@pytest.fixture
def kay(db: None) -> User:
    cache.clear()  # codes that were used, and attempts
    return User.objects.create_user("kay", password=PASSWORD, is_superuser=True, is_staff=True)


@pytest.fixture
def secret(kay: User) -> str:
    """The secret of Kay's authenticator app, set up on the pages."""
    client = Client()
    sign_in(client)
    page = reverse("mfa_activate_totp")
    asked = client.get(page)
    assert asked.url.startswith(reverse("account_reauthenticate"))
    client.post(asked.url, {"password": PASSWORD})
    text = str(client.get(page).context["form"].secret)
    assert client.post(page, {"code": code_now(text)}).status_code == 302
    cache.clear()
    return text


def codes_of(kay: User) -> list[str]:
    row = Authenticator.objects.get(user=kay, type="recovery_codes")
    return list(row.wrap().get_unused_codes())


def test_without_a_second_factor_the_password_is_enough(kay: User) -> None:
    client = Client()
    assert sign_in(client, next="/account/").url == "/account/"
    assert signed_in_user(client) == kay.pk


def test_the_password_alone_signs_nobody_in_who_has_a_second_factor(kay: User, secret: str) -> None:
    client = Client()
    assert sign_in(client, next="/account/").url.startswith(reverse("mfa_authenticate"))
    assert signed_in_user(client) is None
    assert client.get("/admin/").status_code == 302
    page = reverse("mfa_authenticate")
    assert client.post(page, {"code": "000000"}).status_code == 200
    assert signed_in_user(client) is None
    assert client.post(page, {"code": code_now(secret)}).url == "/account/"
    assert signed_in_user(client) == kay.pk
    assert client.get("/admin/").status_code == 200


def test_the_code_of_the_half_minute_before_counts_and_an_older_one_does_not(
    kay: User, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, page, now = Client(), reverse("mfa_authenticate"), time.time()
    sign_in(client, next="/account/")
    monkeypatch.setattr(time, "time", lambda: now)
    assert client.post(page, {"code": code_now(secret, steps_ago=2)}).status_code == 200
    assert signed_in_user(client) is None
    assert client.post(page, {"code": code_now(secret, steps_ago=1)}).url == "/account/"


@pytest.mark.parametrize("form", ["/admin/login/", "/admin/"])
def test_the_admin_has_no_login_of_its_own(secret: str, form: str) -> None:
    client = Client()
    answer = client.post(form, {"username": "kay", "password": PASSWORD}, follow=True)
    assert signed_in_user(client) is None
    assert answer.redirect_chain[-1][0].startswith(reverse("login"))


def test_a_recovery_code_signs_in_once(kay: User, secret: str) -> None:
    code = codes_of(kay)[0]
    for expected in (kay.pk, None):
        client = Client()
        sign_in(client)
        client.post(reverse("mfa_authenticate"), {"code": code})
        assert signed_in_user(client) == expected


def test_a_new_password_does_not_take_the_second_factor_away(kay: User, secret: str) -> None:
    kay.set_password("another lantern")
    kay.save()
    client = Client()
    assert sign_in(client, password="another lantern").url.startswith(reverse("mfa_authenticate"))
    assert signed_in_user(client) is None


def test_the_secret_is_not_in_the_database(kay: User, secret: str) -> None:
    stored = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert not any(code in stored for code in codes_of(kay))


def test_an_operator_lets_somebody_in_who_lost_the_phone(kay: User, secret: str) -> None:
    User.objects.create_user("olga", password=PASSWORD)
    pat = User.objects.create_user("pat", password=PASSWORD)
    Authenticator.objects.filter(user=kay).update(user=pat)
    operator = Client()
    olga = User.objects.get(username="olga")
    Membership.objects.create(user=olga, world=None, role="operator")
    operator.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")
    operator.post(f"/admin/auth/user/{pat.pk}/remove-second-factor/")
    operator.get(f"/admin/auth/user/{pat.pk}/remove-second-factor/")
    assert not Authenticator.objects.filter(user=pat).exists()


def test_an_operator_takes_no_second_factor_from_an_administrator(kay: User, secret: str) -> None:
    olga = User.objects.create_user("olga")
    Membership.objects.create(user=olga, world=None, role="operator")
    operator = Client()
    operator.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")
    assert operator.get(f"/admin/auth/user/{kay.pk}/remove-second-factor/").status_code == 403
    assert Authenticator.objects.filter(user=kay).exists()


@pytest.mark.parametrize("language", ["ru", "ko"])
@pytest.mark.parametrize("name", ["mfa_index", "mfa_view_recovery_codes", "account"])
def test_the_pages_are_translated(kay: User, secret: str, name: str, language: str) -> None:
    client = Client(headers={"Accept-Language": language})
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": codes_of(kay)[0]})
    page = client.get(reverse(name)).content.decode()
    assert "Second factor" not in page
    assert "ecovery code" not in page


# --- an identity provider


class Provider(BaseHTTPRequestHandler):
    """An OpenID Connect provider that lets in Ada."""

    def log_message(self, *_args: Any) -> None:
        pass

    def do_GET(self) -> None:
        root = f"http://127.0.0.1:{self.server.server_address[1]}"
        told = {
            "/.well-known/openid-configuration": {
                "issuer": root,
                "authorization_endpoint": f"{root}/authorize",
                "token_endpoint": f"{root}/token",
                "userinfo_endpoint": f"{root}/userinfo",
                "jwks_uri": f"{root}/keys",
            },
            "/userinfo": {"sub": "ada-1", "preferred_username": "ada", "email": "ada@example.org"},
        }
        self.tell(told[urlsplit(self.path).path])

    def do_POST(self) -> None:
        root = f"http://127.0.0.1:{self.server.server_address[1]}"
        now = int(time.time())
        claims = {"iss": root, "aud": "memory37", "sub": "ada-1", "iat": now, "exp": now + 60}
        token = jwt.encode(claims, "a key of the provider that is long enough", algorithm="HS256")
        self.tell({"access_token": "abc", "token_type": "Bearer", "id_token": token})

    def tell(self, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture
def provider(settings: Any, db: None) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.OIDC_SERVER_URL = f"http://127.0.0.1:{server.server_address[1]}"
    settings.OIDC_NAME = "Guild"
    app = {
        "provider_id": "oidc",
        "name": "Guild",
        "client_id": "memory37",
        "secret": "s",
        "settings": {"server_url": settings.OIDC_SERVER_URL},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}
    }
    yield settings.OIDC_SERVER_URL
    server.shutdown()
    server.server_close()


def come_from_provider(client: Client, *, next: str = "/account/") -> Any:
    login = reverse("openid_connect_login", args=["oidc"])
    sent = client.post(f"{login}?next={next}")
    query = parse_qs(urlsplit(sent.url).query)
    assert query["code_challenge_method"] == ["S256"]
    back = {"code": "xyz", "state": query["state"][0]}
    return client.get(reverse("openid_connect_callback", args=["oidc"]), back)


def test_whom_the_provider_lets_in_becomes_a_user_without_a_role(provider: str) -> None:
    client = Client()
    assert "Guild" in client.get(reverse("login")).content.decode()
    assert come_from_provider(client).url == "/account/"
    ada = User.objects.get(username="ada")
    assert signed_in_user(client) == ada.pk
    assert not ada.has_usable_password()
    assert not ada.memberships.exists()
    again = Client()
    come_from_provider(again)
    assert signed_in_user(again) == ada.pk


def test_the_provider_does_not_open_the_account_of_an_equal_address(
    provider: str, kay: User
) -> None:
    """Else whoever may choose an address there would be anybody here."""
    User.objects.filter(pk=kay.pk).update(username="ada", email="ada@example.org")
    client = Client()
    come_from_provider(client)
    assert signed_in_user(client) != kay.pk


def test_where_the_provider_makes_no_users_strangers_stay_out(provider: str, settings: Any) -> None:
    settings.OIDC_CREATE_USERS = False
    client = Client()
    come_from_provider(client)
    assert signed_in_user(client) is None
    assert not User.objects.filter(username="ada").exists()


def test_who_comes_from_the_provider_needs_the_second_factor_too(
    provider: str, kay: User, secret: str
) -> None:
    come_from_provider(Client())
    ada = User.objects.get(username="ada")
    Authenticator.objects.filter(user=kay).update(user=ada)
    client = Client()
    assert come_from_provider(client).url.startswith(reverse("mfa_authenticate"))
    assert signed_in_user(client) is None
    client.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert signed_in_user(client) == ada.pk


def test_a_forged_return_signs_nobody_in(provider: str) -> None:
    client = Client()
    client.get(reverse("openid_connect_callback", args=["oidc"]), {"code": "xyz", "state": "abc"})
    assert signed_in_user(client) is None


def test_without_a_provider_there_is_no_such_address(db: None) -> None:
    login = reverse("openid_connect_login", args=["oidc"])
    assert Client().post(login).status_code == 404
