"""What players find on their own pages."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from episodes.models import Episode, Session
from knowledge.entry_store import save_entry
from knowledge.models import Lore, LorePassage
from npcs.models import NPC, Secret
from tests import cast
from tests.people import member
from worlds.audiences import Audience
from worlds.characters import set_members
from worlds.invitations import accept_invitation, create_invitation
from worlds.models import Character, Membership, Party, Reveal, World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PAGES = ("", "new/", "known/", "known/?show=places", "known/?show=secrets", "story/", "handouts/")


@pytest.fixture
def party(lanternbearers: Party) -> Party:
    set_members(lanternbearers, ["Ana", "Bo"])
    return lanternbearers


def player(party: Party, name: str, *, character: str = "") -> Client:
    user = User.objects.create_user(name)
    row = Character.objects.get(slug=character) if character else None
    Membership.objects.create(
        user=user, world=party.world, role="player", party=party, character=row
    )
    client = Client()
    client.force_login(user)
    return client


def text_of(client: Client, page: str) -> str:
    answer = client.get(f"/w/ferrymark/{page}")
    assert answer.status_code == 200
    return answer.content.decode()


def episode_of(party: Party, **fields: Any) -> Episode:
    session = Session.objects.create(
        world=party.world,
        campaign=party.campaign,
        party=party,
        external_id="s1",
        number=1,
        title="The cold pier",
        visibility="revealed",
    )
    values = {
        "world": party.world,
        "campaign": party.campaign,
        "party": party,
        "session": session,
        "external_id": "e1",
        "what": "They pulled Mira out of the water.",
        "text": "They pulled Mira out of the water.",
        "place": "Cold pier",
        "in_world_label": "3 Still",
        "visibility": "revealed",
    }
    return Episode.objects.create(**{**values, **fields})


def secret_of(npc: NPC, text: str) -> Secret:
    place = npc.secrets.count() + 1
    return Secret.objects.create(world=npc.world, npc=npc, position=place, text=text)


def test_a_secret_is_listed_with_when_and_from_where(party: Party, mira: NPC) -> None:
    episode_of(party)
    secret = secret_of(mira, "She sold the charts.")
    reveal(secret, Audience.parse("party:lanternbearers"), episode_ref="e1", by="anna", note="oops")
    text = text_of(player(party, "nora"), "known/?show=secrets")
    assert "She sold the charts." in text
    assert "3 Still" in text
    assert "Cold pier" in text
    assert "anna" not in text
    assert "oops" not in text


def test_a_hidden_episode_is_not_named_as_the_source(party: Party, mira: NPC) -> None:
    episode_of(party, visibility="gm")
    secret = secret_of(mira, "She sold the charts.")
    reveal(secret, Audience.parse("party:lanternbearers"), episode_ref="e1")
    text = text_of(player(party, "nora"), "known/?show=secrets")
    assert "She sold the charts." in text
    assert "Cold pier" not in text
    assert "e1" not in text.split("<main")[1].split("</main>")[0].replace("charset", "")


def test_a_character_reads_more_than_the_party_and_the_others_do_not(
    party: Party, mira: NPC
) -> None:
    secret = secret_of(mira, "She sold the charts.")
    reveal(secret, Audience.parse("character:ana"))
    ana = player(party, "nora", character="ana")
    bo = player(party, "olga", character="bo")
    whole = player(party, "pia")
    assert "She sold the charts." in text_of(ana, "known/?show=secrets")
    for page in PAGES:
        assert "She sold the charts." not in text_of(bo, page)
        assert "She sold the charts." not in text_of(whole, page)
    reveal(secret, Audience.parse("character:bo"))
    assert "She sold the charts." in text_of(whole, "known/?show=secrets")


def test_people_places_and_things_have_their_lists(party: Party, mira: NPC) -> None:
    for slug, title, kind in (("pier", "Cold Pier", "place"), ("bell", "Drowned Bell", "item")):
        save_entry(
            Lore(
                world=party.world,
                slug=slug,
                title=title,
                kind=kind,
                status="published",
                visibility="public",
                body=f"{title} is wet.",
            )
        )
    nora = player(party, "nora")
    assert "Mira Voss" in text_of(nora, "known/")
    places, things = text_of(nora, "known/?show=places"), text_of(nora, "known/?show=things")
    assert "Cold Pier is wet." in places
    assert "Drowned Bell" not in places
    assert "Drowned Bell is wet." in things


def test_the_story_has_the_recap_of_each_session(party: Party) -> None:
    episode_of(party)
    text = text_of(player(party, "nora"), "story/")
    assert "The cold pier" in text
    assert "They pulled Mira out of the water." in text


def test_an_entry_tagged_as_a_handout_is_among_the_handouts(party: Party) -> None:
    entry = Lore(
        world=party.world,
        slug="letter",
        title="Wet letter",
        kind="item",
        status="published",
        visibility="revealed",
        known_to=["party:lanternbearers"],
        tags=["handout"],
        body="Come at dusk.",
    )
    save_entry(entry)
    assert "Wet letter" in text_of(player(party, "nora"), "handouts/")


# --- new since last time


def was_here(name: str, *, hours_ago: float) -> None:
    at = timezone.now() - timedelta(hours=hours_ago)
    Membership.objects.filter(user__username=name).update(seen_at=at)


def test_what_is_new_is_new_since_the_last_visit(party: Party, mira: NPC) -> None:
    nora = player(party, "nora")
    old, new = secret_of(mira, "An old story."), secret_of(mira, "A new story.")
    for secret in (old, new):
        reveal(secret, Audience.parse("party:lanternbearers"))
    earlier = timezone.now() - timedelta(hours=5)
    Reveal.objects.filter(subject_id=old.pk).update(created_at=earlier)
    was_here("nora", hours_ago=3)
    for _again in range(2):  # the news stay for the whole visit
        text = text_of(nora, "new/")
        assert "A new story." in text
        assert "An old story." not in text


def test_an_undone_reveal_is_no_news(party: Party, mira: NPC) -> None:
    nora = player(party, "nora")
    was_here("nora", hours_ago=3)
    secret = secret_of(mira, "A new story.")
    undo_reveal(reveal(secret, Audience.parse("party:lanternbearers")))
    assert "A new story." not in text_of(nora, "new/")


def test_a_person_who_is_revealed_is_news(party: Party) -> None:
    nora = player(party, "nora")
    was_here("nora", hours_ago=3)
    oarsman = cast.create_npc(party.world, **cast.NINTH_OARSMAN)
    assert "The Ninth Oarsman" not in text_of(nora, "new/")
    reveal(oarsman, Audience.parse("party:lanternbearers"))
    assert "The Ninth Oarsman" in text_of(nora, "new/")


def test_a_secret_block_of_an_unknown_entry_is_no_news(party: Party) -> None:
    nora = player(party, "nora")
    was_here("nora", hours_ago=3)
    save_entry(
        Lore(
            world=party.world,
            slug="pier",
            title="Cold Pier",
            kind="place",
            status="published",
            visibility="gm",
            body="Planks.\n\n:::secret\nThe third lifts.\n:::\n",
        )
    )
    block = LorePassage.objects.get(secret=True)
    reveal(block, Audience.parse("party:lanternbearers"))
    for page in (*PAGES, "parties/lanternbearers/"):
        assert "Cold Pier" not in text_of(nora, page)
        assert "third lifts" not in text_of(nora, page)


# --- invitations and game masters


def test_an_invitation_gives_a_player_a_character_and_its_party(party: Party, mira: NPC) -> None:
    ana = Character.objects.get(slug="ana")
    _row, token = create_invitation(
        party.world, role="player", granted_by="gm", invited_by=None, character=ana
    )
    user = User.objects.create_user("nora")
    member = accept_invitation(token, user)
    assert (member.character, member.party) == (ana, party)
    reveal(secret_of(mira, "She sold the charts."), Audience.parse("character:ana"))
    client = Client()
    client.force_login(user)
    assert "She sold the charts." in text_of(client, "known/?show=secrets")


def test_a_game_master_looks_through_the_eyes_of_a_character(
    party: Party, mira: NPC, world: World
) -> None:
    user = User.objects.create_user("anna")
    Membership.objects.create(user=user, world=world, role="gm")
    client = Client()
    client.force_login(user)
    reveal(secret_of(mira, "She sold the charts."), Audience.parse("character:ana"))
    assert "She sold the charts." not in text_of(client, "known/?show=secrets")
    for who, is_known in (("character:ana", True), ("character:bo", False)):
        client.post("/w/ferrymark/as/", {"as": who})
        text = text_of(client, "known/?show=secrets")
        assert ("She sold the charts." in text) == is_known
        assert f"Viewing as {who[10:].title()}" in text
    assert client.post("/w/ferrymark/as/", {"as": "character:nobody"}).status_code == 404


def test_a_person_is_not_news_twice(party: Party, world: World, mira: NPC) -> None:
    entry = Lore(world=world, slug="mira", title="Mira Voss", kind="biography", visibility="gm")
    entry.status, entry.body = "published", "She sleeps near the water."
    save_entry(entry)
    NPC.objects.filter(pk=mira.pk).update(biography=entry, visibility="gm")
    mira.refresh_from_db()
    for row in (mira, entry):
        reveal(row, Audience.parse("party:lanternbearers"))
    pat = player(party, "pat")
    was_here("pat", hours_ago=5)
    page = text_of(pat, "new/")
    assert "Mira Voss" in page
    assert "She sleeps near the water." not in page
    undo_reveal(Reveal.objects.get(subject_id=mira.pk))
    was_here("pat", hours_ago=5)
    assert "She sleeps near the water." in text_of(pat, "new/")


def test_a_game_master_who_looks_through_players_eyes_lands_on_a_page_and_finds_back(
    party: Party, world: World
) -> None:
    master = member(world, "anna", role="gm")
    inbox = f"/w/{world.slug}/inbox/"
    view_as = {"as": f"party:{party.slug}", "next": inbox}
    answer = master.post(f"/w/{world.slug}/as/", view_as, follow=True)
    assert answer.status_code == 200
    assert "Viewing as Lanternbearers" in answer.content.decode()
    refused = master.get(inbox)
    assert refused.status_code == 404
    assert "Back to the game master" in refused.content.decode()
    assert master.post(f"/w/{world.slug}/as/", {"next": inbox}, follow=True).status_code == 200
