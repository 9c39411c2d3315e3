"""The demo's pictures are where the site runs."""

import pytest

from art.models import ArtCard
from memory_site.demo.pictures import FOLDER, set_picture_addresses
from worlds.models import World


@pytest.mark.django_db
def test_pictures_of_the_demo_follow_the_port_of_the_site(world: World) -> None:
    own, other = f"http://localhost:8000{FOLDER}fog.svg", "https://cdn.example/b.png"
    for name, url in (("own", own), ("other", other)):
        ArtCard.objects.create(
            world=world, external_id=name, cdn_url=url, prompt_text="Fog", text="Fog"
        )
    assert set_picture_addresses("http://127.0.0.1:8123") == 1
    assert set_picture_addresses("http://127.0.0.1:8123") == 0
    addresses = dict(ArtCard.objects.values_list("external_id", "cdn_url"))
    assert addresses == {"own": f"http://127.0.0.1:8123{FOLDER}fog.svg", "other": other}
