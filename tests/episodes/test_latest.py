"""`session_fetch` reads by a statement of its own: it must know the same rows as the querysets
do.
"""

from itertools import product

import pytest

from episodes.models import Episode, Scene
from episodes.queries import latest_episodes
from tests.conftest import ApiClient
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.models import Party, World

pytestmark = pytest.mark.django_db

AUDIENCES = ("gm", "party:lanternbearers", "party:gilded-oath", "npc:mira-voss", "public")


@pytest.fixture(autouse=True)
def write_episodes(engine: ApiClient, lanternbearers: Party, gilded_oath: Party) -> None:
    kinds = product(
        ("lanternbearers", "gilded-oath"), ("public", "revealed", "gm"), ([], ["party:gilded-oath"])
    )
    for number, (party, visibility, known_to) in enumerate(kinds):
        scene = {"scene_id": f"scene-{number}", "party_id": party, "title": f"Title {number}"}
        engine.put(
            "world/scenes", {**scene, "visibility": ("public", "revealed", "gm")[number % 3]}
        )
        body = {
            "summary_id": f"ep-{number}",
            "party_id": party,
            "scene_id": f"scene-{number}",
            "what": f"It {number}.",
        }
        assert engine.post("world/episodes", {**body, "visibility": visibility})[0] == 200
        Episode.objects.filter(external_id=f"ep-{number}").update(known_to=known_to)
    engine.post("world/episodes/ep-0/retract", {})


@pytest.mark.parametrize("audience", AUDIENCES)
def test_an_audience_reads_what_the_queryset_shows_it(
    world: World, lanternbearers: Party, audience: str
) -> None:
    asker = Audience.parse(audience)
    rows = Episode.objects.of_party(lanternbearers).visible_to(asker).not_retracted()
    found = latest_episodes(Caller(world=world, audience=asker), "lanternbearers", k=50)
    if audience in ("gm", "party:lanternbearers"):
        assert found is not None
        assert {each.summary_id for each in found} == set(
            rows.values_list("external_id", flat=True)
        )
        shown = set(
            Scene.objects.in_world(world).visible_to(asker).values_list("external_id", flat=True)
        )
        assert all(each.scene_id is None or each.scene_id in shown for each in found)
        assert all((each.private is not None) == asker.is_gm for each in found)
    else:
        assert found is None


def test_a_key_of_another_campaign_knows_nothing_of_the_party(
    world: World, lanternbearers: Party
) -> None:
    from worlds.models import Campaign

    other = Campaign.objects.create(world=world, slug="other", name="Other")
    asker = Caller(world=world, audience=Audience("gm"), campaign=other)
    assert latest_episodes(asker, "lanternbearers", k=5) is None


def test_the_answer_is_bounded(engine: ApiClient) -> None:
    answer = engine.tool("session_fetch", party_id="gilded-oath", k=50)[1]
    assert (len(answer["episodes"]), answer["truncated"]) == (6, False)
    for number in range(3):
        body = {"summary_id": f"long-{number}", "party_id": "gilded-oath", "what": "word " * 100}
        engine.post("world/episodes", body)
    short = engine.tool("session_fetch", party_id="gilded-oath", max_chars=700)[1]
    assert short["truncated"] is True
    assert sum(len(each["text"]) for each in short["episodes"]) == 700
