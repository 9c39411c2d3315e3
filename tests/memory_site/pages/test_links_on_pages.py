"""Links, cards, backlinks and the page of links, for game masters, players and strangers."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from knowledge.entry_store import save_all
from knowledge.links import link_resolver
from knowledge.models import Lore
from npcs.models import NPC
from tests.knowledge.links.test_links_as_rows import entry
from worlds.audiences import GM
from worlds.markdown import safe_html
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(world: World, lanternbearers: Party) -> dict[str, Client]:
    """A game master, a player of the Lanternbearers, a GM who views as them, and a stranger."""
    clients = {}
    for name, role in (("gm", "gm"), ("viewing", "gm"), ("player", "player"), ("stranger", "")):
        user = User.objects.create_user(name)
        if role:
            party = lanternbearers if role == "player" else None
            Membership.objects.create(user=user, world=world, role=role, party=party)
        clients[name] = Client()
        clients[name].force_login(user)
    clients["viewing"].post(f"/w/{world.slug}/as/", {"as": "party:lanternbearers"})
    return clients


def html(client: Client, path: str) -> str:
    answer = client.get(f"/w/ferrymark/{path}")
    assert answer.status_code == 200, path
    return answer.content.decode()


@pytest.mark.parametrize("who", ["player", "viewing"])
def test_a_link_to_a_hidden_thing_looks_like_one_to_nothing(
    world: World, people: dict[str, Client], who: str
) -> None:
    entry(world, "Hidden Vault", visibility="gm")
    entry(world, "Draft Vault", status="draft")
    entry(world, "Quay")
    entry(world, "Harbour", "To [[Hidden Vault]], [[Draft Vault]], [[No Vault]] and [[Quay]].")
    page = html(people[who], "lore/harbour/")
    assert "To Hidden Vault, Draft Vault, No Vault and <a" in page
    assert 'href="/w/ferrymark/lore/quay/"' in page
    assert 'data-card="/w/ferrymark/card/lore/quay/"' in page
    page = html(people["gm"], "lore/harbour/")
    assert 'href="/w/ferrymark/lore/hidden-vault/"' in page
    assert 'class="wikilink broken"' in page


@pytest.mark.parametrize("who", ["player", "viewing"])
def test_a_hidden_thing_of_the_same_name_makes_no_link_ambiguous(
    world: World, people: dict[str, Client], who: str
) -> None:
    entry(world, "North Ferry", aliases=["Ferry"])
    entry(world, "South Ferry", aliases=["Ferry"], visibility="gm")
    entry(world, "Harbour", "The [[Ferry]].")
    assert 'href="/w/ferrymark/lore/north-ferry/"' in html(people[who], "lore/harbour/")
    assert "ambiguous" not in html(people[who], "lore/harbour/")
    assert "wikilink ambiguous" in html(people["gm"], "lore/harbour/")
    assert "South Ferry" in html(people["gm"], "links/choose/?name=Ferry")
    assert "South Ferry" not in html(people[who], "links/choose/?name=Ferry")


def test_cards_tell_each_viewer_what_they_may_know(
    world: World, people: dict[str, Client], mira: NPC, ninth_oarsman: NPC
) -> None:
    text = ":::secret\nIt is hollow.\n:::\n\n# The Bell\n\nIt rings at dusk. It is old."
    entry(world, "Toll Bell", text)
    entry(world, "Vault", "Gold.", visibility="gm")
    for who in ("gm", "player", "viewing"):
        card = html(people[who], "card/lore/toll-bell/")
        assert "It rings at dusk." in card
        assert "hollow" not in card
        assert "Mira Voss" in html(people[who], "card/npc/mira-voss/")
    for path in ("card/lore/vault/", "card/npc/ninth-oarsman/"):
        assert people["gm"].get(f"/w/ferrymark/{path}").status_code == 200
        for who in ("player", "viewing", "stranger"):
            assert people[who].get(f"/w/ferrymark/{path}").status_code == 404
    for path in ("card/lore/none/", "card/ship/none/", "card/lore/%00/", "links/choose/?name=%00"):
        assert people["gm"].get(f"/w/ferrymark/{path}").status_code == 404
    assert Client().get("/w/ferrymark/card/lore/toll-bell/").status_code == 302


def test_backlinks_on_the_page_show_only_what_the_viewer_may_know(
    world: World, people: dict[str, Client], mira: NPC
) -> None:
    entry(world, "Toll Bell")
    entry(world, "Open House", "The [[Toll Bell]] and [[Mira Voss]].")
    entry(world, "Sealed House", "A door.\n\n:::secret\nThe [[Toll Bell]], [[Mira Voss]].\n:::")
    for path in ("lore/toll-bell/", "npcs/mira-voss/?mentions=1"):
        assert "Sealed House" in html(people["gm"], path)
        for who in ("player", "viewing"):
            assert "Open House" in html(people[who], path)
            assert "Sealed House" not in html(people[who], path)


def test_the_page_of_a_person_fetches_what_mentions_it(
    world: World, people: dict[str, Client], mira: NPC
) -> None:
    entry(world, "Sealed House", "A door.\n\n:::secret\n[[Mira Voss]].\n:::")
    part = "/w/ferrymark/npcs/mira-voss/mentions/"
    assert f'hx-get="{part}"' in html(people["gm"], "npcs/mira-voss/")
    assert "Sealed House" in people["gm"].get(part).content.decode()
    for who in ("player", "viewing", "stranger"):
        assert people[who].get(part).status_code == 404


def test_the_page_of_links_is_for_game_masters(world: World, people: dict[str, Client]) -> None:
    entry(world, "Harbour", "To [[Nowhere]].")
    assert "Nowhere" in html(people["gm"], "links/")
    for who in ("player", "viewing", "stranger"):
        assert people[who].get("/w/ferrymark/links/").status_code == 404
    assert Client().get("/w/ferrymark/links/").status_code == 302
    for path in ("links/?tab=unlinked", "links/?tab=orphans", "links/?tab=x&page=99"):
        html(people["gm"], path)


def test_broken_links_and_unlinked_mentions_are_mended_by_a_click(
    world: World, people: dict[str, Client]
) -> None:
    entry(world, "Toll Bell")
    source = entry(world, "Harbour", "The [[Tol Bell]]. Toll Bell or not.")
    gm = people["gm"]
    chosen = {"do": "link-to", "name": "Tol Bell", "kind": "lore", "slug": "toll-bell"}
    assert gm.post("/w/ferrymark/links/", chosen).status_code == 302
    source.refresh_from_db()
    assert source.body == "The [[Toll Bell|Tol Bell]]. Toll Bell or not."
    other = entry(world, "Quay", "Near the Toll Bell.")
    accepted = {"do": "accept", "entry": str(other.pk), "version": "1"}
    gm.post("/w/ferrymark/links/", accepted)
    other.refresh_from_db()
    assert other.body == "Near the [[Toll Bell]]."
    gm.post("/w/ferrymark/links/", {**accepted, "version": "1"})
    assert Lore.objects.get(pk=other.pk).version == 2
    for bad in ({}, {"do": "accept", "entry": "x"}, {**chosen, "slug": "none"}):
        assert gm.post("/w/ferrymark/links/", bad).status_code == 404
    assert people["player"].post("/w/ferrymark/links/", chosen).status_code == 404


def test_a_page_with_two_hundred_links_takes_as_many_queries_as_one_with_two(
    world: World, people: dict[str, Client]
) -> None:
    piers = [
        Lore(world=world, slug=f"e{n}", title=f"Pier {n}", status="published", visibility="public")
        for n in range(200)
    ]
    save_all(piers)
    few = entry(world, "Few", "[[Pier 1]] [[Pier 2]]")
    many = entry(world, "Many", " ".join(f"[[Pier {number}]]" for number in range(200)))
    counts = []
    for lore in (few, many, few, many):
        with CaptureQueriesContext(connection) as queries:
            page = html(people["gm"], f"lore/{lore.slug}/")
        counts.append(len(queries))
    assert page.count("data-card=") >= 200
    assert counts[2] == counts[3]


def test_the_list_of_broken_links_takes_a_constant_number_of_queries(
    world: World, people: dict[str, Client]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            html(people["gm"], "links/")
        return len(captured)

    entry(world, "Harbour", "[[Gone]]")
    queries()
    before = queries()
    for number in range(10):
        entry(world, f"House {number}", f"[[Gone {number}]] [[House {number}]]")
    assert queries() == before


@pytest.mark.parametrize(
    "text",
    [
        '[a](http://x "[[Quay|<img src=x onerror=alert(1)>]]")',
        "[[Quay|<script>alert(1)</script>]]",
        '[[<b>|x]] [["onmouseover=alert(1)|y]]',
        "**[[Quay|*half]]** and* [x [[Quay]]](javascript:alert(1))",
    ],
)
def test_links_bring_no_foreign_html(world: World, text: str) -> None:
    entry(world, "Quay")
    shown = safe_html(text, link_resolver(world, GM))
    for bad in ("<img", "<script", "<b>", ' onmouseover="', 'href="javascript'):
        assert bad not in shown


def test_links_work_in_tables_emphasis_and_headings_and_not_in_code(world: World) -> None:
    entry(world, "Quay")
    table = "| a |\n|---|\n| [[Quay|the quay]] |\n\n**[[Quay]]** `[[Quay]]`\n\n## On [[Quay]]\n"
    shown = safe_html(table + "\n[[Quay#On the quay]]", link_resolver(world, GM))
    assert shown.count('href="/w/ferrymark/lore/quay/"') == 3
    assert ">the quay</a></td>" in shown
    assert "<code>[[Quay]]</code>" in shown
    assert 'id="h-on-quay"' in shown
    assert 'href="/w/ferrymark/lore/quay/#h-on-the-quay"' in shown
