"""Small things on the pages: excerpts in plain words, dates, portraits, folded filters, where to
begin."""

import pytest
from django.test import Client

from art.pictures import place_picture, store_picture
from episodes.models import Episode, Session
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from npcs.models import NPC
from tests.art.image_samples import image_bytes
from tests.people import member
from worlds.markdown import plain_text, safe_html
from worlds.models import Campaign, Party, World

pytestmark = pytest.mark.django_db
HOME = "/w/ferrymark"
PUBLIC = {"status": "published", "visibility": "public"}


@pytest.fixture
def master(world: World) -> Client:
    return member(world, "anna", role="gm")


@pytest.fixture
def player(world: World, lanternbearers: Party) -> Client:
    return member(world, "pat", role="player", party=lanternbearers)


def page(client: Client, address: str) -> str:
    answer = client.get(f"{HOME}/{address}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("# The **old** *toll* ~~house~~ of snake_case", "The old toll house of snake_case"),
        ("- one\n- two", "one\ntwo"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a · b\n\n1 · 2"),
        ("See [the map](https://x.example/a) and [[Mira Voss|her]].", "See the map and her."),
        ("2*3*4 and -5", "2*3*4 and -5"),
    ],
)
def test_an_excerpt_is_plain_words(markdown: str, words: str) -> None:
    assert plain_text(markdown) == words


def test_a_table_scrolls_by_itself_and_by_keyboard() -> None:
    html = safe_html("| a |\n|---|\n| 1 |")
    assert '<div class="scroll" role="region" tabindex="0" aria-label="Table">' in html
    assert html.count("</div>") == 1


@pytest.mark.parametrize(
    ("text", "html", "words"),
    [
        (
            "> [!rumour]- At *the* inn\n> It rings.",
            "<strong>At <em>the</em> inn</strong>",
            "At the inn",
        ),
        ("> [!tip|wide]\n> It rings.", "<strong>Tip</strong>", "It rings."),
        ("> [!note]\n>\n> It rings.", "<strong>Note</strong>", "It rings."),
        ("> It [!rings] twice.", "It [!rings] twice.", "It [!rings] twice."),
        ("[!note] It rings.", "[!note] It rings.", "[!note] It rings."),
    ],
)
def test_a_callout_shows_its_title_and_not_its_mark(text: str, html: str, words: str) -> None:
    assert html in safe_html(text)
    assert words in plain_text(text)
    assert ("[!" in safe_html(text)) == ("[!" in html)
    assert ("[!" in plain_text(text)) == ("[!" in words)


def test_who_knows_what_is_shown_in_plain_words(master: Client, world: World) -> None:
    body = "Wet.\n\n:::secret\nThe **cellar** of [[Mira Voss]] is mined.\n:::\n"
    save_entry(Lore(world=world, slug="quay", title="Quay", body=body, **PUBLIC))
    text = page(master, "lore/quay/")
    assert text.count("The cellar of Mira Voss is mined.") == 2  # who knows it, how it is found


def test_a_list_says_when_in_words_and_exactly(master: Client, world: World) -> None:
    save_entry(Lore(world=world, slug="quay", title="Quay", body="Wet.", **PUBLIC))
    text = page(master, "recent/")
    assert '<time datetime="20' in text
    assert "now</time>" in text or "ago</time>" in text


def test_the_hover_card_has_the_portrait_for_those_who_may_see_it(
    master: Client, player: Client, world: World, mira: NPC
) -> None:
    picture = store_picture(world, image_bytes(), name="mira.png")
    use = place_picture(picture, mira)
    for client in (master, player):
        assert f"pictures/{picture.pk}/thumbnail/" in page(client, "card/npc/mira-voss/")
    use.is_hidden = True
    use.save()
    assert f"pictures/{picture.pk}/thumbnail/" in page(master, "card/npc/mira-voss/")
    assert "<img" not in page(player, "card/npc/mira-voss/")


def test_a_session_shows_links_as_far_as_the_viewer_may_follow_them(
    master: Client, player: Client, world: World, campaign: Campaign, lanternbearers: Party
) -> None:
    for slug, visibility in (("quay", "public"), ("vault", "gm")):
        fields = {"status": "published", "visibility": visibility}
        save_entry(Lore(world=world, slug=slug, title=slug.title(), body="Wet.", **fields))
    place = {"world": world, "campaign": campaign, "party": lanternbearers}
    session = Session.objects.create(**place, external_id="s-1", visibility="public")
    Episode.objects.create(
        **place,
        session=session,
        external_id="e-1",
        what="They met on the [[Quay]], far from the [[Vault]].",
        text="They met on the [[Quay]], far from the [[Vault]].",
        visibility="public",
    )
    for client, sees_vault in ((master, True), (player, False)):
        text = page(client, "sessions/s-1/")
        assert f'href="{HOME}/lore/quay/"' in text
        assert (f'href="{HOME}/lore/vault/"' in text) == sees_vault
        assert "[[" not in text


def test_filters_that_are_rarely_used_are_folded_until_one_is_set(
    master: Client, world: World
) -> None:
    save_entry(Lore(world=world, slug="quay", title="Quay", body="Wet.", **PUBLIC))
    assert '<details class="more">' in page(master, "lore/?kind=place&status=draft&text=x")
    for query in ("visibility=gm", "folder=North", "language=en", "campaign=*", "author=anna"):
        assert '<details class="more" open>' in page(master, f"lore/?{query}")


def test_an_empty_world_says_where_to_begin(master: Client, player: Client, world: World) -> None:
    text = page(master, "")
    for address in ("lore/new/", "import/", "people/", "keys/"):
        assert f'<li><a href="{HOME}/{address}"><b>' in text
    assert "Begin here" not in page(player, "")
    save_entry(Lore(world=world, slug="quay", title="Quay", body="Wet."))
    assert "Begin here" not in page(master, "")


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"home": "Saltmere"}, "Saltmere"),
        ({"faction": "Oath", "home": "Saltmere"}, "Oath · Saltmere"),
        ({"role": "Clerk", "home": "Saltmere"}, "Clerk · Saltmere"),
        ({"role": "Clerk", "faction": "Oath", "home": "Saltmere"}, "Clerk · Oath · Saltmere"),
    ],
)
def test_the_line_below_a_name_begins_with_no_separator(
    mira: NPC, master: Client, player: Client, fields: dict[str, str], line: str
) -> None:
    NPC.objects.filter(pk=mira.pk).update(**fields)
    for client in (master, player):
        assert f"<p>{line}</p>" in page(client, "npcs/mira-voss/")
