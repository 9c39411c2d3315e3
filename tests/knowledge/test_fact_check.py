"""`lore_assert` on the demo world: true, false or unknown, in three languages, and never a
guess.
"""

import json
import time

import pytest
from django.core.cache import cache
from django.db import transaction

from bench.fact_check import TWO_WORLDS, answer_statements, read_statements
from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore, LorePassage
from knowledge.upsert import upsert_lore
from memory_site.demo.load import load_graph, load_lore
from memory_site.demo.world_files import read_world
from tests.cast import create_campaign, create_world
from tests.loopback.answers import answer_json, hang, status
from tests.saved_rows import SavedRows
from worlds.audiences import PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import World
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture(scope="module")
def ferrymark_rows(django_db_setup, django_db_blocker):
    """The relations of the demo world, which take a second to load."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_graph(read_world(), create_world())
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture(scope="module")
def ferrymark_rows_with_texts(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        demo, world = read_world(), create_world()
        load_lore(demo, world)
        load_graph(demo, world)
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture
def ferrymark(ferrymark_rows, db):
    ferrymark_rows.write()
    return World.objects.get()


def check(world, fact, audience=None, **more):
    caller = Caller(world=world, audience=audience) if audience else Caller.gm(world)
    return lore_assert(Assertion(fact=fact, **more), caller)


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("The Lantern Stair has 309 steps.", "true"),  # the lore is Korean
        ("The Lantern Stair has 200 steps.", "false"),
        ("The Tin Heron has six rooms.", "true"),  # the lore is Russian
        ("В «Жестяной цапле» десять комнат.", "false"),
        ("The Tin Heron has six cellars.", "unknown"),
        ("Isaura Brackwen took over the house in the year 187.", "unknown"),
    ],
)
def test_prose_is_compared_by_what_its_words_say_in_any_language(
    ferrymark_rows_with_texts, db, statement, result
):
    ferrymark_rows_with_texts.write()
    assert check(World.objects.get(), statement).result == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Of all people it is Emmerich Sool who keeps Brackwen Terrace safe", "unknown"),
        ("For many years now the home of Isaura Brackwen has been up on Brackwen Terrace", "true"),
        ("Jory is said to be a friend of the Gilded Oath", "unknown"),
        ("The Gilded Oath count Jory Fenn among their friends.", "false"),
        ("The Lanternbearers and Jory have long been on the best of terms", "true"),
        ("Orrin Tace left the Bridgewrights' League", "false"),
        ("Хаск Ондрел никогда не был старшиной гильдии.", "false"),
        ("Джори Фенн в мире и согласии с Золочёной клятвой", "false"),
        ("Edda Crane led the Ferrymen's Guild before Hask Ondrel.", "true"),
        ("Hask Ondrel succeeded Mira Voss.", "false"),
        # That somebody else leads it excludes no member.
        ("Han Solbi joined the Lamp Office.", "unknown"),
        # Where somebody lives does not tell where they lived.
        ("Yeva Rill lived in Haewol.", "unknown"),
        ("Ева Рилл жила в Хэволе.", "unknown"),
        ("Мира Восс сменила Хаска Ондрела.", "true"),
        ("Hask Ondrel is still guildmaster.", "false"),
        ("Jory Fenn wants to succeed Mira Voss.", "unknown"),
        (
            "Orrin Tace makes his home among the rafts and stilt houses of the Reedmaze.",
            "false",
        ),
        ("Yeva Rill makes her home among the palaces of the Reedmaze.", "unknown"),
        ("매덕 테이스가 지금도 사공 길드를 사들이려고 한다", "unknown"),
    ],
)
def test_a_relation_is_read_by_its_words_where_the_kinds_of_the_names_decide_the_rest(
    ferrymark, statement, result
):
    assert check(ferrymark, statement).result == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Mira is allied with the Ferrymen's Guild", "true"),
        ("Is Mira Voss allied with the Ferrymens Guild?", "true"),
        ("Mira Vos is an ally of the Ferymen's Guild.", "true"),
        ("Мира враждует с Гильдией", "false"),
        ("Гильдией паромщиков руководит Мира Восс", "true"),
        ("미라는 뱃사공 길드의 적이다", "false"),
        ("미라 보스가 뱃사공길드를 이끈다", "true"),
        ("Mira Voss is in Ferrymark", "true"),
        ("Mira Voss is not in Ferrymark", "false"),
        ("Hask Ondrel was the guildmaster of the Ferrymen's Guild", "true"),
        ("Mira Voss likes the Lamp Office", "unknown"),
        ("Mira Voss is allied with the Salt Wardens", "unknown"),
        ("Mira's brother leads the Ferrymen's Guild", "false"),
        ("Mira Voss", "unknown"),
    ],
)
def test_a_plain_statement_is_judged(ferrymark, statement, result):
    assert check(ferrymark, statement).result == result


def test_a_triple_with_words_that_are_no_relation_is_not_understood(ferrymark):
    triple = {"subject": "Mira Voss", "relation": "blorps at", "object": "Ferrymen's Guild"}
    answer = check(ferrymark, triple)
    assert (answer.result, answer.understood) == ("unknown", False)


def test_a_triple_is_judged(ferrymark):
    triple = {"subject": "Matvei Kotelnik", "relation": "OWNS", "object": "Tin Heron"}
    assert check(ferrymark, triple).result == "true"
    assert check(ferrymark, {**triple, "subject": "Mira Voss"}).result == "false"
    answer = check(ferrymark, {**triple, "object": "Hall of Oars"})
    assert (answer.result, answer.understood) == ("unknown", True)
    assert (
        check(
            ferrymark, {"subject": "Mira", "relation": "sister of", "object": "Corin Voss"}
        ).result
        == "true"
    )


def test_an_answer_says_which_fact_and_whose(ferrymark):
    (source,) = check(ferrymark, "Orrin Tace lives on the Stumps").sources
    assert (source.statement, source.source, source.ref) == (
        "Orrin Tace – is in – The Stumps",
        "lore",
        "orrin-tace",
    )


@pytest.mark.parametrize(
    ("statement", "result", "reason"),
    [
        ("Mira Voss is not the sister of Corin Voss", "false", "rules it out"),
        ("Mira Voss does not own the Ninefold Oar", "true", "confirms it"),
    ],
)
def test_the_reason_is_about_the_statement_that_was_denied(ferrymark, statement, result, reason):
    said = check(ferrymark, statement)
    assert (said.result, bool(said.sources)) == (result, True)
    assert reason in said.reason


def test_a_date_in_a_world_without_a_calendar_says_what_to_do(world, write):
    write("The Quench", "The sea came in.", kind="event")
    said = check(world, "The Quench happened in 205")
    assert said.result == "unknown"
    assert "Calendar" in said.reason


def test_the_day_decides(ferrymark):
    statement = "Hask Ondrel leads the Ferrymen's Guild"
    assert check(ferrymark, statement, at=76000).result == "true"
    assert check(ferrymark, statement, at=76565).result == "false"


def test_the_planted_contradiction_is_found_and_keeps_the_answer_open(ferrymark):
    (found,) = [c for c in open_contradictions(ferrymark) if c.first.src.slug == "ninefold-oar"]
    assert {found.first.dst.slug, found.second.dst.slug} == {"ferrymens-guild", "house-brackwen"}
    answer = check(ferrymark, "The Ninefold Oar belongs to the Ferrymen's Guild")
    assert (answer.result, answer.contested) == ("unknown", True)
    assert answer.sources
    assert answer.opposing


def test_a_contradiction_with_a_hidden_fact_is_not_reported(ferrymark):
    answer = check(ferrymark, "The Ninefold Oar belongs to the Ferrymen's Guild", audience=PUBLIC)
    assert (answer.result, answer.contested, answer.opposing) == ("true", False, [])


def test_a_hidden_fact_is_unknown_to_others(ferrymark):
    statement = "Jory Fenn is part of Quiet Water"
    assert check(ferrymark, statement).result == "true"
    assert (
        check(ferrymark, statement, audience=Audience.parse("party:lanternbearers")).result
        == "unknown"
    )


def test_an_unsure_fact_gives_no_verdict(ferrymark):
    GraphEdge.objects.filter(src__slug="orrin-tace", relation="LOCATED_IN").update(confidence=0.3)
    assert check(ferrymark, "Orrin Tace lives on the Stumps").result == "unknown"


def test_a_recorded_death(ferrymark):
    GraphNode.objects.filter(slug="corin-voss").update(until=73388)
    assert check(ferrymark, "Corin Voss is dead").result == "true"
    assert check(ferrymark, "Корин Восс жив").result == "false"
    assert check(ferrymark, "Mira Voss is dead").result == "unknown"


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Corin Voss is the brother of Mira Voss", "true"),
        ("Mira Voss is the brother of Corin Voss", "false"),
        ("Mira Voss is the mother of Corin Voss", "false"),
        ("Оррин Тейс — сын Маддока Тейса", "true"),
        ("미라는 조스 보스의 딸이다", "true"),
        ("Mira Voss is the daughter of Maddoc Tace", "false"),
    ],
)
def test_kinship_is_read_from_both_sides(ferrymark, statement, result):
    assert check(ferrymark, statement).result == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Hask Ondrel used to lead the Ferrymen's Guild", "true"),
        ("Mira Voss used to lead the Ferrymen's Guild", "unknown"),
        ("Hask Ondrel never led the Ferrymen's Guild", "false"),
        ("Эдда Крейн больше не возглавляет Гильдию паромщиков", "true"),
        ("조리 펜은 더 이상 갈대 미로에 살지 않는다", "true"),
        ("Jory Fenn still lives in Reedmaze", "false"),
    ],
)
def test_the_tense_decides(ferrymark, statement, result):
    assert check(ferrymark, statement).result == result


def test_a_title_before_a_name_is_no_part_of_the_relation(ferrymark):
    statement = "The innkeeper Matvei Kotelnik runs the Tin Heron"
    assert check(ferrymark, statement).result == "true"


def test_what_was_not_understood_is_told_apart_from_what_no_fact_says(ferrymark):
    unknown = check(ferrymark, "Mira Voss is married to Hask Ondrel")
    assert (unknown.result, unknown.understood) == ("unknown", True)
    unread = check(ferrymark, "Mira Voss hums when the fog comes in")
    assert (unread.result, unread.understood) == ("unknown", False)


def test_the_overlay_of_another_campaign_is_not_quoted(world, campaign, write):
    other = create_campaign(world, name="High Water", slug="high-water")
    write("Ada", "Ada has married Ben.", slug="ada-later", visibility="public", campaign=other)
    nodes = [
        {"slug": name, "kind": "Character", "name": name.title(), "visibility": "public"}
        for name in ("ada", "ben")
    ]
    edge = {"src": "ada", "relation": "RELATES_TO", "dst": "ben", "label": "married to"}
    edge |= {"visibility": "public", "source_kind": "lore", "source_ref": "ada-later"}
    facts = [*({"node": node} for node in nodes), {"edge": edge}]
    upsert_facts(world, [GraphFact.model_validate(fact) for fact in facts])

    def quoted_in(campaign):
        caller = Caller(world, PUBLIC, campaign=campaign)
        answer = lore_assert(Assertion(fact="Ada is married to Ben"), caller)
        assert answer.result == "true"
        return [source.text for source in answer.sources if source.text]

    assert quoted_in(other) == ["Ada has married Ben."]
    assert quoted_in(campaign) == []


@pytest.mark.parametrize(
    "statement", ["Ada and Ben were married in the year 210", "Ада и Бен были женаты в 210 году"]
)
def test_a_fact_without_days_does_not_say_since_when(ferrymark, dated_ferrymark, statement):
    nodes = [
        {"slug": "ada", "kind": "Character", "name": "Ada", "aliases": ["Ада"]},
        {"slug": "ben", "kind": "Character", "name": "Ben", "aliases": ["Бен"]},
    ]
    edge = {"src": "ada", "relation": "RELATES_TO", "dst": "ben", "label": "married to"}
    facts = [*({"node": node} for node in nodes), {"edge": edge}]
    upsert_facts(ferrymark, [GraphFact.model_validate(fact) for fact in facts])
    assert check(ferrymark, "Ada is married to Ben").result == "true"
    answer = check(ferrymark, statement)
    assert (answer.result, answer.understood) == ("unknown", True)


@pytest.fixture
def dated_ferrymark(ferrymark):
    save_calendar(ferrymark, read_world().setting.calendar.definition("en"), by="test")
    return ferrymark


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Mira Voss has led the Ferrymen's Guild since 212", "true"),
        ("Mira Voss has led the Ferrymen's Guild since 205", "false"),
        ("Hask Ondrel led the Ferrymen's Guild in 205", "true"),
        ("Мира Восс возглавляла Гильдию паромщиков в 205 году", "false"),
        ("셋째 다리의 붕괴는 187년에 일어났다", "true"),
        ("Ночь девяти паромов случилась в 210 году", "false"),
    ],
)
def test_a_date_is_part_of_the_statement(dated_ferrymark, statement, result):
    assert check(dated_ferrymark, statement).result == result


def test_a_label_in_the_words_of_a_game_master_is_understood(world):
    people = {"ada": "Ада", "ben": "Бен"}
    nodes = [
        {"slug": slug, "kind": "Character", "name": slug.title(), "aliases": [name]}
        for slug, name in people.items()
    ]
    edge = {"src": "ada", "relation": "RELATES_TO", "dst": "ben", "label": "сестра"}
    facts = [*({"node": node} for node in nodes), {"edge": edge}]
    upsert_facts(world, [GraphFact.model_validate(fact) for fact in facts])
    assert check(world, "Ben is the brother of Ada").result == "true"
    assert check(world, "Ada is the mother of Ben").result == "false"


KIN = [
    ("martha", "Марфа Зимина", "sister of", "egor", "Егор Зимин"),
    ("tomas", "Tomas Brenn", "husband of", "halda", "Halda Brenn"),
    ("tomas", "Tomas Brenn", "spouse of", "halda", "Halda Brenn"),
    ("rose", "Rose Arl", "brother of", "will", "Will Arl"),
    ("wim", "Wim Dorr", "mother of", "ros", "Ros Dorr"),
]


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Марфа — сестра Егора Зимина", "true"),
        ("Егор — сестра Марфы Зиминой", "unknown"),
        ("Егор — брат Марфы Зиминой", "true"),
        ("Tomas Brenn is Halda Brenn's husband", "true"),
        ("Halda Brenn is Tomas Brenn's husband", "false"),
        ("Halda Brenn is Tomas Brenn's wife", "true"),
        ("Halda Brenn is married to Tomas Brenn", "true"),
        ("Will Arl is the brother of Rose Arl", "true"),
        ("Rose Arl is the sister of Will Arl", "false"),
        ("Will Arl and Rose Arl are siblings", "true"),
        ("Ros Dorr is the daughter of Wim Dorr", "true"),
        ("Ros Dorr is the child of Wim Dorr", "true"),
    ],
)
def test_the_sex_of_one_is_not_taken_from_the_other(world, statement, result):
    people = {slug: name for a, an, _label, b, bn in KIN for slug, name in ((a, an), (b, bn))}
    nodes = [{"slug": s, "kind": "Character", "name": name} for s, name in people.items()]
    edges = [
        {"src": a, "relation": "RELATES_TO", "dst": b, "label": label}
        for a, _an, label, b, _bn in KIN
    ]
    facts = [*({"node": node} for node in nodes), *({"edge": edge} for edge in edges)]
    upsert_facts(world, [GraphFact.model_validate(fact) for fact in facts])
    assert check(world, statement).result == result


@pytest.mark.parametrize("half", ["tuning", "development"])
def test_the_statements_that_may_be_looked_at_keep_their_bars(db, half):
    answers = [
        (row["label"], answer) for row, answer, *_rest in answer_statements(read_statements(half))
    ]
    for label in ("true", "false"):
        truths = [truth for truth, answer in answers if answer == label]
        assert truths.count(label) >= 0.95 * len(truths) > 0
        wanted = [answer for truth, answer in answers if truth == label]
        assert wanted.count(label) >= 0.85 * len(wanted)
    unknowable = [answer for truth, answer in answers if truth == "unknown"]
    assert unknowable.count("unknown") >= 0.9 * len(unknowable)


ODD = "When it counts, Mira Voss will always take the part of the Ferrymen's Guild"


def test_a_language_model_parses_what_the_patterns_cannot(ferrymark, scripted_llm):
    read = {
        "kind": "allied",
        "subject": "Mira Voss",
        "object": "Ferrymen's Guild",
        "negated": False,
        "past": False,
    }
    scripted_llm.chat.then(answer_json(read))
    assert check(ferrymark, ODD).result == "true"


def test_a_model_claim_with_names_not_in_the_statement_is_ignored(ferrymark, scripted_llm):
    read = {
        "kind": "enemy",
        "subject": "Isaura Brackwen",
        "object": "Ferrymen's Guild",
        "negated": False,
        "past": False,
    }
    scripted_llm.chat.then(answer_json(read))
    assert check(ferrymark, ODD).result == "unknown"


def test_a_stalled_model_holds_the_tool_for_two_seconds_once(ferrymark, scripted_llm, settings):
    settings.LLM_TIMEOUT = 60.0
    scripted_llm.chat.always(hang(20))
    begun = time.monotonic()
    answer = check(ferrymark, ODD)
    assert time.monotonic() - begun < 10
    assert (answer.result, answer.understood, answer.degraded) == ("unknown", False, ["llm"])
    assert check(ferrymark, ODD).degraded == ["llm"]
    assert len(scripted_llm.chat.requests) == 1


def test_a_model_is_asked_once_for_the_same_statement(ferrymark, scripted_llm):
    read = {"kind": "allied", "subject": "Mira Voss", "object": "Ferrymen's Guild"}
    scripted_llm.chat.then(answer_json({**read, "negated": False, "past": False}))
    assert [check(ferrymark, ODD).result for _time in range(2)] == ["true", "true"]
    assert len(scripted_llm.chat.requests) == 1


def test_a_model_that_is_down_is_named(ferrymark, scripted_llm):
    scripted_llm.chat.always(status(503, retry_after=0.01))
    answer = check(ferrymark, ODD)
    assert (answer.result, answer.degraded) == ("unknown", ["llm"])


# --- Prose as evidence


@pytest.fixture(scope="module")
def written_rows(ferrymark_rows, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        ferrymark_rows.write()
        for slug, entry in read_world().lore.items():
            lore, _outcome = upsert_lore(World.objects.get(), entry)
            GraphNode.objects.filter(world=lore.world, slug=slug).update(lore=lore)
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture
def written_ferrymark(written_rows, db):
    written_rows.write()
    return World.objects.get()


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("The Guild has two hundred and eleven boats.", "true"),
        ("The Guild has four hundred boats.", "false"),
        ("Oda Ferrier died in the year 33.", "true"),
        ("Oda Ferrier died in the year 50.", "false"),
        ("В «Жестяной цапле» наверху шесть комнат.", "true"),
        ("등불 계단은 이백 단이다.", "false"),
        ("Orrin Tace has nine goats of his own.", "unknown"),
        ("Mira Voss lost two hundred boats.", "unknown"),
    ],
)
def test_a_sentence_of_the_lore_decides_what_no_fact_says(written_ferrymark, statement, result):
    assert check(written_ferrymark, statement).result == result


def test_the_deciding_sentence_is_quoted(written_ferrymark):
    (source,) = check(written_ferrymark, "Oda Ferrier died in the year 33.").sources
    assert source.statement == "Oda died in the year 33, in bed, and was furious about it."
    assert (source.source, source.title) == ("lore", "Oda Ferrier")
    assert source.statement in Lore.objects.get(slug="oda-ferrier").body


def test_a_secret_sentence_decides_for_nobody_who_may_not_read_it(written_ferrymark):
    statement = "The Guild borrowed nine thousand silver from House Brackwen."
    knowing = check(written_ferrymark, statement, audience=Audience.parse("party:gilded-oath"))
    other = check(written_ferrymark, statement, audience=Audience.parse("party:lanternbearers"))
    nobody = check(written_ferrymark, statement, audience=PUBLIC)
    assert knowing.result == "true"
    assert (other.result, other.sources, other.understood) == ("unknown", [], False)
    assert nobody == other
    wrong = statement.replace("nine", "two")
    assert check(written_ferrymark, wrong, audience=PUBLIC).result == "unknown"


def test_an_answer_for_a_party_is_the_same_without_the_hidden_lore(written_ferrymark):
    public = Caller(world=written_ferrymark, audience=PUBLIC)
    rows = [json.loads(line) for line in TWO_WORLDS.read_text(encoding="utf-8").splitlines()]
    texts = [r["text"] for r in rows if r["world"] == "ferrymark" and r["half"] == "development"]
    before = [lore_assert(Assertion(fact=text), public) for text in texts]
    LorePassage.objects.exclude(visibility="public").delete()
    assert [lore_assert(Assertion(fact=text), public) for text in texts] == before
