"""Search for people: the best kind first, secrets folded, nothing that the reader may not know."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from art.models import ArtCard
from episodes.models import Episode, Session
from knowledge.entry_store import save_entry
from knowledge.models import Document, Lore, LorePassage, Rule, RulePassage
from memory_site.search_evidence import (
    CYRILLIC,
    HANGUL,
    LATIN,
    WEIGHTS,
    EvidenceWeights,
    FoundText,
    has_evidence,
    script_of,
)
from memory_site.site_search import search_site
from retrieval.embedders import get_embedder
from retrieval.indexing import embed_pending
from retrieval.search import clear_vector_shares
from tests.cast import create_npc
from worlds.audiences import GM, Audience
from worlds.models import Membership, Party, World
from worlds.pages import Viewer


def gm_viewer(world: World) -> Viewer:
    return Viewer(world, "anna", True, GM, GM)


def player_viewer(world: World) -> Viewer:
    party = Audience("party", "lanternbearers")
    return Viewer(world, "pat", False, party, party)


def kinds(viewer: Viewer, question: str) -> list[str]:
    return [each.kind for each in search_site(viewer, question).kinds]


def titles(viewer: Viewer, question: str, kind: str) -> list[str]:
    results = search_site(viewer, question)
    return [hit.title for each in results.kinds if each.kind == kind for hit in each.hits]


def sign_in(world: World, name: str, **membership: object) -> Client:
    user = get_user_model().objects.create_user(name)
    Membership.objects.create(user=user, world=world, **membership)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("question", ["Jory Fenn", "Jory", "Джори Фенн", "조리 펜", "jori fenn"])
def test_an_npc_is_found_first_by_any_name_in_any_script(demo: World, question: str) -> None:
    assert kinds(gm_viewer(demo), question)[0] == "npc"
    assert titles(gm_viewer(demo), question, "npc")[0] == "Jory Fenn"


def test_a_party_is_found_by_its_name(demo: World) -> None:
    assert titles(gm_viewer(demo), "Lanternbearers", "party") == ["Lanternbearers"]
    assert kinds(gm_viewer(demo), "Lanternbearers")[0] == "party"


def test_the_facts_between_two_named_people_are_shown(demo: World) -> None:
    results = search_site(gm_viewer(demo), "Mira Voss and the Ferrymen's Guild")
    (relations,) = [each for each in results.kinds if each.kind == "relation"]
    assert any("Mira Voss" in hit.title and "Guild" in hit.title for hit in relations.hits)


def test_hits_far_below_the_best_one_are_cut_off(demo: World) -> None:
    results = search_site(gm_viewer(demo), "Who put new coin into the Span Chest?")
    assert results.kinds
    for kind in results.kinds:
        scores = [hit.score for hit in kind.hits]
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] >= 0.6 * scores[0]


def test_a_secret_is_folded_for_the_game_master_and_absent_for_a_player(demo: World) -> None:
    question = "Who put new coin into the Span Chest?"
    secret = "eleven thousand silver"
    anna = sign_in(demo, "anna", role="gm")
    page = anna.get(f"/w/{demo.slug}/search/", {"q": question}).content.decode()
    folded = page.split('<details class="secret">')[1].split("</details>")[0]
    assert secret in folded
    party = Party.objects.get(world=demo, slug="lanternbearers")
    pat = sign_in(demo, "pat", role="player", party=party)
    page = pat.get(f"/w/{demo.slug}/search/", {"q": question}).content.decode()
    assert secret not in page
    assert "missing?" not in page


def test_a_guessed_name_does_not_find_the_episode_whose_link_hides_it(demo: World) -> None:
    create_npc(demo, slug="vellamira", name="Vellamira Oxbough", visibility="gm")
    party = Party.objects.get(world=demo, slug="lanternbearers")
    episode = Episode.objects.of_party(party).visible_to(player_viewer(demo).audience).first()
    assert episode is not None
    episode.text = "On the pier [[Vellamira Oxbough|somebody in a grey coat]] waved a lantern."
    episode.embedding_model = ""
    episode.save()
    assert "episode" in kinds(gm_viewer(demo), "Vellamira Oxbough")
    assert "episode" not in kinds(player_viewer(demo), "Vellamira Oxbough")
    assert "episode" in kinds(player_viewer(demo), "somebody in a grey coat on the pier")


def write_draft(world: World) -> Lore:
    entry = Lore(world=world, slug="glass-eel", title="Glass Eel", body="An eel of glass sings.")
    save_entry(entry)
    return entry


def test_a_draft_is_found_by_game_masters_alone_and_marked(demo: World) -> None:
    write_draft(demo)
    hits = [
        hit
        for each in search_site(gm_viewer(demo), "Glass Eel").kinds
        for hit in each.hits
        if hit.title == "Glass Eel"
    ]
    assert [hit.draft for hit in hits] == [True]
    assert "Glass Eel" not in titles(player_viewer(demo), "Glass Eel", "thing")


@pytest.mark.parametrize(
    ("entry", "finding"),
    [
        ("Glass Eel", "It is a draft"),
        ("glass-eel", "number 1"),
        ("No Such Place At All", "No entry is called"),
    ],
)
def test_the_page_explains_why_an_entry_is_missing(demo: World, entry: str, finding: str) -> None:
    write_draft(demo)
    anna = sign_in(demo, "anna", role="gm")
    asked = {"q": "an eel that sings", "entry": entry}
    assert finding in anna.get(f"/w/{demo.slug}/search/", asked).content.decode()
    party = Party.objects.get(world=demo, slug="lanternbearers")
    pat = sign_in(demo, "pat", role="player", party=party)
    assert finding not in pat.get(f"/w/{demo.slug}/search/", asked).content.decode()


@pytest.mark.parametrize("question", ["\x00", "a" * 20_000, "🐟", "?", "​", "the of and"])
def test_no_question_is_an_error(demo: World, question: str) -> None:
    anna = sign_in(demo, "anna", role="gm")
    asked = {"q": question, "entry": question}
    assert anna.get(f"/w/{demo.slug}/search/", asked).status_code == 200


def test_drafts_and_published_entries_are_found_by_one_statement(demo: World) -> None:
    for number in range(3):
        title, status = f"Bell of Harrow {number}", ("draft", "published")[number % 2]
        save_entry(Lore(world=demo, slug=f"bell-{number}", title=title, status=status))
    search_site(gm_viewer(demo), "Bell of Harrow")
    with CaptureQueriesContext(connection) as captured:
        results = search_site(gm_viewer(demo), "Bell of Harrow")
    things = next(each for each in results.kinds if each.kind == "thing")
    assert {hit.title: hit.draft for hit in things.hits[:3]} == {
        "Bell of Harrow 0": True,
        "Bell of Harrow 1": False,
        "Bell of Harrow 2": True,
    }
    names = [query for query in captured if 'FROM "knowledge_lore"' in query["sql"]]
    # Whole names, those of which the question holds a part, and those that sound like it in another
    # script; each for drafts as well.
    assert len([each for each in names if "name_keys" in each["sql"]]) == 3


def test_missing_vectors_are_said_to_be_computed_until_a_try_has_failed(demo: World) -> None:
    client = sign_in(demo, "anna", role="gm")
    for model in (LorePassage, RulePassage):
        model.objects.update(embedding=None, embedding_model="", embedded_rev=0)
    page = client.get("/w/ferrymark/search/?q=ferry").content.decode()
    assert "still being read for their meaning (0 % so far)" in page
    assert "Unavailable" not in page
    for model in (LorePassage, RulePassage):
        model.objects.update(embed_tries=1)
    assert "Unavailable: vector" in client.get("/w/ferrymark/search/?q=ferry").content.decode()


def test_rules_of_one_title_are_told_apart_by_their_chapters(demo: World) -> None:
    document = Document.objects.create(slug="vault", title="Vault", world=demo)
    places = [
        ("die-0", "Escalation Die", ["Combat"]),
        ("die-1", "Escalation Die", ["Monsters", "Dragons"]),
        ("die-2", "Escalation Die", ["Combat"]),
        ("turn", "Turn of the Escalation Die", ["Combat"]),
    ]
    for key, title, breadcrumb in places:
        body = f"The escalation die of {key} counts up."
        rule = Rule(document=document, world=demo, key=key, title=title, body=body)
        rule.breadcrumb = breadcrumb
        save_entry(rule)
    rules = search_site(gm_viewer(demo), "escalation die", kinds=["rule"])
    paths = {hit.ref: " › ".join(hit.path) for hit in rules.kinds[0].hits}
    assert paths["die-1"] == "Monsters › Dragons"
    assert paths["die-0"] == "Combat › die-0"
    assert paths["die-2"] == "Combat › die-2"
    assert not paths.get("turn"), "a title of its own needs no path"
    page = sign_in(demo, "anna", role="gm").get("/w/ferrymark/search/", {"q": "escalation die"})
    assert "Monsters › Dragons" in page.content.decode()


@pytest.mark.parametrize("question", ["zxcvb qwerty", "пароль вайфая", "ㅋㅋㅋㅋ"])
def test_what_only_comes_nearest_is_not_shown_as_an_answer(
    demo: World, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scale(monkeypatch, least=100)
    page = sign_in(demo, "anna", role="gm").get("/w/ferrymark/search/", {"q": question})
    text = page.content.decode()
    assert "Nothing found that answers this" in text
    assert text.index("What comes nearest") < text.index('class="hit"')


def test_the_box_of_the_play_page_opens_nothing_that_only_comes_nearest(
    demo: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scale(monkeypatch, least=100)
    client = sign_in(demo, "anna", role="gm")
    lookup = "/w/ferrymark/parties/lanternbearers/play/lookup/"
    text = client.get(lookup, {"q": "zxcvb qwerty"}).content.decode()
    assert "Nothing found that answers this" in text
    assert "<article" not in text
    assert text.index("What comes nearest") < text.index("play/lookup/?kind=")
    assert "<article" in client.get(lookup, {"q": "Mira Voss"}).content.decode()


def test_the_box_of_the_play_page_says_how_far_the_vectors_are(demo: World) -> None:
    for model in (LorePassage, RulePassage):
        model.objects.update(embedding=None, embedding_model="", embedded_rev=0)
    client = sign_in(demo, "anna", role="gm")
    page = client.get("/w/ferrymark/parties/lanternbearers/play/lookup/?q=ferry")
    assert "still being read for their meaning (0 % so far)" in page.content.decode()
    assert "Unavailable" not in page.content.decode()


@pytest.mark.parametrize(
    "question", ["Mira Voss", "tell Mira Voss about wifi", "drowned", "cellar", "Джори Фенн"]
)
def test_what_is_found_literally_is_always_an_answer(
    demo: World, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scale(monkeypatch, least=100)
    assert search_site(gm_viewer(demo), question).is_answered


@pytest.mark.parametrize(
    "question", ["опутанный", "схваченный", "붙잡힘", "Lanterners' oath, what?"]
)
def test_a_translated_name_and_an_alias_are_answers(
    demo: World, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Document.objects.create(slug="conditions", title="Conditions", world=demo)
    for title in ("Grappled", "Restrained"):
        body = "Its speed becomes 0."
        save_entry(Rule(document=document, world=demo, key=title, title=title, body=body))
    save_entry(
        Lore(
            world=demo,
            slug="vow",
            title="The Night Promise",
            body="Sworn by all.",
            aliases=["Lanterners' oath"],
            status="published",
            visibility="public",
        )
    )
    use_scale(monkeypatch, least=100)
    assert search_site(gm_viewer(demo), question).is_answered


def test_a_question_of_common_words_alone_has_no_answer(
    demo: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scale(monkeypatch, least=-100)
    assert not search_site(gm_viewer(demo), "the of and is").is_answered


def test_what_reads_as_an_answer_is_one_in_few_texts(demo: World) -> None:
    """With the weights that are shipped: raw scores are low in a small world."""
    weights = next(iter(WEIGHTS.values()))
    found = [FoundText(0.3, 1.5, "Chainmail. Armour of rings; it costs 20 gold.", is_first=True)]
    asked = "how much does chainmail cost"
    with_weights = {get_embedder("lore").name: weights}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memory_site.search_evidence.WEIGHTS", with_weights)
        assert has_evidence(asked, found, 100)
        assert not has_evidence("wifi password", found, 3_000)


def test_other_models_and_missing_vectors_are_not_judged(
    demo: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert search_site(gm_viewer(demo), "zxcvb qwerty").is_answered
    use_scale(monkeypatch, least=100)
    assert not search_site(gm_viewer(demo), "zxcvb qwerty").is_answered
    LorePassage.objects.update(embedding=None, embedding_model="", embedded_rev=0)
    clear_vector_shares()
    assert search_site(gm_viewer(demo), "zxcvb qwerty").is_answered


@pytest.mark.parametrize(
    ("question", "script"),
    [
        ("what does Мира do", CYRILLIC),
        ("fireball 주문", HANGUL),
        ("ㅋㅋㅋㅋ", LATIN),
        ("AC", LATIN),
    ],
)
def test_the_script_of_a_question(question: str, script: str) -> None:
    assert script_of(question) == script


def use_scale(monkeypatch: pytest.MonkeyPatch, *, least: float) -> None:
    """Embed everything, and judge what the embedder of the tests finds, in every script."""
    for model in (LorePassage, RulePassage, Episode, ArtCard):
        embed_pending(model)
    clear_vector_shares()
    same = dict.fromkeys((LATIN, CYRILLIC, HANGUL), 0.0)
    weights = EvidenceWeights(same, same, words=0.1, reading=0.1, size=0.0, least=least)
    monkeypatch.setitem(WEIGHTS, get_embedder("lore").name, weights)


@pytest.mark.parametrize(
    "question", ["What happened last session?", "Что было на прошлой сессии?", "지난번에 뭐 했지?"]
)
def test_last_session_finds_that_session_and_its_episodes(demo: World, question: str) -> None:
    results = search_site(player_viewer(demo), question)
    sessions = Session.objects.filter(world=demo).visible_to(player_viewer(demo).audience)
    latest = sessions.filter(episodes__party__slug="lanternbearers").latest_first()[0]
    assert [kind.kind for kind in results.kinds[:2]] == ["session", "episode"]
    page = reverse("session", args=[demo.slug, latest.external_id])
    assert [hit.url for hit in results.kinds[0].hits] == [page]
    names = latest.episodes.values_list("external_id", flat=True)
    pages = {reverse("episode", args=[demo.slug, name]) for name in names}
    found = {hit.url for hit in results.kinds[1].hits}
    assert found
    assert found <= pages
