"""A page that is open at the table hears of what others write."""

import time
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from episodes.ingest import ingest_episode
from episodes.schemas import EpisodeIn
from knowledge.models import Lore, LorePassage
from npcs.dispositions import correct
from npcs.models import NPC, Secret
from tests.browser.test_every_page_in_a_browser import WIDE, keep_shot
from worlds.audiences import Audience
from worlds.models import Party, Reveal, World
from worlds.reveals import reveal

pytestmark = pytest.mark.browser
PLAY = "/w/ferrymark/parties/lanternbearers/play/"
PREPARE = "/w/ferrymark/parties/lanternbearers/prepare/"
PARTY = Audience("party", "lanternbearers")
LIVE = "() => document.documentElement.dataset.live === 'on'"


def test_an_open_page_hears_of_an_engine_within_a_second(
    phone: Page, url: str, people: World
) -> None:
    page = phone
    page.goto(url + PLAY)
    page.get_by_role("button", name="Open a scene").tap()
    page.locator("#enter").fill("Mira Voss")
    page.locator("#scene").get_by_role("button", name="Add", exact=True).tap()
    expect(page.locator(".actor h4")).to_have_text("Mira Voss")
    page.wait_for_function(LIVE)
    page.locator("summary", has_text="For the game master").tap()
    mira = NPC.objects.get(world=people, slug="mira-voss")
    took = []
    for number in range(5):
        mira.play_now = [f"Line {number}."]
        start = time.monotonic()
        mira.save()
        page.wait_for_function(
            "(text) => document.querySelector('.actor .playnow').innerText.includes(text)",
            arg=f"Line {number}.",
            polling=20,
        )
        took.append(time.monotonic() - start)
    print("live update, seconds:", [round(each, 2) for each in took])
    assert min(took) < 1.0  # the others waited for a processor, too
    expect(page.locator(".hides")).to_have_attribute("open", "")  # it stays unfolded

    page.context.set_offline(True)
    mira.play_now = ["Written meanwhile."]
    mira.save()
    page.context.set_offline(False)
    expect(page.locator(".actor .playnow")).to_contain_text("Written meanwhile.")


def test_what_is_typed_while_a_part_is_fetched_again_stays(
    phone: Page, url: str, people: World
) -> None:
    page = phone
    page.goto(url + PLAY)
    page.get_by_role("button", name="Open a scene").tap()
    page.wait_for_function(LIVE)
    scene = page.locator("#scene")
    scene.get_by_role("button", name="Mira Voss").tap()
    expect(page.locator(".actor h4")).to_have_text("Mira Voss")

    under_way: list[Route] = []
    page.route("**/play/scene/", lambda route: under_way.append(route))
    mira = NPC.objects.get(world=people, slug="mira-voss")
    mira.play_now = ["Mentions the toll."]
    mira.save()
    while not under_way:
        page.wait_for_timeout(20)
    page.locator("#enter").fill("Jory Fenn")  # the part was asked for before, its answer comes now
    answer = under_way[0].fetch()
    with page.expect_event("requestfinished", lambda each: each.url.endswith("/play/scene/")):
        under_way[0].fulfill(response=answer)
    page.unroute("**/play/scene/")
    page.wait_for_timeout(200)
    expect(page.locator("#enter")).to_have_value("Jory Fenn")
    expect(page.locator(".actor .playnow")).not_to_contain_text("Mentions the toll.")

    page.locator("#box").focus()  # leaves the field: the part is fetched, what was typed stays
    expect(page.locator(".actor .playnow")).to_contain_text("Mentions the toll.")
    expect(page.locator("#enter")).to_have_value("Jory Fenn")
    scene.get_by_role("button", name="Add", exact=True).tap()
    expect(page.locator(".actor h4")).to_have_text(["Mira Voss", "Jory Fenn"])
    expect(page.locator("#enter")).to_have_value("")


def test_a_button_works_as_soon_as_it_is_there(phone: Page, url: str, people: World) -> None:
    """A part that was just replaced takes the next tap itself; the page is not loaded again."""
    page = phone
    page.goto(url + PLAY)
    page.get_by_role("button", name="Open a scene").tap()
    hour = page.locator("#scene").get_by_role("button", name="1 hour")
    expect(page.locator(".inworld")).to_have_text("5 Ebb 212, 21:36")
    page.evaluate(
        """() => {
          window.isSamePage = true;
          const button = () => document.querySelector("#scene [value='60']");
          const tapAgain = () => setTimeout(() => button().click());
          document.addEventListener("htmx:afterSwap", tapAgain, { once: true });
        }"""
    )
    hour.tap()
    expect(page.locator(".inworld")).to_have_text("5 Ebb 212, 23:36")
    assert page.evaluate("window.isSamePage")


def test_two_screens_agree_on_what_is_known(phone: Page, url: str, people: World) -> None:
    page = phone
    page.goto(url + PREPARE)
    page.wait_for_function(LIVE)
    part = page.locator(".unknown [data-part]").first
    row = part.get_attribute("data-part")
    found: Any = next(
        model.objects.get(pk=row)
        for model in (Secret, LorePassage, Lore, NPC)
        if model.objects.filter(pk=row).exists()
    )
    reveal(found, PARTY, by="bo")
    expect(page.locator(f'[data-part="{row}"]')).to_have_count(0)
    assert Reveal.objects.filter(subject_id=row, audience=str(PARTY)).exists()
    assert page.evaluate(WIDE) == []
    notes = page.get_by_role("textbox", name="Preparation notes")
    notes.fill("Fog first.")
    page.get_by_role("button", name="Save the notes").tap()
    expect(page.locator("#said")).to_contain_text("The notes are saved.")
    keep_shot(page, "prepare")
    assert Party.objects.get(slug="lanternbearers").prep_notes.text == "Fog first."


def test_the_pages_that_a_game_master_keeps_open_hear_of_an_engine(
    phone: Page, url: str, people: World
) -> None:
    page, party = phone, Party.objects.get(slug="lanternbearers")
    mira = NPC.objects.get(world=people, slug="mira-voss")
    told = {"made_by": "engine", "hold_if_large": True}

    page.goto(url + "/w/ferrymark/npcs/mira-voss/")
    page.wait_for_function(LIVE)
    correct(mira, party, by=4, reason="They mended the ferry.", **told)
    expect(page.locator("#told")).to_contain_text("They mended the ferry.")
    Secret.objects.create(world=people, npc=mira, position=9, text="She fears the fog.")
    mira.goals = ["To row no more."]
    mira.save()
    expect(page.locator("#beside")).to_contain_text("She fears the fog.")

    page.goto(url + "/w/ferrymark/inbox/")
    page.wait_for_function(LIVE)
    correct(mira, party, by=90, reason="They saved her son.", **told)
    expect(page.locator("#waiting")).to_contain_text("They saved her son.")

    evening = {"summary_id": "live-1", "party_id": "lanternbearers", "session_id": "live"}
    ingest_episode(people, EpisodeIn(**evening, what="They rowed out."))
    page.goto(url + "/w/ferrymark/sessions/live/")
    page.wait_for_function(LIVE)
    ingest_episode(people, EpisodeIn(**{**evening, "summary_id": "live-2"}, what="The bell rang."))
    expect(page.locator("#recorded")).to_contain_text("The bell rang.")
