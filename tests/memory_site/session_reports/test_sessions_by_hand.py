"""Sessions, episodes and recaps by hand: without an engine and without the administration."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from episodes.ingest import ingest_episode
from episodes.models import Episode, Scene, Session
from episodes.report_models import LooseEnd, SessionNote, SessionReport
from episodes.schemas import EpisodeIn
from knowledge.graph.models import GraphNode
from knowledge.models import Lore
from npcs.models import NPC, Disposition, DispositionChange, Secret
from tests.conftest import ApiClient
from tests.memory_site.api.webhook_receiver import Receiver
from tests.memory_site.session_reports.forms import fields_of
from tests.memory_site.session_reports.test_after_pages import AFTER
from tests.people import member
from worlds.audiences import Audience
from worlds.calendars.presets import preset
from worlds.models import Party, World
from worlds.webhook_model import Webhook, WebhookDelivery
from worlds.webhooks.hand_sent import may_receive, parts_of
from worlds.world_calendar import calendar_of, save_calendar, show_date

pytestmark = pytest.mark.django_db
W = "/w/ferrymark/"


def empty_form(gm: Client) -> dict[str, Any]:
    page = gm.get(f"{W}sessions/session-3/episodes/new/")
    assert page.status_code == 200
    return fields_of(page.content.decode(), "episode-form")


def write(gm: Client, **fields: str) -> Episode:
    answer = gm.post(f"{W}sessions/session-3/episodes/new/", empty_form(gm) | fields)
    assert answer.status_code == 302, answer.content.decode()
    return Episode.objects.latest("pk")


def correction(gm: Client, episode: Episode) -> dict[str, Any]:
    page = gm.get(f"{W}episodes/{episode.external_id}/correct/")
    return fields_of(page.content.decode(), "episode-form")


def test_an_episode_takes_over_the_scene_that_was_played(
    table: Session, gm: Client, world: World, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    Session.objects.update(in_world_at=None, in_world_label="")
    place = Lore.objects.get(slug="toll-house")
    party = lanternbearers
    played = {"world": world, "campaign": party.campaign, "party": party, "session": table}
    Scene.objects.create(external_id="earlier", cast=[jory.slug], ended_at=timezone.now(), **played)
    scene = Scene.objects.create(
        external_id="open", cast=[mira.slug], place_lore=place, in_world_at=413.5, **played
    )
    fields = empty_form(gm)
    assert (fields["where"], float(fields["in_world_at"])) == ("Toll House", 413.5)
    assert (
        gm.post(f"{W}sessions/session-3/episodes/new/", fields | {"what": "Fog."}).status_code
        == 302
    )
    episode = Episode.objects.latest("pk")
    assert (episode.npcs, episode.in_world_at) == (["mira-voss"], 413.5)

    report = f"{W}sessions/session-3/after/"
    sent = gm.post(report, {"text": "Jory Fenn paid us for the rope."}, follow=True)
    proposed = fields_of(sent.content.decode(), "episode-form")
    assert (proposed["where"], float(proposed["in_world_at"])) == ("Toll House", 413.5)
    assert "mira-voss" in [value for name, value in proposed.items() if name.endswith("-npc")]
    Scene.objects.filter(pk=scene.pk).update(ended_at=timezone.now(), cast=[])
    assert empty_form(gm)["where"] == "Toll House"


def test_an_episode_is_written_corrected_retracted_and_brought_back(
    table: Session, gm: Client, mira: NPC, lanternbearers: Party
) -> None:
    change = {"changes-0-npc": "Mira Voss", "changes-0-delta": "10", "changes-0-axis": "affection"}
    loose = {"loose_ends-0-text": "Bring the lamp."}
    episode = write(gm, what="We paid Mira.", **change, **loose, **{"people-0-npc": "Mira Voss"})
    assert episode.npcs == ["mira-voss"]

    def score() -> float:
        return Disposition.objects.get(npc=mira, party=lanternbearers).score

    assert score() == 10
    fields = correction(gm, episode)
    assert fields["what"] == "We paid Mira."
    fields |= {"what": "We paid Mira late.", "changes-0-delta": "4"}
    fields.pop("loose_ends-0-use")
    address = f"{W}episodes/{episode.external_id}/"
    assert gm.post(f"{address}correct/", fields).status_code == 302
    episode.refresh_from_db()
    assert (episode.version, episode.what, score()) == (2, "We paid Mira late.", 4)
    assert not LooseEnd.objects.exists()
    gm.post(f"{address}retract/", {"reason": "It was a dream."})
    assert score() == 0
    assert "It was a dream." in gm.get(address).content.decode()
    gm.post(f"{address}restore/")
    assert score() == 4


def test_a_correction_of_somebody_else_meanwhile_is_not_overwritten(
    table: Session, gm: Client
) -> None:
    episode = write(gm, what="It rained.")
    mine, theirs = correction(gm, episode), correction(gm, episode)
    address = f"{W}episodes/{episode.external_id}/correct/"
    assert gm.post(address, theirs | {"what": "Theirs."}).status_code == 302
    answer = gm.post(address, mine | {"what": "Mine."})
    assert answer.status_code == 400
    assert "Mine." in answer.content.decode()
    episode.refresh_from_db()
    assert episode.what == "Theirs."


def test_a_correction_keeps_what_the_form_does_not_show(
    table: Session, gm: Client, engine: ApiClient, mira: NPC
) -> None:
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "what": "Mira talked.",
        "scene_id": "s1",
        "reveals": [
            {"npc": "mira-voss", "secret": 1, "to": ["npc:jory-fenn"], "note": "At night."}
        ],
    }
    assert engine.post("world/episodes", body)[0] == 200
    episode = Episode.objects.get()
    fields = correction(gm, episode) | {"what": "Mira talked a lot."}
    assert gm.post(f"{W}episodes/ep-1/correct/", fields).status_code == 302
    assert Secret.objects.get().known_to == ["npc:jory-fenn"]
    stored = Episode.objects.get().versions.get(version=2).body
    assert stored["reveals"] == body["reveals"]
    assert stored["scene_id"] == "s1"


def test_a_deleted_episode_takes_its_report_with_it(table: Session, gm: Client) -> None:
    answer = gm.post(AFTER, {"text": "It rained on Mira."})
    report = SessionReport.objects.get()
    page = gm.get(answer.url).content.decode()
    gm.post(answer.url, fields_of(page, "episode-form"))
    episode = Episode.objects.get()
    gm.post(f"{W}episodes/{episode.external_id}/delete/")
    assert not Episode.objects.exists()
    assert not SessionReport.objects.filter(pk=report.pk).exists()


def test_sessions_are_made_dated_and_ordered(
    table: Session, gm: Client, lanternbearers: Party
) -> None:
    page = gm.get(f"{W}sessions/new/").content.decode()
    assert 'value="4"' in page
    fields = {
        "who": lanternbearers.slug,
        "title": "The Fourth",
        "number": "4",
        "played_at": "2026-11-20T19:30",
        "in_world_label": "20 Rainmonth 3",
        "in_world_at": "420",
        "visibility": "revealed",
    }
    assert gm.post(f"{W}sessions/new/", fields).status_code == 302
    made = Session.objects.get(title="The Fourth")
    assert (made.party, made.number, made.in_world_at) == (lanternbearers, 4, 420)
    gm.post(f"{W}sessions/{made.external_id}/move/", {"to": "earlier"})
    numbers = dict(Session.objects.values_list("title", "number"))
    assert numbers == {"The Third Evening": 4, "The Fourth": 3}
    gm.post(f"{W}sessions/{made.external_id}/edit/", fields | {"title": "Renamed", "number": "3"})
    made.refresh_from_db()
    assert made.title == "Renamed"
    gm.post(f"{W}sessions/{made.external_id}/delete/")
    assert not Session.objects.filter(pk=made.pk).exists()


def test_a_session_that_something_belongs_to_is_not_deleted(table: Session, gm: Client) -> None:
    write(gm, what="It rained.")
    answer = gm.post(f"{W}sessions/session-3/delete/", follow=True)
    assert "cannot be deleted" in answer.content.decode()
    assert Session.objects.filter(pk=table.pk).exists()


def test_a_loose_end_is_closed_on_the_page_of_the_party(table: Session, gm: Client) -> None:
    write(gm, what="It rained.", **{"loose_ends-0-text": "Bring the lamp."})
    party = f"{W}parties/lanternbearers/"
    assert "Bring the lamp." in gm.get(party).content.decode()
    loose_end = f"{W}loose-ends/{LooseEnd.objects.get().pk}/"
    page = gm.post(loose_end, follow=True).content.decode()
    assert LooseEnd.objects.get().closed_by == "anna"
    assert "“Bring the lamp.” is done." in page
    left, closed = gm.get(party).content.decode().split("Closed (1)")
    assert "Bring the lamp." not in left
    assert 'name="to" value="open"' in closed
    page = gm.post(loose_end, {"to": "open"}, follow=True).content.decode()
    assert "“Bring the lamp.” is open again." in page
    assert LooseEnd.objects.get().closed_at is None
    assert "Closed (" not in page


def test_a_consequence_between_npcs_stands_on_the_page_of_the_episode(
    table: Session, gm: Client, world: World
) -> None:
    change: dict[str, Any] = {"npc": "mira-voss", "toward": "jory-fenn", "delta": -15}
    change["reason"] = "He hit the ferry."
    entry = {"summary_id": "e1", "party_id": "lanternbearers", "what": "They quarrelled."}
    ingest_episode(world, EpisodeIn.model_validate({**entry, "relations_delta": [change]}))
    page = gm.get(f"{W}episodes/e1/").content.decode()
    shown = page.split("Consequences")[1].split("</section>")[0]
    for words in ("-15", "Mira Voss → Jory Fenn", "He hit the ferry.", "#opinion-jory-fenn"):
        assert words in shown


def test_an_episode_without_a_place_is_called_by_its_first_words(
    table: Session, gm: Client, world: World, mira: NPC
) -> None:
    for slug, name in (("mira-voss", "Mira Voss"), ("jory-fenn", "Jory Fenn")):
        GraphNode.objects.create(world=world, kind="Character", slug=slug, name=name)
    told = {"npc": "mira-voss", "secret": 1, "to": ["party:lanternbearers"]}
    fact = {"edge": {"src": "mira-voss", "relation": "KNOWS", "dst": "jory-fenn"}}
    entry = {"summary_id": "session-01a2-03e3", "party_id": "lanternbearers"}
    what = "Mira paid the toll of [[Lower Landing]] with a ring that was not hers, and left."
    extra = {"reveals": [told], "facts": [fact], "session_id": "session-3"}
    ingest_episode(world, EpisodeIn.model_validate({**entry, **extra, "what": what}))
    title = "Mira paid the toll of Lower Landing with a ring that was…"
    page = gm.get(f"{W}episodes/session-01a2-03e3/").content.decode()
    assert f"<h1>{title}</h1>" in page
    for address in ("npcs/mira-voss/", "sessions/session-3/", "parties/lanternbearers/play/"):
        shown = re.sub(r"<[^>]*>", "", gm.get(W + address).content.decode())
        assert "session-01a2-03e3" not in shown, address
    page = gm.get(f"{W}episodes/session-01a2-03e3/correct/").content.decode()
    assert "Mira Voss knows Jory Fenn" in page
    player = member(world, "pat", role="player", party=table.party)
    page = player.get(f"{W}episodes/session-01a2-03e3/").content.decode()
    assert title in page
    assert "session-01a2-03e3" not in re.sub(r"<[^>]*>", "", page)


def test_a_recap_without_secrets_does_not_say_that_it_holds_some(
    table: Session, gm: Client
) -> None:
    write(gm, what="Mira paid.")
    page = gm.get(f"{W}sessions/session-3/recap/").content.decode()
    assert "Holds no secrets" in page
    assert "Holds secrets" not in page
    write(gm, what="It rained.", notes="The ringer lives.")
    page = gm.get(f"{W}sessions/session-3/recap/").content.decode()
    assert "Holds secrets" in page
    assert "Holds no secrets" not in page


@pytest.mark.parametrize(
    ("fields", "is_shown"),
    [
        ({"visibility": "public"}, True),
        ({"visibility": "gm"}, False),
        ({"visibility": "revealed", "known_to": ["character:nuri"]}, False),
    ],
)
def test_the_recap_of_a_party_has_the_title_of_the_session_if_it_knows_that(
    table: Session, gm: Client, fields: dict[str, Any], is_shown: bool
) -> None:
    write(gm, what="Mira paid.")
    Session.objects.update(title="The Court strikes", **fields)
    cut = gm.get(f"{W}sessions/session-3/recap/?for=lanternbearers").context["cut"]
    assert "Mira paid." in cut.text
    assert ("The Court strikes" in cut.text) == is_shown


def test_the_cut_for_a_party_holds_no_secret(table: Session, gm: Client) -> None:
    what = "Mira paid.\n\n:::secret\nJory holds the oar.\n:::"
    write(gm, what=what, notes="The ringer lives.")
    own = gm.get(f"{W}sessions/session-3/recap/").content.decode()
    theirs = gm.get(f"{W}sessions/session-3/recap/?for=lanternbearers").content.decode()
    assert "Jory holds the oar" in own
    assert "Mira paid." in theirs
    assert "oar" not in theirs
    assert "ringer" not in theirs


def test_a_recap_begins_with_the_date_of_the_calendar(table: Session, gm: Client) -> None:
    write(gm, what="Mira paid.")
    Session.objects.filter(pk=table.pk).update(in_world_label="")
    address = f"{W}sessions/session-3/recap/"
    assert "412" not in gm.get(address).content.decode()
    save_calendar(table.world, preset("twelve-times-thirty", "en"), by="gm")
    date = show_date(calendar_of(table.world), 412)
    assert f"The Third Evening · {date}" in gm.get(address).content.decode()
    assert re.fullmatch(r"23 \w+ 2", date)


def test_a_recap_is_sent_to_a_channel_and_says_what_came_of_it(
    table: Session, gm: Client, receiver: Receiver, settings: Any
) -> None:
    write(gm, what="Mira paid.")
    send = f"{W}sessions/session-3/recap/send/"
    fields = {"for": "lanternbearers", "name": "Table", "url": receiver.url}
    page = gm.post(send, fields, follow=True).content.decode()
    assert "Sent to Table." in page
    channel = Webhook.objects.get()
    assert (channel.format, channel.disabled) == ("discord", "by_hand")
    assert WebhookDelivery.objects.get().state == "delivered"
    assert "Mira paid" in WebhookDelivery.objects.get().body
    page = gm.post(send, {"for": "", "channel": str(channel.pk)}, follow=True).content.decode()
    assert "not by gm" in page, "the game master's cut is not for a channel of the party"
    assert WebhookDelivery.objects.count() == 1


def test_who_reads_a_channel_decides_what_may_be_sent_there(world: World) -> None:
    party, other = Audience("party", "gulls"), Audience("party", "terns")
    channel = Webhook(world=world, audience=str(party))
    assert may_receive(channel, party)
    assert not may_receive(channel, other)
    assert not may_receive(channel, Audience("gm"))
    assert may_receive(Webhook(world=world, audience="gm"), party)
    assert not may_receive(Webhook(world=world, audience="public"), party)


def test_a_long_text_is_cut_into_messages_between_words() -> None:
    parts = parts_of("word " * 1000)
    assert len(parts) > 1
    assert all(len(part) <= 2000 and not part.startswith("ord") for part in parts)


def test_over_rest_notes_and_loose_ends_are_listed_and_closed(
    table: Session, engine: ApiClient
) -> None:
    status, note = engine.post("world/notes", {"text": "A bell.", "session_id": "session-3"})
    assert (status, note["party_id"], note["used"]) == (201, "lanternbearers", False)
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "what": "It rained.",
        "loose_ends": ["Who rang?"],
    }
    assert engine.post("world/episodes", body)[0] == 200
    loose = engine.get("world/loose-ends?open=true")[1]["loose_ends"][0]
    assert (loose["text"], loose["summary_id"]) == ("Who rang?", "ep-1")
    assert engine.post(f"world/loose-ends/{loose['id']}/close")[1]["closed_at"]
    assert engine.get("world/loose-ends?open=true")[1]["loose_ends"] == []
    # A new version that says the same leaves it closed; a retraction takes it away.
    assert engine.post("world/episodes", body | {"version": 2, "what": "It poured."})[0] == 200
    assert LooseEnd.objects.get().closed_at
    engine.post("world/episodes/ep-1/retract", {})
    assert engine.get("world/loose-ends")[1]["loose_ends"] == []


def test_over_rest_a_proposal_writes_nothing_and_names_what_was_recorded(
    table: Session, engine: ApiClient, gm: Client
) -> None:
    body = {"party_id": "lanternbearers", "text": "Mira thanked us."}
    status, proposal = engine.post("world/episodes/propose", body)
    assert status == 200
    assert proposal["changes"][0]["candidates"][0]["ref"] == "mira-voss"
    assert proposal["recorded_as"] is None
    models = (Episode, SessionReport, SessionNote, DispositionChange)
    assert not any(model._default_manager.exists() for model in models)
    answer = gm.post(AFTER, {"text": body["text"]})
    gm.post(answer.url, fields_of(gm.get(answer.url).content.decode(), "episode-form"))
    again = engine.post("world/episodes/propose", body)[1]
    assert again["recorded_as"] == Episode.objects.get().external_id
