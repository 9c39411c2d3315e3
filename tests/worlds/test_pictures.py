"""Where a page looks for a picture: the site's own without the host, everything else where it
lies.
"""

import pytest

from worlds.templatetags.pages import from_here


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        (
            "http://localhost:8000/static/memory37/demo/blue-cord.svg",
            "/static/memory37/demo/blue-cord.svg",
        ),
        ("https://memory.example/static/a.svg", "/static/a.svg"),
        ("http://localhost:8000/admin/logout/", "http://localhost:8000/admin/logout/"),
        ("https://cdn.example/static/a.png", "https://cdn.example/static/a.png"),
    ],
)
def test_a_picture_of_the_site_itself_is_asked_for_without_its_host(settings, address, asked):
    settings.ALLOWED_HOSTS = ["localhost", "memory.example"]
    assert from_here(address) == asked
