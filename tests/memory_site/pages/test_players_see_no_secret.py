"""A player who follows every link, and tries every address a game master has, reads no secret of
the demo world.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.urls import resolve

from memory_site.demo.world_files import DemoWorld, read_world
from npcs.models import NPC, Secret
from retrieval.text import replace_links
from tests.memory_site.demo.consistency import secrets
from tests.saved_rows import SavedRows
from worlds.audiences import Audience
from worlds.models import Character, Membership, Party, World
from worlds.reveals import reveal

pytestmark = pytest.mark.timeout(900)  # a minute where nothing else runs
AUDIENCE = "party:lanternbearers"
OF_EACH_VIEW = int(os.environ.get("PAGES_OF_EACH_VIEW", "40"))
"""How many pages of one view the game master opens, and the player tries. More of them has only the
form of a relation, which is another for each of hundreds of relations."""
HREF = re.compile(r'(?:href|action)="(/w/[^"#]*)"')


def member(world: World, name: str, **membership: object) -> Client:
    user = get_user_model().objects.create_user(name)
    Membership.objects.create(user=user, world=world, **membership)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def player(demo: World) -> Client:
    party = Party.objects.get(world=demo, slug="lanternbearers")
    return member(demo, "pat", role="player", party=party)


@pytest.fixture
def master(demo: World) -> Client:
    return member(demo, "anna", role="gm")


def crawl(
    client: Client,
    *starts: str,
    most: int = 1_000_000,
    is_asked_for: Callable[[str], bool] = lambda _address: True,
) -> dict[str, str]:
    """Follow every link from `starts` within the world's pages that is asked for, up to `most`
    pages; return the text of each that answered 200.
    """
    waiting, seen, texts = list(starts), set(starts), {}
    while waiting and len(texts) < most:
        address = waiting.pop()
        answer = client.get(address)
        assert answer.status_code < 500, address
        if answer.status_code != 200:
            continue
        texts[address] = text = answer.content.decode()
        new = set(links(text)) - seen
        seen |= new
        waiting += filter(is_asked_for, sorted(new))
    return texts


def some_of_each(seen: Counter[str]) -> Callable[[str], bool]:
    """Return a predicate that is true for the first `OF_EACH_VIEW` addresses of each view."""

    def is_asked_for(address: str) -> bool:
        view = resolve(urlsplit(address).path).view_name
        seen[view] += 1
        return seen[view] <= OF_EACH_VIEW

    return is_asked_for


def links(text: str) -> list[str]:
    """The addresses in a page that lead to pages of the world."""
    found = (link.replace("&amp;", "&") for link in HREF.findall(text))
    return [link for link in found if "/admin/" not in link]


@pytest.fixture(scope="module")
def pages_of_master(demo_rows: SavedRows, django_db_blocker: Any) -> dict[str, str]:
    """The text of each page of the demo world by its address. The addresses hold in every test of
    the module, because the rows keep their keys."""
    with django_db_blocker.unblock(), transaction.atomic():
        demo_rows.write()
        world = World.objects.get(slug="ferrymark")
        master = member(world, "anna", role="gm")
        texts = crawl(master, "/w/ferrymark/", is_asked_for=some_of_each(Counter()))
        transaction.set_rollback(True)
    return texts


def hidden_texts(world: DemoWorld) -> Iterator[str]:
    """What the party has not learned: secrets, goals, voices, notes; less what a scene revealed to
    it.
    """
    revealed = {
        (reveal.lore or reveal.npc, reveal.secret)
        for scene in world.scenes
        for reveal in scene.episode.reveals
        if AUDIENCE in reveal.to
    }
    for slug, entry in world.lore.items():
        yield from _unknown(slug, secrets(entry), revealed)
    for slug, npc in world.npcs.items():
        yield from _unknown(slug, [(each.text, each.known_to) for each in npc.secrets], revealed)
        yield from (*npc.goals, npc.voice, *npc.play_now)
    yield from (scene.episode.notes for scene in world.scenes if scene.episode.notes)


def _unknown(
    slug: str, secrets: list[tuple[str, list[str]]], revealed: set[tuple[str, int | None]]
) -> Iterator[str]:
    for number, (text, known_to) in enumerate(secrets, 1):
        if AUDIENCE not in known_to and (slug, number) not in revealed:
            yield text


def snippet(text: str) -> str:
    """A piece of a secret that survives escaping and Markdown."""
    plain = replace_links(text.split("\n")[0])
    return max(re.split(r"['\"&<>*_`#\[\]]", plain), key=len).strip()[:60]


def test_no_page_tells_a_player_what_the_party_has_not_learned(
    pages_of_master: dict[str, str], player: Client
) -> None:
    as_player = crawl(player, "/w/ferrymark/", *pages_of_master)
    secrets = {snippet(text) for text in hidden_texts(read_world())}
    secrets = {secret for secret in secrets if len(secret) > 12}
    everything = "\n".join(pages_of_master.values())
    assert sum(secret in everything for secret in secrets) > 40, (
        "the game master's pages show most of them"
    )
    leaks = [
        (address, secret)
        for address, text in as_player.items()
        for secret in secrets
        if secret in text
    ]
    assert leaks == []


def test_a_player_reads_what_the_own_character_learned_and_nothing_of_another(
    pages_of_master: dict[str, str], demo: World, master: Client
) -> None:
    """Also no name and no note of the game master who revealed it."""
    npc = NPC.objects.filter(world=demo, visibility="public").order_by("slug")[0]
    texts = {
        slug: Secret.objects.create(world=demo, npc=npc, position=place, text=f"Owes {slug} money.")
        for place, slug in enumerate(("nuri", "kade-wint"), 90)
    }
    for slug, secret in texts.items():
        who = Audience.parse(f"character:{slug}")
        reveal(secret, who, by="gamemaster-anna", note="zqxnote spoiler")
    nuri = Character.objects.get(world=demo, slug="nuri")
    player = member(demo, "nora", role="player", party=nuri.party, character=nuri)
    page = master.get(f"/w/ferrymark/npcs/{npc.slug}/").content.decode()
    addresses = {*pages_of_master, *links(page)}
    as_player = crawl(player, "/w/ferrymark/", *addresses)
    everything = "\n".join(as_player.values())
    assert "Owes nuri money." in as_player["/w/ferrymark/new/"]
    assert "Owes nuri money." in player.get("/w/ferrymark/known/?show=secrets").content.decode()
    assert "Owes kade-wint money." not in everything
    assert "gamemaster-anna" not in everything
    assert "zqxnote" not in everything
    secrets = {snippet(text) for text in hidden_texts(read_world())}
    assert not [secret for secret in secrets if len(secret) > 12 and secret in everything]


def test_the_navigation_of_players_leads_to_their_own_pages_alone(player: Client) -> None:
    text = player.get("/w/ferrymark/").content.decode()
    nav = re.findall(r"<nav class=.wide.*?</nav>", text, re.DOTALL)[0]
    assert HREF.findall(nav) == [
        f"/w/ferrymark/{name}/" for name in ("new", "known", "story", "handouts")
    ]


def test_entries_that_are_the_game_masters_do_not_exist_for_a_player(player: Client) -> None:
    hidden = [slug for slug, entry in read_world().lore.items() if entry.visibility == "gm"]
    assert hidden
    assert {player.get(f"/w/ferrymark/lore/{slug}/").status_code for slug in hidden} == {404}


def test_a_player_cannot_look_through_other_eyes(player: Client) -> None:
    assert player.post("/w/ferrymark/as/", {"as": "party:gilded-oath"}).status_code == 404
    assert player.get("/w/ferrymark/parties/gilded-oath/").status_code == 404


def test_a_game_master_who_views_as_a_party_sees_what_its_player_sees(
    player: Client, master: Client
) -> None:
    master.post("/w/ferrymark/as/", {"as": AUDIENCE})
    own = set(
        re.findall(r"/w/ferrymark/lore/[^/\"]+/", player.get("/w/ferrymark/lore/").content.decode())
    )
    assert own
    assert own == set(
        re.findall(r"/w/ferrymark/lore/[^/\"]+/", master.get("/w/ferrymark/lore/").content.decode())
    )
    assert master.get("/w/ferrymark/inbox/").status_code == 404


def test_a_world_does_not_exist_for_who_is_no_member(demo: World) -> None:
    stranger = get_user_model().objects.create_user("stranger")
    client = Client()
    assert client.get("/w/ferrymark/").status_code == 302
    client.force_login(stranger)
    assert client.get("/w/ferrymark/").status_code == 404
