"""A key puts galleries in order and says which picture is the portrait, as the pages do."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from art.models import PictureUse
from knowledge.models import Lore
from npcs.models import NPC
from tests.art.image_samples import image_bytes
from tests.conftest import ApiClient
from worlds.models import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def inn(world: World) -> Lore:
    return Lore.objects.create(world=world, slug="tin-heron", title="Tin Heron", kind="place")


def upload(engine: ApiClient, place: str, size: int) -> dict[str, Any]:
    file = SimpleUploadedFile(f"{size}.png", image_bytes(size=(size, size)))
    sent = {"file": file, "place": place}
    picture: dict[str, Any] = engine.client.post("/api/v1/world/pictures", sent).json()
    return picture


def test_a_gallery_is_put_in_order(engine: ApiClient, inn: Lore) -> None:
    place = f"lore:{inn.pk}"
    names = [upload(engine, place, size)["id"] for size in (20, 21, 22)]
    answer = engine.client.get(f"/api/v1/world/galleries/{place}")
    uses = answer.json()["uses"]
    assert [use["picture_id"] for use in uses] == names
    order = [use["id"] for use in reversed(uses)]
    path = f"world/galleries/{place}"
    assert engine.put(path, {"uses": order}, **{"If-Match": '"other"'})[0] == 412
    status, arranged = engine.put(path, {"uses": order}, **{"If-Match": answer["ETag"]})
    assert status == 200
    assert [use["picture_id"] for use in arranged["uses"]] == names[::-1]
    assert engine.get(path)[1] == arranged
    assert engine.put(path, {"uses": order}, **{"If-Match": answer["ETag"]})[0] == 412


@pytest.mark.parametrize("wrong", ["too few", "twice", "another"])
def test_an_order_that_is_not_of_all_places_changes_nothing(
    engine: ApiClient, inn: Lore, world: World, wrong: str
) -> None:
    other = NPC.objects.create(world=world, slug="ada", name="Ada")
    for thing, size in ((f"lore:{inn.pk}", 20), (f"lore:{inn.pk}", 21), (f"npc:{other.pk}", 22)):
        upload(engine, thing, size)
    path = f"world/galleries/lore:{inn.pk}"
    first, second = (use["id"] for use in engine.get(path)[1]["uses"])
    foreign = engine.get(f"world/galleries/npc:{other.pk}")[1]["uses"][0]["id"]
    sent = {"too few": [second], "twice": [second, second], "another": [second, first, foreign]}
    status, problem = engine.put(path, {"uses": sent[wrong]})
    assert (status, problem["code"]) == (409, "conflict")
    assert [use["id"] for use in engine.get(path)[1]["uses"]] == [first, second]


def test_a_deleted_picture_is_not_in_the_gallery_nor_in_its_order(
    engine: ApiClient, inn: Lore
) -> None:
    pictures = [upload(engine, f"lore:{inn.pk}", size)["id"] for size in (20, 21, 22)]
    engine.send("DELETE", f"world/pictures/{pictures[1]}")
    path = f"world/galleries/lore:{inn.pk}"
    first, last = (use["id"] for use in engine.get(path)[1]["uses"])
    assert engine.put(path, {"uses": [last, first]})[0] == 200
    deleted = engine.get("world/pictures?show=deleted")[1]["pictures"]
    assert [each["id"] for each in deleted] == [pictures[1]]


def test_the_portrait_changes_and_a_picture_is_hidden(engine: ApiClient, inn: Lore) -> None:
    place = f"lore:{inn.pk}"
    pictures = [upload(engine, place, size)["id"] for size in (20, 21)]
    uses = engine.get(f"world/galleries/{place}")[1]["uses"]
    path = f"world/pictures/{pictures[1]}/uses/{uses[1]['id']}"
    status, use = engine.send("PATCH", path, {"portrait": True, "hidden": True})
    assert (status, use["portrait"], use["hidden"]) == (200, True, True)
    assert [each["portrait"] for each in engine.get(f"world/galleries/{place}")[1]["uses"]] == [
        False,
        True,
    ]
    assert engine.send("PATCH", path, {"hidden": False})[1]["portrait"]
    assert not engine.send("PATCH", path, {"portrait": False})[1]["portrait"]
    assert not PictureUse.objects.filter(is_portrait=True).exists()


@pytest.mark.parametrize("audience", ["public", "party:lanternbearers", "npc:ada"])
def test_galleries_are_for_game_masters(
    world: World, engine: ApiClient, inn: Lore, audience: str
) -> None:
    upload(engine, f"lore:{inn.pk}", 20)
    reader = ApiClient(world, audience=audience)
    path = f"world/galleries/lore:{inn.pk}"
    assert reader.get(path)[0] == reader.put(path, {"uses": []})[0] == 403
    assert reader.get("world/pictures?show=deleted")[0] == 403


def test_a_gallery_of_another_world_is_not_there(inn: Lore) -> None:
    other = ApiClient(World.objects.create(slug="other", name="Other"))
    path = f"world/galleries/lore:{inn.pk}"
    assert other.get(path)[0] == other.put(path, {"uses": []})[0] == 404
