"""Everybody in a world reads its description, so it holds no secret."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.conftest import ApiClient
from tests.people import member
from worlds.models import World

pytestmark = pytest.mark.django_db
FLOODED = "A river town.\n\n:::secret\nThe mayor drowned a year ago.\n:::\n\nIt rains."
OPEN = "A river town.\n\nIt rains."
REFUSED = "Everybody in this world reads the description"


def test_no_writer_takes_a_secret_in_a_description(world: World, admin_client: Client) -> None:
    owner = ApiClient(world, scopes=["admin"])
    status, problem = owner.send("PATCH", "world", {"description": FLOODED})
    assert status == 422, problem
    assert problem["errors"][0]["loc"] == ["description"]
    assert REFUSED in problem["errors"][0]["msg"]
    form = {"name": "Other", "language": "en", "description": FLOODED}
    answer = admin_client.post(reverse("world-new"), form)
    assert REFUSED in answer.content.decode()
    assert not World.objects.filter(description__contains=":::").exists()
    assert not World.objects.filter(name="Other").exists()


def test_a_secret_that_a_description_holds_from_before_is_not_shown(world: World) -> None:
    World.objects.filter(pk=world.pk).update(description=FLOODED)
    reader = ApiClient(world, audience="public", scopes=["tools:read"])
    assert reader.get("me")[1]["world"]["description"] == OPEN
    for role in ("gm", "player"):
        person = member(world, role, role=role)
        home = person.get(f"/w/{world.slug}/").content.decode()
        assert "drowned" not in home
        assert ("A river town." in home) == (role == "gm")
