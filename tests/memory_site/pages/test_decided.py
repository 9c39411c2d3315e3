"""The inbox keeps what was decided, and each decision can be undone there."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import GraphEdge
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from knowledge.proposals import propose
from knowledge.schemas import LoreIn, ProposalIn
from knowledge.upsert import upsert_lore
from npcs import dispositions
from npcs.change_states import NotInForce
from npcs.models import NPC, Disposition, DispositionChange, OpinionChange
from npcs.opinions import opinions_of
from tests.cast import create_npc
from tests.conftest import ApiClient
from tests.knowledge.graph.conftest import edge, node
from tests.worlds.test_people_pages import signed_in
from worlds.models import Party, World
from worlds.roles import Role

pytestmark = pytest.mark.django_db
INBOX = "/w/ferrymark/inbox/"


@pytest.fixture
def gm(world: World) -> Client:
    return signed_in("gil", world, Role.GM)


def decided(client: Client) -> str:
    """Return the part of the inbox that lists decisions, as plain text."""
    page = client.get(INBOX).content.decode()
    part = page[page.index('id="decided"') :]
    return " ".join(re.sub(r"<[^>]+>", " ", part).split())


def undo(client: Client) -> str:
    """Undo the latest decision; return the page that follows."""
    page = client.get(INBOX).content.decode()
    form = page[page.index("/undo/") :]
    found = re.search(r'action="([^"]+/undo/[^"]+)"', page)
    state = re.search(r'name="state" value="(\w*)"', form)
    assert found
    assert state
    return client.post(found[1], {"state": state[1]}, follow=True).content.decode()


def score(npc: NPC) -> float:
    return Disposition.objects.get(npc=npc).score


@pytest.fixture
def held(engine: ApiClient, mira: NPC, lanternbearers: Party) -> DispositionChange:
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "when": {"real": "2026-09-01T18:00:00Z"},
        "what": "They sank the ferry.",
        "relations_delta": [{"npc": "mira-voss", "delta": -50, "reason": "They sank her ferry."}],
    }
    assert engine.post("world/episodes", body)[0] == 200
    return DispositionChange.objects.get()


def test_an_approval_is_undone(gm: Client, held: DispositionChange, mira: NPC) -> None:
    form = {"verdict": "approve", "reason": "It was her livelihood.", "from": "inbox"}
    gm.post(f"/w/ferrymark/npcs/changes/{held.pk}/", form)
    assert score(mira) == -50
    assert "Approved · Mira Voss → Lanternbearers: -50 It was her livelihood. gil" in decided(gm)
    profile = gm.get("/w/ferrymark/npcs/mira-voss/").content.decode()
    assert "Decided by gil: It was her livelihood." in profile
    assert "was undone" in undo(gm)
    assert_waits(gm, held, mira)
    gm.post(f"/w/ferrymark/npcs/changes/{held.pk}/", form)
    assert score(mira) == -50
    assert Disposition.objects.get(npc=mira).pending == 0


def assert_waits(gm: Client, held: DispositionChange, mira: NPC) -> None:
    """The change waits as if nobody had ruled on it."""
    assert score(mira) == 0
    assert Disposition.objects.get(npc=mira).pending == 1
    assert list(DispositionChange.objects.pending()) == [held]
    assert "Nothing has been decided yet." in decided(gm)
    inbox = gm.get(INBOX).content.decode()
    assert "They sank her ferry." in inbox.split('id="decided"')[0]
    page = gm.get("/w/ferrymark/npcs/mira-voss/").content.decode()
    assert "waiting for your decision" in page


def test_a_rejection_is_undone(gm: Client, held: DispositionChange, mira: NPC) -> None:
    gm.post(f"/w/ferrymark/npcs/changes/{held.pk}/", {"verdict": "reject", "reason": "No."})
    undo(gm)
    assert_waits(gm, held, mira)


def test_a_change_that_waits_again_does_so_in_the_profile_that_an_engine_reads(
    gm: Client, engine: ApiClient, held: DispositionChange, mira: NPC
) -> None:
    gm.post(f"/w/ferrymark/npcs/changes/{held.pk}/", {"verdict": "approve"})
    undo(gm)
    query = {"npc_id": "mira-voss", "party_id": "lanternbearers"}
    _status, profile = engine.tool("npc_profile", **query)
    assert profile["dynamic"]["influences"][0]["state"] == "pending"


def test_only_what_waited_waits_again(mira: NPC, lanternbearers: Party) -> None:
    said = {"reason": "Kind.", "made_by": "gil"}
    change = dispositions.correct(mira, lanternbearers, by=5, **said)
    with pytest.raises(NotInForce):
        dispositions.reopen(change, reason="No.", made_by="gil")


def test_a_ruling_that_was_taken_back_is_not_kept_for_a_new_version(
    gm: Client, engine: ApiClient, held: DispositionChange, mira: NPC
) -> None:
    gm.post(f"/w/ferrymark/npcs/changes/{held.pk}/", {"verdict": "approve"})
    undo(gm)
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "what": "They sank the ferry at noon.",
        "relations_delta": [{"npc": "mira-voss", "delta": -50, "reason": "They sank her ferry."}],
    }
    assert engine.post("world/episodes", body | {"version": 2})[0] == 200
    assert DispositionChange.objects.pending().count() == 1
    assert score(mira) == 0


def test_a_contradiction_shows_its_sources_and_what_follows_and_is_undone(
    gm: Client, world: World
) -> None:
    upsert_facts(
        world, [node("Mira Voss"), node("Ferrymark", "Location"), node("Harrow", "Location")]
    )
    first = edge(
        "Mira Voss", "LOCATED_IN", "Ferrymark", since=5, source_kind="episode", source_ref="ep-7"
    )
    second = edge(
        "Mira Voss", "LOCATED_IN", "Harrow", since=9, source_kind="lore", source_ref="harrow"
    )
    upsert_facts(world, [first, second])
    page = gm.get(INBOX).content.decode()
    assert 'href="/w/ferrymark/episodes/ep-7/"' in page
    assert 'href="/w/ferrymark/lore/harrow/"' in page
    assert "“Mira Voss is in Ferrymark” ends on day 9" in page
    (found,) = open_contradictions(world)
    address = f"/w/ferrymark/contradictions/{found.pk}/"
    gm.post(address, {"how": "keep_second", "reason": "She moved."})
    assert not open_contradictions(world)
    assert "She moved. gil" in decided(gm)
    undo(gm)
    assert open_contradictions(world).count() == 1
    assert "Nothing has been decided yet." in decided(gm)


def test_the_inbox_shows_many_contradictions_page_by_page(
    gm: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_site.views.CONTRADICTIONS_PER_PAGE", 1)
    people = ("Mira Voss", "Jory Fenn")
    places = [node("Ferrymark", "Location"), node("Harrow", "Location")]
    upsert_facts(world, [*map(node, people), *places])
    for person in people:
        days = (("Ferrymark", 5), ("Harrow", 9))
        facts = [edge(person, "LOCATED_IN", place, since=day) for place, day in days]
        upsert_facts(world, facts)
    assert open_contradictions(world).count() == 2
    pages = [gm.get(f"{INBOX}?page={number}").content.decode() for number in (1, 2)]
    shown = [[name for name in people if f"“{name} is in" in page] for page in pages]
    assert sorted(shown) == [["Jory Fenn"], ["Mira Voss"]]
    assert "page 1 of 2" in pages[0]


def test_an_accepted_proposal_is_undone(gm: Client, world: World) -> None:
    new = propose(world, ProposalIn(entry=LoreIn(title="Toll Bell", body="A bell.")), by="model")
    gm.post(f"/w/ferrymark/proposals/{new.pk}/decide/", {"note": "Good."})
    assert Lore.objects.filter(slug="toll-bell").exists()
    undo(gm)
    assert not Lore.objects.filter(slug="toll-bell").exists()
    new.refresh_from_db()
    assert (new.state, new.decided_by) == ("open", "")

    gm.post(f"/w/ferrymark/proposals/{new.pk}/decide/", {})
    change = propose(world, ProposalIn(entry=LoreIn(title="Toll Bell", body="A cracked bell.")))
    gm.post(f"/w/ferrymark/proposals/{change.pk}/decide/", {})
    assert Lore.objects.get(slug="toll-bell").body == "A cracked bell."
    undo(gm)
    assert Lore.objects.get(slug="toll-bell").body == "A bell."


def test_a_proposal_that_changed_nothing_takes_nothing_away(gm: Client, world: World) -> None:
    stored = ProposalIn(entry=LoreIn(title="Toll Bell", body="A bell."))
    upsert_lore(world, stored.entry)
    same = propose(world, stored)
    gm.post(f"/w/ferrymark/proposals/{same.pk}/decide/", {})
    undo(gm)
    assert Lore.objects.get(slug="toll-bell").body == "A bell."
    same.refresh_from_db()
    assert same.state == "open"


def test_an_entry_that_was_edited_since_is_left_alone(gm: Client, world: World) -> None:
    new = propose(world, ProposalIn(entry=LoreIn(title="Toll Bell", body="A bell.")))
    gm.post(f"/w/ferrymark/proposals/{new.pk}/decide/", {})
    lore = Lore.objects.get(slug="toll-bell")
    Lore.objects.filter(pk=lore.pk).update(version=lore.version + 1, body="My own words.")
    assert "was edited since" in undo(gm)
    assert Lore.objects.get(slug="toll-bell").body == "My own words."


def test_a_checked_fact_can_be_flagged_again(gm: Client, world: World) -> None:
    upsert_facts(world, [node("Mira Voss"), node("Jory"), edge("Mira Voss", "KNOWS", "Jory")])
    fact = GraphEdge.objects.get()
    GraphEdge.objects.update(flag="A fact it rests on was retracted: x")
    gm.post(f"/w/ferrymark/facts/{fact.pk}/looked-at/")
    assert "Still true · Mira Voss knows Jory" in decided(gm)
    undo(gm)
    assert GraphEdge.objects.get().flag == "A fact it rests on was retracted: x"


def correct(client: Client, points: int, **form: str) -> str:
    sent = {"party": "lanternbearers", "delta": points, "reason": "At the table.", **form}
    answer = client.post("/w/ferrymark/npcs/mira-voss/correct/", sent, follow=True)
    return answer.content.decode()


def test_a_disposition_is_set_to_a_value_or_by_a_step(
    gm: Client, mira: NPC, lanternbearers: Party
) -> None:
    correct(gm, 30)
    assert score(mira) == 30
    correct(gm, 12, **{"as": "value"})
    assert score(mira) == 12
    assert "is 12 already" in correct(gm, 12, **{"as": "value"})
    assert "between -100 and 100" in correct(gm, 150, **{"as": "value"})
    assert "Set by hand · Mira Voss → Lanternbearers: -18" in decided(gm)
    undo(gm)
    assert score(mira) == 30


def test_a_large_step_by_hand_waits_like_any_other(
    gm: Client, mira: NPC, lanternbearers: Party
) -> None:
    assert "waits for approval" in correct(gm, -90, **{"as": "value"})
    assert score(mira) == 0
    assert "-90" in gm.get(INBOX).content.decode()


def test_undoing_needs_a_decision_of_this_world(gm: Client, held: DispositionChange) -> None:
    page = gm.post(f"{INBOX}undo/change/{held.pk}/", follow=True).content.decode()
    assert "There is no decision to undo." in page
    assert gm.post(f"{INBOX}undo/change/999999/").status_code == 404
    assert gm.post(f"{INBOX}undo/proposal/nonsense/").status_code == 404
    assert gm.post(f"{INBOX}undo/spell/1/").status_code == 404
    other = World.objects.create(slug="harrow", name="Harrow")
    foreign = signed_in("otto", other, Role.GM)
    assert foreign.post(f"/w/harrow/inbox/undo/change/{held.pk}/").status_code == 404


def test_two_game_masters_decide_the_same_change(
    gm: Client, world: World, held: DispositionChange, mira: NPC
) -> None:
    other = signed_in("bo", world, Role.GM)
    address = reverse("rule-on-change", args=[world.slug, held.pk])
    gm.post(address, {"verdict": "approve", "from": "inbox"})
    decided = score(mira)
    for verdict in ("approve", "reject"):
        page = other.post(address, {"verdict": verdict, "from": "inbox"}, follow=True)
        assert "Somebody has decided this already." in page.content.decode()
    assert score(mira) == decided
    stale = other.get(INBOX).content.decode()
    state = re.search(r'name="state" value="(\w+)"', stale)
    assert state
    undo(gm)
    undone = score(mira)
    address = reverse("decision-undo", args=[world.slug, "change", held.pk])
    page = other.post(address, {"state": state[1]}, follow=True).content.decode()
    assert "Somebody has decided this already." in page
    assert score(mira) == undone, "the second tap does not restore what the first one undid"


def test_a_large_opinion_of_another_npc_waits_and_its_approval_can_be_undone(
    gm: Client, world: World, mira: NPC
) -> None:
    corin = create_npc(world, slug="corin-voss", name="Corin Voss")
    form = {"npc": mira.slug, "other": "Corin Voss", "delta": "-80", "reason": "He sold her out."}
    page = gm.post("/w/ferrymark/opinions/", form, follow=True).content.decode()
    entry = OpinionChange.objects.get()
    inbox = gm.get(INBOX).content.decode()
    assert "He sold her out." in inbox[: inbox.index('id="decided"')]
    assert opinions_of(mira)[0].score == 0
    address = reverse("rule-on-opinion", args=[world.slug, entry.pk])
    assert f'action="{address}"' in inbox
    page = gm.post(address, {"verdict": "approve", "next": INBOX}, follow=True).content.decode()
    assert opinions_of(mira)[0].score == -80
    assert "He sold her out." not in page[: page.index('id="decided"')]
    assert "Approved · Mira Voss → Corin Voss: -80" in decided(gm)
    assert "The decision was undone." in undo(gm)
    assert opinions_of(mira)[0].score == 0
    foreign = signed_in("otto", World.objects.create(slug="harrow", name="Harrow"), Role.GM)
    for kind in ("opinions/{}/", "inbox/undo/opinion/{}/"):
        refused = foreign.post(f"/w/harrow/{kind.format(entry.pk)}", {"verdict": "restore"})
        assert refused.status_code == 404
    corin.delete()
    assert gm.get(INBOX).status_code == 200
