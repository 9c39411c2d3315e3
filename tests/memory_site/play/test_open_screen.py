"""A phone with the Play page lies on the table: what the players read of it without a tap."""

from html.parser import HTMLParser
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from episodes import running_scenes
from episodes.ingest import ingest_episode
from episodes.models import Scene
from episodes.schemas import EpisodeIn
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from knowledge.schemas import RuleIn
from knowledge.upsert import upsert_rule
from memory_site.play.party_knowledge import PartyKnowledge
from memory_site.site_hits import SiteHit
from npcs.dispositions import correct
from npcs.models import NPC, Secret
from tests.cast import create_npc
from tests.memory_site.play.conftest import PLAY, make_entry
from worlds.audiences import GM, Audience
from worlds.models import Party, World
from worlds.pages import Viewer
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
PARTY = Audience("party", "lanternbearers")


class OpenText(HTMLParser):
    """Text outside of folds, and what a field suggests."""

    def __init__(self) -> None:
        super().__init__()
        self.folds: list[bool] = []
        """Of each fold that is being read, whether its summary is."""
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "details":
            self.folds.append(False)
        elif tag == "summary":
            self.folds[-1] = True
        elif tag == "option" and all(self.folds):
            self.words += [value or "" for name, value in attrs if name == "value"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self.folds.pop()
        elif tag == "summary":
            self.folds[-1] = False

    def handle_data(self, data: str) -> None:
        if all(self.folds):
            self.words.append(data)


def in_the_open(page: str) -> str:
    parser = OpenText()
    parser.feed(page)
    return " ".join(parser.words)


def read(client: Client, address: str = "") -> str:
    return client.get(PLAY + address).content.decode()


def post(client: Client, address: str, **fields: Any) -> str:
    return client.post(PLAY + address, fields, headers=HTMX).content.decode()


@pytest.fixture
def court(world: World) -> Lore:
    """A faction that the party does not know of."""
    fields = {"body": "It pays for silence.", "kind": "faction", "visibility": "gm"}
    return make_entry(world, "Lantern Court", **fields)


@pytest.fixture
def kestrel(world: World, court: Lore) -> NPC:
    """Known to the game master alone."""
    fields = {"role": "Spy of the Court", "summary": "A grey traveller.", "faction_lore": court}
    return create_npc(
        world, slug="kestrel", name="Kestrel Vane", visibility="gm", faction=court.title, **fields
    )


def test_a_secret_faction_is_not_in_the_headline_of_its_member(
    anna: Client, lanternbearers: Party, jory: NPC
) -> None:
    NPC.objects.filter(pk=jory.pk).update(
        role="Cooper", faction="Ember Choir", faction_visibility="gm"
    )
    page = read(anna, "lookup/?q=jory")
    assert "Cooper" in in_the_open(page)
    assert "Ember Choir" not in in_the_open(page)
    assert "Ember Choir" in page


def test_a_faction_and_a_home_whose_entries_are_hidden_are_folded(
    anna: Client, lanternbearers: Party, jory: NPC, court: Lore, world: World
) -> None:
    cove = make_entry(world, "Hidden Cove", kind="place", visibility="gm")
    NPC.objects.filter(pk=jory.pk).update(
        faction=court.title, faction_lore=court, home=cove.title, home_lore=cove
    )
    page = read(anna, "lookup/?q=jory")
    for name in ("Lantern Court", "Hidden Cove"):
        assert name in page
        assert name not in in_the_open(page)


def test_a_person_whom_the_party_does_not_know_is_folded_whole(
    anna: Client, lanternbearers: Party, kestrel: NPC
) -> None:
    for query in ("?q=kestrel", "?kind=npc&ref=kestrel"):
        page = read(anna, f"lookup/{query}")
        for words in ("Kestrel", "Spy", "A grey traveller", "Lantern Court"):
            assert words in page
            assert words not in in_the_open(page)
        assert "Lanternbearers does not know this" in in_the_open(page)
    reveal(kestrel, PARTY, by="anna")
    page = in_the_open(read(anna, "lookup/?q=kestrel"))
    assert "A grey traveller." in page
    assert "Lantern Court" not in page


def test_an_entry_that_the_party_does_not_know_is_folded_whole(
    anna: Client, lanternbearers: Party, kestrel: NPC, court: Lore
) -> None:
    page = read(anna, "lookup/?q=lantern court")
    for words in ("Lantern Court", "pays for silence", "Kestrel Vane"):
        assert words in page
        assert words not in in_the_open(page)


def test_of_a_known_faction_the_known_members_alone_are_in_the_open(
    anna: Client, lanternbearers: Party, world: World, jory: NPC, mira: NPC
) -> None:
    choir = make_entry(world, "Ember Choir", body="They sing.", kind="faction", visibility="public")
    NPC.objects.filter(pk__in=[jory.pk, mira.pk]).update(faction_lore=choir)
    NPC.objects.filter(pk=mira.pk).update(faction_visibility="gm")
    page = read(anna, "lookup/?q=ember choir")
    assert "They sing." in in_the_open(page)
    assert "Jory Fenn" in in_the_open(page)
    assert "Mira Voss" in page
    assert "Mira Voss" not in in_the_open(page)


def test_a_draft_a_hidden_biography_and_a_hidden_rule_are_folded(
    anna: Client, lanternbearers: Party, world: World, jory: NPC
) -> None:
    draft = make_entry(world, "Tide Mill", body="It grinds bones.", visibility="public")
    Lore.objects.filter(pk=draft.pk).update(status="draft")
    life = make_entry(
        world, "Jory Fenn", body="He was a smuggler.", kind="biography", visibility="gm"
    )
    NPC.objects.filter(pk=jory.pk).update(biography=life)
    rule = RuleIn(rule_id="house/doom", title="Doom", body="Count to six.", visibility="gm")
    upsert_rule(world, rule.model_copy(update={"kind": "custom"}), reason="test")
    for query, words in (
        ("?kind=thing&ref=tide-mill", "It grinds bones."),
        ("?kind=npc&ref=jory-fenn", "He was a smuggler."),
        ("?kind=rule&ref=house/doom", "Count to six."),
    ):
        page = read(anna, f"lookup/{query}")
        assert words in page
        assert words not in in_the_open(page)


def test_other_hits_that_the_party_does_not_know_are_folded(
    anna: Client, lanternbearers: Party, world: World
) -> None:
    for slug, visibility in (("bram-reed", "public"), ("bram-oakes", "gm"), ("bram-vey", "public")):
        name = slug.replace("-", " ").title()
        create_npc(world, slug=slug, name=name, aliases=["Bram"], visibility=visibility)
    page = read(anna, "lookup/?q=bram")
    assert "Bram Oakes" in page
    assert "Bram Oakes" not in in_the_open(page)
    assert "Bram Reed" in in_the_open(page)


def test_how_to_play_people_and_what_they_think_is_folded(
    anna: Client, lanternbearers: Party, mira: NPC, debt: Secret
) -> None:
    NPC.objects.filter(pk=mira.pk).update(goals=["To drown the toll."], voice="Hoarse.")
    reason = "Mira Voss is allied with Kestrel Vane."
    correct(mira, lanternbearers, by=-30, reason=reason, made_by="anna")
    running_scenes.open_scene(lanternbearers, cast=[mira.slug])
    for address in ("lookup/?q=mira", "", "scene/"):
        page = read(anna, address)
        assert "Mira Voss" in in_the_open(page)
        for words in ("To drown the toll.", reason, "-30", "She owes the Tolls."):
            assert words in page
            assert words not in in_the_open(page)


def test_nobody_unknown_is_named_by_the_open_scene(
    anna: Client, lanternbearers: Party, world: World, kestrel: NPC, mira: NPC
) -> None:
    cove = make_entry(world, "Hidden Cove", kind="place", visibility="gm")
    for slug in ("finch", "mira-voss"):
        if slug == "finch":
            create_npc(world, slug=slug, name="Finch Ley", visibility="gm")
        NPC.objects.filter(slug=slug).update(home_lore=cove)
    assert "Hidden Cove" not in in_the_open(read(anna))
    page = post(anna, "scene/open/", place="hidden cove", title="The Court strikes")
    scene = Scene.objects.get()
    page = post(anna, f"scene/{scene.pk}/", enter="kestrel")
    shown = in_the_open(page)
    for words in ("Kestrel Vane", "Finch Ley", "Hidden Cove", "The Court strikes"):
        assert words in page
        assert words not in shown
    assert "Mira Voss" in shown.split("Who comes?")[1]
    assert "Somebody whom Lanternbearers does not know" in shown
    assert "strikes" not in in_the_open(post(anna, "scene/open/", title="Another"))


def test_people_of_the_last_episode_whom_the_party_does_not_know_are_folded(
    anna: Client, lanternbearers: Party, world: World, kestrel: NPC
) -> None:
    entry = {"summary_id": "e1", "party_id": "lanternbearers", "who": {"npcs": ["kestrel"]}}
    ingest_episode(world, EpisodeIn.model_validate({**entry, "what": "They crossed."}))
    running_scenes.open_scene(lanternbearers)
    page = read(anna)
    assert "Kestrel Vane" in page
    assert "Kestrel Vane" not in in_the_open(page)


def test_a_reveal_to_others_names_nobody_whom_the_party_does_not_know(
    anna: Client, lanternbearers: Party, debt: Secret, kestrel: NPC, jory: NPC
) -> None:
    fields = {"kind": "secret", "id": debt.pk, "to": "npc:kestrel"}
    assert "Kestrel" not in post(anna, "reveal/", **fields).split('id="said"')[1]
    fields = {"kind": "npc", "id": kestrel.pk, "to": "npc:jory-fenn"}
    assert "Kestrel" not in post(anna, "reveal/", **fields).split('id="said"')[1]
    fields = {"kind": "npc", "id": kestrel.pk, "to": str(PARTY)}
    assert "Kestrel Vane" in post(anna, "reveal/", **fields).split('id="said"')[1]


# --- who enters


@pytest.mark.parametrize("name", ["Мира Восс", "Миру Восс", "미라 보스", "mira voss", "mira-voss"])
def test_somebody_enters_by_any_whole_name(
    anna: Client, lanternbearers: Party, mira: NPC, name: str
) -> None:
    scene = running_scenes.open_scene(lanternbearers)
    assert "Mira Voss is in the scene." in post(anna, f"scene/{scene.pk}/", enter=name)
    assert Scene.objects.get().cast == ["mira-voss"]


@pytest.mark.parametrize("name", ["Mira", "Mira Vos", "Мира"])
def test_a_part_of_a_name_or_a_slip_is_answered_with_candidates(
    anna: Client, lanternbearers: Party, mira: NPC, name: str
) -> None:
    create_npc(mira.world, slug="mirabel", name="Mira Vossen", visibility="gm")
    scene = running_scenes.open_scene(lanternbearers)
    page = post(anna, f"scene/{scene.pk}/", enter=name)
    assert Scene.objects.get().cast == []
    assert "notice bad" in page
    shown = in_the_open(page)
    assert "Mira Voss" in shown.split("Who is meant?")[1]
    assert "Vossen" not in shown
    assert 'value="mira-voss"' in page


def test_a_hidden_entry_of_a_campaign_with_the_slug_of_a_public_one_is_folded(
    lanternbearers: Party, world: World
) -> None:
    canon = make_entry(world, "Grey Mill", visibility="public")
    own = Lore(world=world, slug=canon.slug, title="Mill of the Court", status="published")
    own.campaign, own.overrides = lanternbearers.campaign, canon
    save_entry(own)
    viewer = Viewer(world, "anna", may_see_all=True, own=GM, audience=GM)
    hits = [("thing", "Lore", SiteHit(each.title, "", 1.0, ref=each.slug)) for each in (canon, own)]
    known, hidden = PartyKnowledge(viewer, lanternbearers).split_hits(hits)
    assert [hit.title for _kind, _label, hit in known] == ["Grey Mill"]
    assert [hit.title for _kind, _label, hit in hidden] == ["Mill of the Court"]


def test_the_page_reads_the_members_of_the_party_once(
    anna: Client, lanternbearers: Party, mira: NPC, debt: Secret
) -> None:
    running_scenes.open_scene(lanternbearers, cast=[mira.slug])
    for address in ("scene/", "lookup/?kind=npc&ref=mira-voss"):
        with CaptureQueriesContext(connection) as captured:
            read(anna, address)
        members = [each for each in captured if 'worlds_character"."party_id" IN' in each["sql"]]
        assert len(members) == 1
