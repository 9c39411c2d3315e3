"""After the session: a report is pasted, reviewed line by line and recorded, never before."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from episodes.models import Episode, Scene, Session
from episodes.notes import add_note
from episodes.report_models import LooseEnd, SessionNote, SessionReport
from episodes.running_scenes import find_open_scene, open_scene
from knowledge.graph.models import SCENE, GraphEdge, GraphNode
from memory_site import tasks
from memory_site.session_reports.store import unread_reports
from npcs.models import NPC, Appearance, Disposition, DispositionChange
from tests.conftest import ApiClient
from tests.memory_site.session_reports.forms import fields_of
from worlds.calendars.definition import CalendarDefinition, Month
from worlds.models import Party, Reveal, World
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db
AFTER = "/w/ferrymark/sessions/session-3/after/"
TEXT = (
    "Mira waited at the Lower Landing on 14 Rainmonth. She thanked Tobin for the child. "
    "Later Voss came. Mira admitted that her brother Corin took the ninth boat. "
    "We promised Mira a lamp. The players do not know that Jory took the oar."
)


def paste(gm: Client, text: str = TEXT, **fields: Any) -> SessionReport:
    answer = gm.post(AFTER, {"text": text, **fields})
    assert answer.status_code == 302, answer.content.decode()
    return SessionReport.objects.get(pk=answer.url.rstrip("/").rsplit("/", 1)[1])


def address(report: SessionReport) -> str:
    return f"/w/ferrymark/sessions/session-3/reports/{report.pk}/"


def review(gm: Client, report: SessionReport) -> dict[str, Any]:
    """The fields of the review page as a browser would send them."""
    page = gm.get(address(report))
    assert page.status_code == 200
    return fields_of(page.content.decode(), "episode-form")


def written() -> int:
    models = (Episode, Appearance, DispositionChange, Reveal, GraphEdge, LooseEnd)
    return sum(model._default_manager.count() for model in models)


def test_pasting_and_looking_records_nothing(table: Session, gm: Client) -> None:
    review(gm, paste(gm))
    assert written() == 0


def test_only_what_is_certain_is_ticked_and_nothing_with_an_effect(
    table: Session, gm: Client
) -> None:
    fields = review(gm, paste(gm))
    ticked = {name for name, value in fields.items() if name.endswith("-use") and value == "on"}
    assert all(name.startswith("people-") for name in ticked)
    assert {fields[name.replace("-use", "-npc")] for name in ticked} == {"mira-voss"}
    choice = [name for name in fields if name.startswith("people-") and fields[name] == ""]
    assert choice, "the name Voss fits two"


def test_recording_writes_what_was_ticked_and_nothing_else(
    table: Session, gm: Client, mira: NPC, lanternbearers: Party
) -> None:
    report = paste(gm)
    fields = review(gm, report)
    assert "Jory" not in fields["what"]
    fields["changes-0-use"] = fields["loose_ends-0-use"] = "on"
    fields["changes-0-delta"] = "7"
    told = next(name for name, value in fields.items() if value == "npc:mira-voss#1")
    fields[told.replace("-subject", "-use")] = "on"
    answer = gm.post(address(report), fields)
    assert answer.status_code == 302, answer.content.decode()
    episode = Episode.objects.get()
    assert episode.session == table
    assert (episode.in_world_at, episode.place) == (414, "Lower Landing")
    assert "Jory took the oar" in episode.notes
    assert set(episode.npcs) == {"mira-voss"}
    (change,) = DispositionChange.objects.all()
    assert (change.npc, change.delta) == (mira, 7)
    assert "thanked Tobin" in change.reason
    assert Disposition.objects.get(npc=mira, party=lanternbearers).score == 7
    assert [entry.subject_kind for entry in Reveal.objects.all()] == ["secret"]
    assert [row.text for row in LooseEnd.objects.all()] == ["We promised Mira a lamp."]
    report.refresh_from_db()
    assert (report.state, report.episode) == ("recorded", episode)


def test_a_large_change_is_held_as_an_engines_would_be(
    table: Session, gm: Client, mira: NPC, settings: Any
) -> None:
    settings.DISPOSITION_HOLD_AT = 30
    report = paste(gm)
    fields = review(gm, report) | {"changes-0-use": "on", "changes-0-delta": "60"}
    gm.post(address(report), fields)
    assert DispositionChange.objects.get().held
    assert b"inbox" in gm.get(f"/w/ferrymark/episodes/{Episode.objects.get().external_id}/").content


def test_the_same_text_pasted_again_leads_to_what_is_there(table: Session, gm: Client) -> None:
    report = paste(gm)
    assert paste(gm, TEXT.upper().replace(" ", "\n ")) == report
    gm.post(address(report), review(gm, report))
    answer = gm.post(AFTER, {"text": TEXT}, follow=True)
    episode = Episode.objects.get()
    assert answer.redirect_chain[-1][0].endswith(f"/episodes/{episode.external_id}/")
    assert "recorded before" in answer.content.decode()
    assert Episode.objects.count() == 1


def test_a_report_is_recorded_once_by_two_who_press_the_button(table: Session, gm: Client) -> None:
    report = paste(gm)
    fields = review(gm, report)
    assert gm.post(address(report), fields).status_code == 302
    gm.post(address(report), fields)
    assert Episode.objects.count() == 1


def test_a_refused_line_records_nothing_and_keeps_what_was_typed(
    table: Session, gm: Client
) -> None:
    report = paste(gm)
    fields = review(gm, report)
    number = int(fields["changes-TOTAL_FORMS"]) - 1
    fields |= {
        f"changes-{number}-npc": "Nobody Known",
        f"changes-{number}-delta": "5",
        "what": "My own words.",
    }
    answer = gm.post(address(report), fields)
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "Nobody Known" in text
    assert "My own words." in text
    assert written() == 0


def test_an_ambiguous_name_must_be_chosen_before_it_is_recorded(table: Session, gm: Client) -> None:
    report = paste(gm, "In the evening Voss came and paid.")
    fields = review(gm, report)
    assert "people-0-use" not in fields
    answer = gm.post(address(report), fields | {"people-0-use": "on"})
    assert answer.status_code == 400
    answer = gm.post(address(report), fields | {"people-0-use": "on", "people-0-npc": "ida-voss"})
    assert answer.status_code == 302
    assert Episode.objects.get().npcs == ["ida-voss"]


def test_a_fact_typed_by_hand_joins_two_entities(table: Session, gm: Client, world: World) -> None:
    for slug, name, kind in (
        ("guild", "Guild", "Faction"),
        ("mira-voss", "Mira Voss", "Character"),
    ):
        GraphNode.objects.create(world=world, slug=slug, name=name, kind=kind)
    report = paste(gm)
    fields = review(gm, report)
    number = int(fields["facts-TOTAL_FORMS"]) - 1
    line = {"src": "Mira Voss", "words": "is part of", "dst": "Guild"}
    fields |= {f"facts-{number}-{name}": value for name, value in line.items()}
    assert gm.post(address(report), fields).status_code == 302
    edge = GraphEdge.objects.exclude(source_ref__endswith=SCENE).get()
    assert (edge.src.slug, edge.relation_id, edge.dst.slug) == ("mira-voss", "PART_OF", "guild")
    assert edge.source_ref == Episode.objects.get().external_id


@pytest.mark.parametrize("text", ["", " \n", "a" * 200_001])
def test_a_text_that_cannot_be_read_is_refused_and_kept(
    table: Session, gm: Client, text: str
) -> None:
    answer = gm.post(AFTER, {"text": text})
    assert answer.status_code == 400
    assert not SessionReport.objects.exists()


def test_notes_from_play_are_material_until_a_report_uses_them(
    table: Session, gm: Client, lanternbearers: Party, gilded_oath: Party, world: World
) -> None:
    for text, party in (("Jory lied to us.", lanternbearers), ("Of others.", gilded_oath)):
        gm.post("/w/ferrymark/notes/", {"text": text, "party": party.slug})
    note = SessionNote.objects.get(text="Jory lied to us.")
    page = gm.get(AFTER).content.decode()
    assert "Jory lied to us." in page
    assert "Of others." not in page
    report = paste(gm, "It rained.", notes=[str(note.pk)])
    assert "Jory lied to us." not in gm.get(AFTER).content.decode()
    gm.post(f"{address(report)}drop/")
    assert "Jory lied to us." in gm.get(AFTER).content.decode()


def test_a_note_from_play_is_for_game_masters_alone(table: Session, gm: Client) -> None:
    note = add_note(table.world, "Ida Voss lied to Jory Fenn.", author="anna", session=table)
    report = paste(gm, "It rained", notes=[str(note.pk)])
    fields = review(gm, report)
    assert (fields["what"], fields["notes"]) == ("It rained", "Ida Voss lied to Jory Fenn.")
    assert not any(name.startswith("people-") and name.endswith("-use") for name in fields)
    assert not any(str(value).startswith("npc:") for value in fields.values())


def test_names_that_the_party_does_not_know_are_pointed_out(table: Session, gm: Client) -> None:
    report = paste(gm, "Ida Voss sat down.")
    assert "does not know of these yet: Ida Voss." in gm.get(address(report)).content.decode()
    fields = review(gm, report)
    answer = gm.post(address(report), fields, follow=True).content.decode()
    assert "names that it does not know of: Ida Voss." in answer
    report = paste(gm, "Ida Voss sat down again.")
    fields = review(gm, report)
    told = next(name for name, value in fields.items() if value == "npc:ida-voss")
    fields[told.replace("-subject", "-use")] = "on"
    assert "does not know of:" not in gm.post(address(report), fields, follow=True).content.decode()


def test_a_long_report_waits_for_the_worker_or_is_read_now(
    table: Session, gm: Client, settings: Any
) -> None:
    settings.CELERY_TASK_ALWAYS_EAGER = False
    report = paste(gm, "Mira crossed the river. " * 1000)
    assert report.state == "reading"
    assert "progress" in gm.get(address(report)).content.decode()
    assert gm.get(f"{address(report)}progress/").status_code == 200
    gm.post(f"{address(report)}read/")
    report.refresh_from_db()
    assert report.state == "open"


def test_a_report_whose_message_was_lost_is_read_by_the_worker_later(
    table: Session, gm: Client
) -> None:
    report = paste(gm, "Mira crossed the river. " * 1000)
    assert unread_reports() == []
    age = {"created_at": timezone.now() - timedelta(minutes=2)}
    SessionReport.objects.filter(pk=report.pk).update(**age)
    assert unread_reports() == [report]
    tasks.read_session_report(str(report.pk))
    report.refresh_from_db()
    assert (report.state, report.tries) == ("open", 1)
    assert unread_reports() == []


def test_a_report_that_ends_its_worker_each_time_is_left_to_people(
    table: Session, gm: Client
) -> None:
    report = paste(gm, "Mira crossed the river. " * 1000)
    values = {"created_at": timezone.now() - timedelta(minutes=2), "tries": 4}
    SessionReport.objects.filter(pk=report.pk).update(**values)
    assert unread_reports() == []


def test_a_quick_note_is_saved_in_place_by_htmx(table: Session, gm: Client) -> None:
    answer = gm.post(
        "/w/ferrymark/notes/",
        {"text": "The bell rang.", "session": "session-3"},
        headers={"HX-Request": "true"},
    )
    assert "The note is saved." in answer.content.decode()
    note = SessionNote.objects.get()
    assert (note.session, note.party, note.author) == (table, table.party, "anna")
    refused = gm.post("/w/ferrymark/notes/", {"text": " "}, headers={"HX-Request": "true"})
    assert "needs a text" in refused.content.decode()


def test_players_have_none_of_these_pages(
    table: Session, gm: Client, player: Client, world: World
) -> None:
    report = paste(gm)
    add_note(world, "Only for me.", author="anna", session=table)
    gm.post(address(report), review(gm, report))
    episode = Episode.objects.get().external_id
    for path in (
        *("sessions/new/", "sessions/session-3/edit/", "sessions/session-3/after/"),
        *("sessions/session-3/recap/", "sessions/session-3/episodes/new/"),
        *(f"episodes/{episode}/correct/", f"episodes/{episode}/delete/"),
        f"sessions/session-3/reports/{report.pk}/",
    ):
        assert player.get(f"/w/ferrymark/{path}").status_code == 404, path
    for path in ("notes/", f"episodes/{episode}/retract/", "sessions/session-3/move/"):
        assert player.post(f"/w/ferrymark/{path}", {"text": "x"}).status_code == 404, path
    page = player.get("/w/ferrymark/sessions/session-3/").content.decode()
    assert "Only for me." not in page
    assert "Jory took the oar" not in page


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_the_page_speaks_the_language_of_its_reader(
    table: Session, gm: Client, language: str
) -> None:
    with translation.override(language):
        text = gm.get(AFTER, headers={"Accept-Language": language}).content.decode()
    assert "Propose an episode" not in text


def test_the_scene_is_over_when_its_session_is_written_down(
    table: Session, gm: Client, lanternbearers: Party
) -> None:
    scene = open_scene(lanternbearers, title="Fog")
    Scene.objects.filter(pk=scene.pk).update(session=table)
    report = paste(gm)
    gm.post(address(report), review(gm, report))
    assert find_open_scene(lanternbearers) is None
    other = open_scene(lanternbearers, title="Another evening")
    Scene.objects.filter(pk=other.pk).update(session=None)
    report = paste(gm, "Mira slept.")
    gm.post(address(report), review(gm, report))
    assert find_open_scene(lanternbearers) == other


def test_a_title_before_a_name_ends_no_sentence(table: Session, gm: Client) -> None:
    page = gm.get(address(paste(gm, "In the evening Mr. Jory Fenn sold us a boat.")))
    assert "In the evening Mr. Jory Fenn sold us a boat.</blockquote>" in page.content.decode()


def test_in_a_world_with_a_calendar_a_date_is_one_field(
    table: Session, gm: Client, world: World
) -> None:
    months = [Month(name=name, days=30) for name in ("Thaw", "Rainmonth")]
    definition = CalendarDefinition(name="Count", months=months, year_one_begins=0)
    save_calendar(world, definition, by="test")
    report = paste(gm, "On 14 Rainmonth 3 Mira waited at the Lower Landing.")
    page = gm.get(address(report)).content.decode()
    assert "Dates in the report: 14 Rainmonth 3" in " ".join(page.split())
    fields = review(gm, report)
    assert "in_world_label" not in fields
    assert fields["in_world_at"] == "14 Rainmonth 3"
    fields["in_world_at"] = "15 Rainmonth 3"
    gm.post(address(report), fields)
    episode = Episode.objects.get()
    page = gm.get(f"/w/ferrymark/episodes/{episode.external_id}/").content.decode()
    assert "15 Rainmonth 3" in page
    assert "14 Rainmonth" not in page.split("<h1>")[1].split("</p>")[0]


def test_the_page_of_an_episode_names_people_places_and_what_was_learned(
    table: Session, gm: Client, mira: NPC
) -> None:
    report = paste(gm)
    fields = review(gm, report)
    told = next(name for name, value in fields.items() if value == "npc:mira-voss#1")
    fields[told.replace("-subject", "-use")] = "on"
    answer = gm.post(address(report), fields, follow=True)
    page = answer.content.decode()
    assert f'<a href="/w/ferrymark/npcs/mira-voss/?party=lanternbearers">{mira.name}</a>' in page
    assert "What the party learned" in page
    assert "Her brother Corin" in page.split('id="learned"')[1].split("</section>")[0]


def test_what_was_deleted_meanwhile_is_not_revealed_and_nothing_else_is_recorded(
    table: Session, gm: Client, mira: NPC
) -> None:
    report = paste(gm)
    fields = review(gm, report)
    told = next(name for name, value in fields.items() if value == "npc:mira-voss#1")
    fields[told.replace("-subject", "-use")] = "on"
    mira.secrets.all().delete()
    answer = gm.post(address(report), fields)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    assert written() == 0
    fields[told.replace("-subject", "-use")] = ""
    assert gm.post(address(report), fields).status_code == 302


def test_the_only_person_whom_a_line_may_mean_is_chosen_and_nothing_is_ticked(
    table: Session, gm: Client, world: World
) -> None:
    """The name also fits somebody without an NPC, so the choice stays open to the eye."""
    GraphNode.objects.create(world=world, slug="joss", name="Joss Fenn", kind="Character")
    report = paste(gm, "Fenn was furious with Tobin.")
    page = gm.get(address(report)).content.decode()
    fields = fields_of(page, "episode-form")
    assert fields["changes-0-npc"] == "jory-fenn"
    assert '<select name="changes-0-npc"' in page
    assert "changes-0-use" not in fields
    assert gm.post(address(report), fields).status_code == 302
    assert not DispositionChange.objects.exists()


def test_an_open_thread_is_proposed_and_reviewed_like_a_report(
    table: Session, gm: Client, engine: ApiClient
) -> None:
    lines = [("Mira", "I thank Tobin for the child."), ("", TEXT)]
    steps = [{"speaker": speaker, "text": text} for speaker, text in lines]
    told = {"steps": steps, "party_id": "lanternbearers"}
    assert engine.post("world/threads/evening/steps", told)[0] == 200
    party = gm.get("/w/ferrymark/parties/lanternbearers/").content.decode()
    assert "/threads/evening/propose/" in party
    before = written()
    answer = gm.post("/w/ferrymark/threads/evening/propose/")
    report = SessionReport.objects.get()
    assert (answer.status_code, answer.url) == (302, address(report))
    assert report.text.startswith("Mira: I thank Tobin")
    assert report.session == table
    fields = review(gm, report)
    assert "mira-voss" in fields.values()
    assert written() == before
    gm.post("/w/ferrymark/threads/evening/propose/")
    assert SessionReport.objects.count() == 1, "the same text again is the same report"
    assert gm.post("/w/ferrymark/threads/no-such-thread/propose/").status_code == 404


def test_a_thread_without_a_session_asks_for_one(
    table: Session, gm: Client, engine: ApiClient
) -> None:
    told = {"steps": [{"text": TEXT}], "party_id": "lanternbearers"}
    engine.post("world/threads/evening/steps", told)
    table.delete()
    answer = gm.post("/w/ferrymark/threads/evening/propose/")
    assert answer.url == "/w/ferrymark/sessions/new/"
    assert not SessionReport.objects.exists()
