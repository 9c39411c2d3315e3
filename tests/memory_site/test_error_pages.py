"""What goes wrong is answered with a page in the site's look, and never with a secret."""

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import path

from memory_site.urls import handler400, handler403, handler404, handler500  # noqa: F401
from memory_site.urls import urlpatterns as site_urls


def fail(request):  # type: ignore[no-untyped-def]
    raise RuntimeError("the password is hunter2")


urlpatterns = [path("fail/", fail), *site_urls]


def looks_like_the_site(page: str) -> bool:
    return "memory37/site.css" in page and "To your worlds" in page


@override_settings(ROOT_URLCONF=__name__, DEBUG=False)
def test_a_fault_shows_its_number_and_no_detail(db: None) -> None:
    client = Client(raise_request_exception=False)
    answer = client.get("/fail/")
    page = answer.content.decode()
    assert answer.status_code == 500
    assert looks_like_the_site(page)
    assert answer.headers["X-Request-ID"] in page
    assert "hunter2" not in page
    assert "RuntimeError" not in page


def test_an_address_that_leads_nowhere(client: Client, db: None) -> None:
    answer = client.get("/nowhere/", headers={"accept-language": "en"})
    assert answer.status_code == 404
    assert looks_like_the_site(answer.content.decode())


def test_a_form_that_is_too_old(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/login/", {"username": "x", "password": "y"})
    assert answer.status_code == 403
    assert looks_like_the_site(answer.content.decode())
    assert "load the page again" in answer.content.decode()


@pytest.mark.parametrize(
    "address",
    ["/w/a%00b/", "/login/?next=%00", "/invitation/%00/", "/admin/auth/user/?q=%00"],
)
def test_a_nul_byte_is_no_fault_of_the_server(admin_client: Client, address: str) -> None:
    assert admin_client.get(address).status_code < 500


def test_an_audience_that_is_none_is_refused_with_a_page(
    admin_client: Client, world: object
) -> None:
    answer = admin_client.post("/w/ferrymark/as/", {"as": "god"})
    assert answer.status_code == 422
    assert "Unknown audience" in answer.content.decode()


def test_the_theme_of_the_site_rules_the_admin(admin_client: Client) -> None:
    admin_client.post("/look/", {"look": "dark"})
    assert 'class="dark"' in admin_client.get("/admin/").content.decode()
    admin_client.post("/look/", {"look": "light"})
    assert 'class="light"' in admin_client.get("/admin/").content.decode()


def test_too_many_logins_are_answered_with_a_page(client: Client, db: None) -> None:
    User.objects.create_user("pat", password="salt-and-oars")
    form = {"username": "pat", "password": "wrong"}
    answers = [client.post("/login/", form) for _try in range(9)]
    assert answers[-1].status_code in (403, 429)
    assert "Wait a quarter of an hour" in answers[-1].content.decode()
