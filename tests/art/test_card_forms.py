"""A card and its picture are saved in one form, on the site and in the admin."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from art.models import ArtCard, Picture
from npcs.models import NPC
from tests.art.image_samples import image_bytes
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db


def member(world: World, role: str, party: Party | None = None) -> Client:
    user = User.objects.create_user(f"a {role}")
    Membership.objects.create(user=user, world=world, role=role, party=party)
    client = Client(headers={"Accept": "text/html"})
    client.force_login(user)
    return client


@pytest.fixture
def designer(world: World) -> Client:
    return member(world, "designer")


def card_values(**changed: Any) -> dict[str, Any]:
    values = {
        "prompt_text": "Mira Voss in the rain",
        "entities": ["Mira Voss"],
        "visual_tags": ["rain"],
        "style": "ink",
        "visibility": "public",
        "moderation": "approved",
    }
    return {**values, **changed}


def image(content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile("mira.png", image_bytes() if content is None else content)


def test_a_card_is_made_with_its_picture(world: World, designer: Client, mira: NPC) -> None:
    address = reverse("art-card-new", args=[world.slug])
    answer: Any = designer.post(address, card_values(upload=image()))
    assert answer.status_code == 302, answer.content.decode()
    card = ArtCard.objects.get()
    assert card.picture is not None
    assert (card.picture.uploaded_by, card.moderated_by) == ("a designer", "a designer")
    assert list(card.npcs.all()) == [mira]
    page = designer.get(reverse("art-card", args=[world.slug, card.pk])).content.decode()
    assert reverse("picture-preview", args=[world.slug, card.picture.pk]) in page
    listed = designer.get(reverse("art-cards", args=[world.slug])).content.decode()
    assert "Mira Voss in the rain" in listed


@pytest.mark.parametrize("content", [b"no picture", b"<svg onload='alert(1)'/>"])
def test_what_is_no_picture_makes_no_card(world: World, designer: Client, content: bytes) -> None:
    address = reverse("art-card-new", args=[world.slug])
    answer = designer.post(address, card_values(upload=image(content)))
    assert answer.status_code == 422
    assert not ArtCard.objects.exists()
    assert not Picture.objects.exists()


def test_a_card_needs_a_picture_or_an_address(world: World, designer: Client) -> None:
    address = reverse("art-card-new", args=[world.slug])
    assert designer.post(address, card_values()).status_code == 422
    answer = designer.post(address, card_values(cdn_url="https://cdn.example/a.png"))
    assert answer.status_code == 302
    assert ArtCard.objects.get().cdn_url == "https://cdn.example/a.png"


def test_a_picture_of_this_site_is_shown_at_any_port(world: World, designer: Client) -> None:
    for number, url in enumerate(
        ("http://localhost:8000/static/a.svg", "https://cdn.example/b.png")
    ):
        ArtCard.objects.create(
            world=world, external_id=f"c{number}", cdn_url=url, prompt_text="A", text="A"
        )
    page = designer.get(reverse("art-cards", args=[world.slug])).content.decode()
    assert 'src="/static/a.svg"' in page
    assert 'src="https://cdn.example/b.png"' in page


def test_a_card_keeps_its_picture_when_its_words_change_and_two_tabs_do_not_collide(
    world: World, designer: Client
) -> None:
    designer.post(reverse("art-card-new", args=[world.slug]), card_values(upload=image()))
    card = ArtCard.objects.get()
    address = reverse("art-card", args=[world.slug, card.pk])
    values = card_values(picture=card.picture_id, version=card.version, prompt_text="Later")
    assert designer.post(address, values).status_code == 302
    card.refresh_from_db()
    assert (card.prompt_text, card.picture is not None) == ("Later", True)
    assert designer.post(address, {**values, "prompt_text": "Older"}).status_code == 422
    card.refresh_from_db()
    assert card.prompt_text == "Later"


def test_no_picture_of_another_world_and_no_card_for_players(
    world: World, designer: Client, lanternbearers: Party
) -> None:
    designer.post(reverse("art-card-new", args=[world.slug]), card_values(upload=image()))
    picture, card = Picture.objects.get(), ArtCard.objects.get()
    other = World.objects.create(slug="other", name="Other")
    Membership.objects.create(user=User.objects.get(), world=other, role="gm")
    address = reverse("art-card-new", args=["other"])
    assert designer.post(address, card_values(picture=picture.pk)).status_code == 422
    page = designer.get(f"{address}?picture={picture.pk}").content.decode()
    assert "/thumbnail/" not in page
    assert "/preview/" not in page
    assert designer.get(reverse("art-card", args=["other", card.pk])).status_code == 404
    player = member(world, "player", lanternbearers)
    for name, keys in (("art-cards", []), ("art-card-new", []), ("art-card", [card.pk])):
        assert player.get(reverse(name, args=[world.slug, *keys])).status_code == 404


def test_the_admin_takes_and_shows_the_picture_of_a_card(world: World, designer: Client) -> None:
    address = reverse("admin:art_artcard_add")
    assert 'type="file"' in designer.get(address).content.decode()
    values = card_values(world=world.pk, external_id="mira-1", entities="", visual_tags="")
    answer: Any = designer.post(address, {**values, "upload": image()})
    assert answer.status_code == 302, answer.content.decode()
    card = ArtCard.objects.get()
    assert card.picture is not None
    change = reverse("admin:art_artcard_change", args=[card.pk])
    shown = designer.get(change).content.decode()
    assert reverse("picture-preview", args=[world.slug, card.picture.pk]) in shown
    bad = designer.post(address, {**values, "external_id": "b", "upload": image(b"no picture")})
    assert bad.status_code == 200
    assert ArtCard.objects.count() == 1
