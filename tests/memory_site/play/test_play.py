"""The Play page: looked up, revealed, undone, and the scene with its clock and cast."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from episodes import running_scenes
from episodes.ingest import ingest_episode, retract_episode
from episodes.models import Scene, Session
from episodes.scenes import end_scene
from episodes.schemas import EpisodeIn
from knowledge.models import Lore
from knowledge.schemas import RuleIn
from knowledge.trash import trash_lore
from knowledge.upsert import upsert_rule
from npcs.models import NPC, Secret
from retrieval.errors import Invalid
from tests.cast import create_npc
from tests.conftest import ApiClient
from tests.memory_site.play.conftest import PLAY, make_entry
from worlds.audiences import Audience
from worlds.calendars.definition import CalendarDefinition, Era, Month
from worlds.calendars.presets import preset
from worlds.models import Party, Reveal, World
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
PARTY = Audience("party", "lanternbearers")


def post(client: Client, address: str, **fields: Any) -> str:
    answer = client.post(PLAY + address, fields, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def read(client: Client, address: str = "") -> str:
    return client.get(PLAY + address).content.decode()


def reveal(client: Client, kind: str, row: Any, to: str = str(PARTY), **more: str) -> str:
    return post(client, "reveal/", kind=kind, id=row.pk, to=to, **more)


# --- the box


def test_a_person_opens_with_lines_to_play_and_folded_secrets(
    anna: Client, lanternbearers: Party, mira: NPC, debt: Secret
) -> None:
    mira.play_now = ["Tired.", "Owes them.", "Answers the other question."]
    mira.save()
    page = read(anna, "lookup/?q=mira")
    for words in ("Mira Voss", "Tired.", "stranger", "Secret 1", "She owes the Tolls."):
        assert words in page
    before, folded = page.split('<details class="what"')
    assert "She owes the Tolls." not in before
    assert "She owes the Tolls." in folded.split("</details>")[0]


def test_with_an_answer_in_its_address_the_page_fetches_the_scene_afterwards(
    anna: Client, lanternbearers: Party, mira: NPC
) -> None:
    post(anna, "scene/open/", title="At the weigh-house")
    page = read(anna, "?q=mira")
    assert "Mira Voss" in page.split('id="scene"')[0]
    assert "At the weigh-house" not in page
    assert f'hx-get="{PLAY}scene/" hx-trigger="load"' in page
    # Without scripts a link leads to both.
    assert 'href="?q=mira&amp;scene=1#scene"' in page
    whole = read(anna, "?q=mira&scene=1")
    assert "Mira Voss" in whole.split('id="scene"')[0]
    assert "At the weigh-house" in whole
    assert "At the weigh-house" in read(anna)


def test_a_place_opens_with_its_open_text_alone(
    anna: Client, lanternbearers: Party, landing: Lore
) -> None:
    page = read(anna, "lookup/?q=lower landing")
    assert "Slips for forty boats." in page.split("parts")[0]
    assert "Slip nineteen" not in page.split("<summary>Secret 1</summary>")[0]
    assert "Slip nineteen is mined." in page


def test_a_rule_is_read_whole(anna: Client, lanternbearers: Party, world: World) -> None:
    rule = RuleIn(rule_id="house/fog", title="Fog", body="Boats wait in fog.", kind="custom")
    upsert_rule(world, rule, reason="test")
    assert "Boats wait in fog." in read(anna, "lookup/?q=fog")
    assert "Boats wait in fog." in read(anna, "lookup/?kind=rule&ref=house/fog")


@pytest.mark.parametrize("query", ["?q=nobody at all", "?q=%00", "?q=" + "x" * 900, ""])
def test_what_finds_nothing_says_so(anna: Client, lanternbearers: Party, query: str) -> None:
    assert anna.get(f"{PLAY}lookup/{query}").status_code == 200


def test_a_thing_that_does_not_exist_is_not_opened(anna: Client, lanternbearers: Party) -> None:
    for query in ("?kind=npc&ref=nobody", "?kind=rule&ref=%00", "?kind=moon&ref=x", "?kind=npc"):
        assert anna.get(f"{PLAY}lookup/{query}").status_code == 404


# --- reveals


def test_a_secret_is_revealed_and_taken_back(
    anna: Client, lanternbearers: Party, debt: Secret
) -> None:
    answer = reveal(anna, "secret", debt, number="1")
    assert "Revealed to Lanternbearers: Mira Voss." in answer.split('id="said"')[1]
    assert debt in Secret.objects.visible_to(PARTY)
    entry = Reveal.objects.get()
    assert entry.by == "anna"
    assert f"reveals/{entry.pk}/undo/" in answer
    answer = post(anna, f"reveals/{entry.pk}/undo/", kind="secret", id=debt.pk)
    assert "The reveal was undone." in answer
    assert debt not in Secret.objects.visible_to(PARTY)
    assert "undone before" in post(anna, f"reveals/{entry.pk}/undo/", kind="secret", id=debt.pk)


def test_a_secret_is_revealed_to_an_npc_of_the_scene(
    anna: Client, lanternbearers: Party, debt: Secret, jory: NPC
) -> None:
    scene = running_scenes.open_scene(lanternbearers, cast=["jory-fenn"])
    assert 'value="npc:jory-fenn"' in read(anna, "lookup/?q=mira")
    assert "Revealed to Jory Fenn" in reveal(anna, "secret", debt, to="npc:jory-fenn")
    assert debt in Secret.objects.visible_to(Audience("npc", "jory-fenn"))
    assert debt not in Secret.objects.visible_to(PARTY)
    assert scene.cast == ["jory-fenn"]


def test_a_reveal_notes_session_and_in_world_time_of_the_open_scene(
    anna: Client, lanternbearers: Party, debt: Secret
) -> None:
    scene = running_scenes.open_scene(lanternbearers, title="Fog")
    running_scenes.set_day(scene, 100.5)
    Scene.objects.filter(pk=scene.pk).update(in_world_label="1 Thaw, noon")
    reveal(anna, "secret", debt)
    entry = Reveal.objects.get()
    assert (entry.in_world_at, entry.in_world_label) == (100.5, "1 Thaw, noon")
    assert entry.note == "Session 1 · Fog"


def test_a_secret_of_a_hidden_entry_is_revealed_with_the_entry(
    anna: Client, lanternbearers: Party, world: World
) -> None:
    crypt = make_entry(world, "Crypt", body="Deep.\n\n:::secret\nIt floods.\n:::", visibility="gm")
    block = crypt.passages.get(secret=True)
    page = read(anna, "lookup/?q=crypt")
    assert "does not know “Crypt” yet" in page
    assert "Reveal both" in page
    reveal(anna, "lorepassage", block, with_owner="1")
    assert crypt in Lore.objects.visible_to(PARTY)
    block.refresh_from_db()
    assert block.known_to == [str(PARTY)]


@pytest.mark.parametrize("to", ["gm", "public", "party:nobody", "npc:nobody", "moon:x", ""])
def test_a_reveal_to_nobody_of_the_world_is_refused(
    anna: Client, lanternbearers: Party, debt: Secret, to: str
) -> None:
    assert "notice bad" in reveal(anna, "secret", debt, to=to)
    assert not Reveal.objects.exists()


def test_what_was_deleted_meanwhile_leaves_the_page(
    anna: Client, lanternbearers: Party, landing: Lore
) -> None:
    block = landing.passages.get(secret=True)
    trash_lore([landing], by="bo")
    answer = reveal(anna, "lorepassage", block)
    assert "<li" not in answer
    assert "It is not there any more" in answer
    assert "notice bad" in reveal(anna, "secret", Secret(pk=uuid4()))


def test_without_scripts_a_reveal_leads_back_to_the_page(
    anna: Client, lanternbearers: Party, debt: Secret
) -> None:
    fields = {"kind": "secret", "id": debt.pk, "to": str(PARTY)}
    answer = anna.post(f"{PLAY}reveal/", fields, follow=True)
    assert "Revealed to Lanternbearers" in answer.content.decode()


# --- the scene


def test_a_scene_is_opened_in_a_new_session_and_closed(
    anna: Client, lanternbearers: Party, landing: Lore, mira: NPC
) -> None:
    mira.home_lore = landing
    mira.save()
    page = post(anna, "scene/open/", place="Lower Landing")
    scene = Scene.objects.get()
    assert scene.place_lore == landing
    assert scene.visibility == "gm"
    session = Session.objects.get()
    assert (session.number, session.party, scene.session) == (1, lanternbearers, session)
    assert "Mira Voss" in page.split("Who comes?")[1]
    assert "The scene is open." in page
    page = post(anna, f"scene/{scene.pk}/", enter="mira voss")
    assert "Mira Voss is in the scene." in page
    assert "Mira Voss" in page.split("In this scene")[1].split("Somebody else")[0]
    post(anna, f"scene/{scene.pk}/", leave="mira-voss")
    assert Scene.objects.get().cast == []
    assert "No scene is open" in post(anna, f"scene/{scene.pk}/", close="1")
    assert "has ended" in post(anna, f"scene/{scene.pk}/", minutes="10")
    post(anna, "scene/open/")
    assert Session.objects.count() == 1, "the same evening"


def test_two_game_masters_open_one_scene(anna: Client, lanternbearers: Party) -> None:
    post(anna, "scene/open/", title="Fog")
    assert "is open already: close it first" in post(anna, "scene/open/", title="Rain")
    assert Scene.objects.count() == 1


def test_time_passes_by_a_tap_and_days_get_their_date(
    anna: Client, lanternbearers: Party, world: World
) -> None:
    make_entry(world, "Feast", visibility="public", in_world_at=101, in_world_label="2 Thaw")
    post(anna, "scene/open/")
    scene = Scene.objects.get()
    assert "write the day first" in post(anna, f"scene/{scene.pk}/", minutes="10")
    post(anna, f"scene/{scene.pk}/", day="100.99")
    page = post(anna, f"scene/{scene.pk}/", minutes="60")
    scene.refresh_from_db()
    assert scene.in_world_label == "2 Thaw, 00:46"
    assert "2 Thaw, 00:46" in page
    for bad in ("", "soon", "nan", "1e99"):
        assert "notice bad" in post(anna, f"scene/{scene.pk}/", day=bad)
    assert "Choose an NPC" in post(anna, f"scene/{scene.pk}/", minutes="-9")
    assert "notice bad" in post(anna, f"scene/{scene.pk}/", enter="nobody at all")


def test_144_steps_of_ten_minutes_are_a_day(lanternbearers: Party) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    running_scenes.set_day(scene, 7)
    for _step in range(144):
        running_scenes.advance(scene, minutes=10)
    scene.refresh_from_db()
    assert scene.in_world_at == 8
    with pytest.raises(Invalid):
        running_scenes.set_cast(scene, [f"npc-{n}" for n in range(31)])


def test_an_hour_is_as_long_as_the_calendar_says(lanternbearers: Party, world: World) -> None:
    """A day of twenty hours, each of fifty minutes."""
    plain = preset("twelve-times-thirty", "en")
    save_calendar(world, plain.model_copy(update={"hours": 20, "minutes": 50}), by="anna")
    scene = running_scenes.open_scene(lanternbearers)
    running_scenes.set_day(scene, 7)
    for _hour in range(20):
        running_scenes.advance(scene, minutes=50)
    scene.refresh_from_db()
    assert scene.in_world_at == 8


def test_a_scene_with_a_recorded_episode_is_over(lanternbearers: Party, world: World) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    assert running_scenes.find_open_scene(lanternbearers) == scene
    entry = {"summary_id": "e1", "party_id": "lanternbearers", "scene_id": scene.external_id}
    ingest_episode(world, EpisodeIn.model_validate({**entry, "what": "They crossed."}))
    assert running_scenes.find_open_scene(lanternbearers) is None


# --- for whom


def test_players_and_strangers_never_reach_the_pages(
    pat: Client, lanternbearers: Party, debt: Secret, engine: ApiClient
) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    for address in ("", "lookup/?q=mira", "scene/"):
        assert pat.get(PLAY + address).status_code == 404
        assert Client().get(PLAY + address).status_code == 302
    fields = {"kind": "secret", "id": debt.pk, "to": str(PARTY), "close": "1"}
    for address in ("reveal/", "scene/open/", f"scene/{scene.pk}/", f"reveals/{uuid4()}/undo/"):
        assert pat.post(PLAY + address, fields).status_code == 404
    assert not Reveal.objects.exists()
    scene.refresh_from_db()
    assert scene.ended_at is None


def test_a_scene_of_another_party_is_not_changed(
    anna: Client, lanternbearers: Party, gilded_oath: Party
) -> None:
    scene = running_scenes.open_scene(gilded_oath)
    assert anna.post(f"{PLAY}scene/{scene.pk}/", {"close": "1"}).status_code == 404


def test_a_name_that_fits_three_people_opens_one_and_offers_the_others_first(
    anna: Client, lanternbearers: Party, world: World
) -> None:
    for slug, name in (("bram-tolliver", "Bram Tolliver"), ("bram-reed", "Bram Reed")):
        create_npc(world, slug=slug, name=name, aliases=["Bram"], visibility="public")
    create_npc(world, slug="old-bram", name="Old Bram", aliases=["Bram"], visibility="public")
    make_entry(world, "Old Bram", body="A net mender.", kind="biography", visibility="public")
    for title in ("Ram", "Brim", "Bramble", "Bran"):
        rule = RuleIn(rule_id=f"house/{title}", title=title, body=f"{title}.", kind="custom")
        upsert_rule(world, rule, reason="test")
    page = read(anna, "lookup/?q=bram")
    _opened, others = page.split('class="chips others"')
    named = re.findall(r"kind=(\w+)&amp;ref=([\w/-]+)", others)
    assert {kind for kind, _ref in named[:2]} == {"npc"}, named
    assert len(set(named[:2])) == 2
    assert len(named) <= 4
    assert ("thing", "old-bram") not in named, "the person is offered, not the entry as well"


def test_a_name_that_fits_three_people_is_not_guessed_between_for_the_scene(
    anna: Client, lanternbearers: Party, world: World
) -> None:
    for slug in ("bram-tolliver", "bram-reed", "bram-oakes"):
        create_npc(world, slug=slug, name=slug.replace("-", " ").title(), aliases=["Bram"])
    scene = running_scenes.open_scene(lanternbearers)
    page = post(anna, f"scene/{scene.pk}/", enter="bram")
    for name in ("Bram Tolliver", "Bram Reed", "Bram Oakes", "of one NPC"):
        assert name in page
    assert Scene.objects.get().cast == []


def test_a_scene_opens_at_the_place_that_is_meant(
    anna: Client, lanternbearers: Party, jory: NPC, world: World
) -> None:
    place = make_entry(world, "The Drowned Bell", body="An inn.", kind="place")
    NPC.objects.filter(pk=jory.pk).update(home_lore=place)
    page = post(anna, "scene/open/", place="drowned bell")
    assert "The Drowned Bell" in page
    assert "Jory Fenn" in page.split("Who comes?")[1], "who lives there is offered"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("three carps", "Inn of the Three Carps"),
        ("carp inn", "carp inn"),
        ("drowned", "drowned"),
        ("the drowned bel", "the drowned bel"),
        ("the drowned bell", "The Drowned Bell"),
    ],
)
def test_a_place_that_is_not_certain_stays_as_it_was_typed(
    anna: Client, lanternbearers: Party, world: World, typed: str, shown: str
) -> None:
    for title in ("The Drowned Bell", "Drowned Ward", "Inn of the Three Carps"):
        make_entry(world, title, body="Wet.", kind="place")
    post(anna, "scene/open/", place=typed)
    assert Scene.objects.get().place == shown


def test_the_answer_offers_its_person_to_the_scene_that_is_open_now(
    anna: Client, lanternbearers: Party, jory: NPC
) -> None:
    def sent(address: str, **fields: str) -> str:
        return str(anna.post(PLAY + address, fields, headers=HTMX).headers.get("HX-Trigger"))

    assert 'hx-trigger="scene from:body"' in read(anna, "lookup/?q=jory")
    assert sent("scene/open/") == "scene"
    scene = f"scene/{Scene.objects.get().pk}/"
    assert "Add to the scene" in read(anna, "lookup/?q=jory")
    assert sent(scene, enter=jory.slug) == "scene"
    assert "Add to the scene" not in read(anna, "lookup/?q=jory")
    assert sent(scene, day="3") == "None"


def test_what_a_later_episode_revealed_too_stays_known_when_the_tap_is_undone(
    anna: Client, lanternbearers: Party, debt: Secret, world: World
) -> None:
    reveal(anna, "secret", debt)
    told = {"npc": debt.npc.slug, "secret": 1, "to": [str(PARTY)]}
    values = {"summary_id": "later", "party_id": "lanternbearers", "what": "She told them."}
    episode = {**values, "when": {"in_world_at": 1}, "reveals": [told]}
    ingest_episode(world, EpisodeIn.model_validate(episode), came_from="test")
    entry = Reveal.objects.get(episode_ref="")
    answer = post(anna, f"reveals/{entry.pk}/undo/", kind="secret", id=debt.pk)
    assert "They still know it from an episode." in answer
    assert debt in Secret.objects.visible_to(PARTY)
    retract_episode(world, "later")
    assert debt not in Secret.objects.visible_to(PARTY)


def test_a_day_before_the_calendar_begins_is_refused_with_its_first_day(
    anna: Client, lanternbearers: Party, world: World
) -> None:
    eras = [Era(name="First Age", short="FA", first_year=1)]
    months = [Month(name="Thaw", days=30), Month(name="Ebb", days=30)]
    definition = CalendarDefinition(name="Ages", months=months, eras=eras)
    save_calendar(world, definition, by="test")
    scene = running_scenes.open_scene(lanternbearers)
    for day in ("1 Thaw 0", "1 Thaw -3"):
        page = post(anna, f"scene/{scene.pk}/", day=day)
        assert "notice bad" in page
        assert Scene.objects.get().in_world_at is None
    assert "the calendar begins on 1 Thaw 1" in page


# --- the cast over REST


def test_an_engine_reads_and_changes_the_cast_that_the_page_shows(
    anna: Client, engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    cast = f"world/scenes/{scene.external_id}/cast"
    assert engine.get(cast) == (200, {"cast": []})
    status, answer = engine.put(f"{cast}/Mira Voss")
    assert (status, answer) == (200, {"cast": [{"npc_id": "mira-voss", "name": "Mira Voss"}]})
    engine.put(f"{cast}/mira-voss")
    _status, answer = engine.put(f"{cast}/jory-fenn")
    assert [each["npc_id"] for each in answer["cast"]] == ["mira-voss", "jory-fenn"]
    assert "Jory Fenn" in anna.get(PLAY).content.decode()
    _status, answer = engine.send("DELETE", f"{cast}/mira-voss")
    assert [each["npc_id"] for each in answer["cast"]] == ["jory-fenn"]
    assert engine.get(cast)[1] == answer


def test_a_cast_refuses_strangers_and_the_ended(
    engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    cast = f"world/scenes/{scene.external_id}/cast"
    assert engine.put(f"{cast}/nobody-at-all")[0] == 404
    assert engine.send("DELETE", f"{cast}/mira-voss")[0] == 404
    assert engine.send("PUT", f"{cast}/mira-voss", None, **{"If-Match": '"old"'})[0] == 412
    end_scene(scene)
    assert engine.put(f"{cast}/mira-voss")[0] == 409
    scene.refresh_from_db()
    assert scene.cast == []


def test_players_do_not_read_the_cast(
    client_with_key: Callable[..., ApiClient], lanternbearers: Party
) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    player = client_with_key(audience="party:lanternbearers")
    assert player.get(f"world/scenes/{scene.external_id}/cast")[0] == 403
