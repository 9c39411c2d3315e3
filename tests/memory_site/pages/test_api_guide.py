"""The guide of the API as a page of the site."""

import re

import pytest
from django.conf import settings
from django.test import Client

pytestmark = pytest.mark.django_db


def test_everybody_reads_the_guide_with_the_commands_for_this_site(client: Client) -> None:
    answer = client.get("/api/v1/guide", headers={"host": "localhost:8117"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<h1" in page
    assert "export KEY=m37_…  HOST=http://localhost:8117/api/v1" in page
    assert "127.0.0.1:8000" not in page
    assert "script-src" in answer.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in answer.headers["Content-Security-Policy"]


def test_the_contents_and_links_lead_somewhere(client: Client) -> None:
    for address in ("/api/v1/guide", "/api/v1/guide/tools", "/api/v1/guide/api-changelog"):
        page = client.get(address).content.decode()
        main = page[page.index("<main") : page.index("</main>")]
        assert ".md" not in "".join(re.findall(r'href="([^"]*)"', main))
        for link in re.findall(r'href="(/[^"]*|#[^"]*)"', main):
            path, _hash, anchor = link.partition("#")
            target = client.get(path).content.decode() if path else page
            assert client.get(path or address).status_code == 200, link
            assert not anchor or f'id="{anchor}"' in target, link


def test_another_name_is_no_page(client: Client) -> None:
    assert client.get("/api/v1/guide/settings").status_code == 404
    assert client.get("/api/v1/guide/..%2Fsettings").status_code == 401  # no operation of the API


def test_the_reference_begins_with_a_link_to_the_guide(client: Client) -> None:
    assert "(/api/v1/guide)" in client.get("/api/v1/openapi.json").json()["info"]["description"]


def test_the_wheel_holds_each_document(client: Client) -> None:
    from memory_site.guide import PAGES

    text = (settings.BASE_DIR / "pyproject.toml").read_text()
    for name in PAGES:
        assert f'"docs/{name}.md" = "memory_site/resources/docs/{name}.md"' in text
