"""What running text leaves out: whose office it is, the subject, and who `the Order` is."""

import pytest

from bench.proposals import relations
from knowledge.extraction.text_reader import TextReader
from knowledge.graph.models import GraphNode

NODES = [
    GraphNode(name="Order of the Reed", kind="Faction"),
    GraphNode(name="Heron Hill", kind="Location"),
    GraphNode(name="Dyers' Guild", kind="Faction"),
    GraphNode(name="Sabine Corrow", kind="Character"),
    GraphNode(name="Hask Ondrel", kind="Character"),
    GraphNode(name="Нижний Яр", kind="Location"),
    GraphNode(name="Улита Босая", kind="Character"),
    GraphNode(name="Три подковы", kind="Location"),
    GraphNode(name="Матвей Кривонос", kind="Character"),
    GraphNode(name="Верхняя Репа", kind="Location"),
    GraphNode(name="종이 길드", kind="Faction"),
    GraphNode(name="붓 조합", kind="Faction"),
    GraphNode(name="까마귀 골목", kind="Location"),
    GraphNode(name="진서하", kind="Character"),
]


def facts(text: str) -> set[tuple[str, str, str]]:
    found = TextReader(NODES, relations()).read(text)
    return {
        (each.node.name, each.label or each.relation, each.other.name)
        for each in found
        if each.kind == "fact" and each.other
    }


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "The Order of the Reed is old. The abbess, Sabine Corrow, never sleeps.",
            ("Sabine Corrow", "leads", "Order of the Reed"),
        ),
        (
            "О деревне Нижний Яр сказать нечего. Староста там Улита Босая.",
            ("Улита Босая", "leads", "Нижний Яр"),
        ),
        (
            "종이 길드는 오래되었다. 초대 길드장 진서하는 그 비밀을 말하지 않았다.",
            ("진서하", "leads", "종이 길드"),
        ),
        (
            "The Order of the Reed is rich. The mother house stands on Heron Hill.",
            ("Order of the Reed", "LOCATED_IN", "Heron Hill"),
        ),
        (
            "종이 길드는 오래되었다. 길드 본당은 까마귀 골목에 있다.",
            ("종이 길드", "LOCATED_IN", "까마귀 골목"),
        ),
    ],
)
def test_an_office_without_a_holder_is_of_what_the_text_is_about(text, fact) -> None:
    assert fact in facts(text)


def test_of_two_groups_an_office_is_of_neither() -> None:
    text = (
        "The Order of the Reed is old. The Dyers' Guild is older. "
        "The abbess, Sabine Corrow, never sleeps."
    )
    assert facts(text) == set()


def test_the_dead_lead_no_more() -> None:
    text = "The Order of the Reed is old. The abbess, Sabine Corrow, has died."
    assert facts(text) == set()


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "The Order of the Reed is old. The Order has been an ally of the Dyers' Guild.",
            {"Order of the Reed", "Dyers' Guild"},
        ),
        (
            "종이 길드는 오래되었다. 붓 조합과는 백 년 넘게 앙숙이다.",
            {"종이 길드", "붓 조합"},
        ),
    ],
)
def test_a_group_is_known_by_its_kind_or_left_out(text, fact) -> None:
    assert fact in [{src, dst} for src, _words, dst in facts(text)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Sabine Corrow was born on a raft in Heron Hill.", "Heron Hill"),
        ("Улита Босая родом из Верхней Репы.", "Верхняя Репа"),
        ("진서하는 까마귀 골목에서 태어났다.", "까마귀 골목"),
    ],
)
def test_where_somebody_was_born_is_a_fact(text, fact) -> None:
    assert {(words, dst) for _src, words, dst in facts(text)} == {("born in", fact)}


def test_russian_pronouns_stand_after_their_verb() -> None:
    text = "Трактир «Три подковы» стоит у дороги. Владеет им Матвей Кривонос."
    assert {"Три подковы", "Матвей Кривонос"} in [{a, b} for a, _words, b in facts(text)]


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("Sabine Corrow, whom the drovers call Mother Ember, is old.", "Mother Ember"),
        ("Матвей Кривонос стар. В округе его зовут просто Дядька.", "Дядька"),
    ],
)
def test_what_somebody_is_called_is_an_alias_and_no_new_name(text, alias) -> None:
    found = TextReader(NODES, relations()).read(text)
    assert [(each.kind, each.alias) for each in found] == [("alias", alias)]


@pytest.mark.parametrize(
    "text", ["겨울이면 마을 사람들이 온다.", "국경 마을에 아이들이 산다.", "자작나무 숲에 서 있다."]
)
def test_a_korean_word_before_village_or_forest_is_not_always_a_name(text) -> None:
    assert TextReader(NODES, relations()).read(text) == []
