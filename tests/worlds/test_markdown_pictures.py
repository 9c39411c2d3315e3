"""Pictures within texts: uploaded ones of the world and those at https addresses, nothing else."""

import pytest

from worlds.markdown import plain_text, safe_html

PICTURE = "019c0000-0000-7000-8000-000000000001"


def test_an_uploaded_picture_is_shown_from_its_world() -> None:
    html = safe_html(f'![A "pier"](picture:{PICTURE} "By night")', world="ferrymark")
    assert f'src="/w/ferrymark/pictures/{PICTURE}/preview/"' in html
    assert 'title="By night"' in html
    assert "pier" in html


def test_without_a_world_its_words_are_shown() -> None:
    assert safe_html(f"![A pier](picture:{PICTURE})").strip() == "<p>A pier</p>"


def test_a_picture_at_an_https_address_says_nothing_of_the_reader() -> None:
    html = safe_html("![A pier](https://art.example/pier.png)")
    assert 'src="https://art.example/pier.png"' in html
    assert 'referrerpolicy="no-referrer"' in html


@pytest.mark.parametrize(
    "address",
    [
        "http://art.example/pier.png",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "/admin/logout/",
        "//art.example/pier.png",
        "picture:../../admin",
        f"picture:{PICTURE}/edit",
        "file:///etc/passwd",
    ],
)
def test_other_addresses_show_no_picture(address: str) -> None:
    assert "<img" not in safe_html(f"![words](<{address}>)", world="ferrymark")


def test_words_of_a_picture_are_no_html() -> None:
    html = safe_html(f'!["><script>x</script>](picture:{PICTURE})', world="ferrymark")
    assert "<script" not in html


def test_an_excerpt_has_the_words_of_a_picture_only() -> None:
    assert plain_text(f"See ![the pier](picture:{PICTURE}).") == "See the pier."
