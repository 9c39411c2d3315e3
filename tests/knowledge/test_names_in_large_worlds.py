"""In a world of thousands of names each is found, wherever it stands in the alphabet."""

from itertools import product

import pytest

from knowledge.entry_store import save_entry
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.mentions.names import read_names
from knowledge.models import Lore
from knowledge.name_matching import name_index
from npcs.lookup import find_npc, find_npcs
from npcs.models import NPC
from retrieval.errors import NotFound
from retrieval.text import name_keys
from worlds.models import World

pytestmark = pytest.mark.django_db

# Adjectives that share beginnings, so that each question shares keys with hundreds of names.
PARTS = {
    "en": (
        "Amber Ambling Black Blackened Blacker Bladed Bled Blood Bloody Storm Stormy Stone Stoned"
        " Stolen Store Stern Stark Star Starry Stray Strong Strange Wild Wilder Winter Wintry",
        "Bridge Briar Brook Broom Broth Hall Haven Hollow Mill Mile Mire Moor Moon Stair Stall"
        " Station Tower Town Tor Torch Vale Vault Veil Well Weald Wharf Wheel Wood Yard Yarrow",
    ),
    "ru": (
        "Чёрный Чертов Чёткий Чистый Белый Беглый Беспечный Старый Стальной Степной Стылый Строгий"
        " Северный Седой Серый Сельский Южный Юный Ясный Янтарный Яростный Тёмный Тёплый Тихий",
        "Мост Мостик Молот Мороз Колодец Колокол Корень Берег Беркут Стол Столб Ствол Утёс Угол"
        " Хутор Холм Храм Хребет Яр Якорь Ясень Ящер Удел Улус Туман Турнир",
    ),
    "ko": (
        "검은 검붉은 깊은 깊숙한 낡은 남쪽 넓은 높은 늙은 붉은 북쪽 불타는 서쪽 서늘한"
        " 숨은 잊힌 작은 젖은 차가운 큰 푸른 하얀 흐린 희미한",
        "다리 다락 단지 도시 도랑 마을 마당 망루 문 바다 바위 벌판 사원 산장 샘 성 숲 여관"
        " 우물 저택 정원 제단 탑 항구 호수 황야",
    ),
}
QUESTIONS = {
    "en": "What happened at the {}?",
    "ru": "Что случилось там, где {}?",
    "ko": "{}에서 무슨 일이 있었어?",
}


def names_of(language: str) -> list[str]:
    first, second = (part.split() for part in PARTS[language])
    return sorted(f"{one} {other}" for one, other in product(first, second))


@pytest.fixture
def large_world(world: World) -> World:
    entries = [
        Lore(world=world, slug=f"{language}-{n}", title=name, name_keys=name_keys(name))
        for language in PARTS
        for n, name in enumerate(names_of(language))
    ]
    Lore.objects.bulk_create(entries)
    return world


@pytest.mark.parametrize("language", PARTS)
def test_each_title_is_found_in_a_question(large_world: World, language: str) -> None:
    names = names_of(language)
    rows = Lore.objects.in_world(large_world)
    for name in names[:: len(names) // 40]:
        mentions = name_index(rows, QUESTIONS[language].format(name)).mentions(
            QUESTIONS[language].format(name)
        )
        assert name in {match.name for each in mentions for match in each.matches}


def test_a_question_that_names_one_entry_reads_few_names(large_world: World) -> None:
    rows = Lore.objects.in_world(large_world)
    assert len(name_index(rows, "Wintry Yarrow").entries) == 1


def test_an_inflected_and_a_misspelt_name_are_found(large_world: World) -> None:
    rows = Lore.objects.in_world(large_world)
    for text, name in (
        ("Кто живёт у Ясного Ясеня?", "Ясный Ясень"),
        ("янтарным колодцем", "Янтарный Колодец"),
        ("the Wintery Yarrow", "Wintry Yarrow"),
        ("StormyWharf", "Stormy Wharf"),
        ("흐린 호수는", "흐린 호수"),
    ):
        assert name in {match.name for match in name_index(rows, text).find(text)} | {
            match.name for each in name_index(rows, text).mentions(text) for match in each.matches
        }


def test_links_mean_the_last_names_of_the_alphabet(large_world: World) -> None:
    table = read_names(large_world, ["Ясного Якоря", "Wintry Yarrow"])
    for name in ("Ясного Якоря", "Wintry Yarrow"):
        assert len(table.meaning(("", name)).groups) == 1
    assert len(table.things) == 2


def test_people_and_entities_are_found_among_thousands(world: World) -> None:
    names = names_of("en")
    NPC.objects.bulk_create(
        NPC(world=world, slug=f"npc-{n}", name=name, name_keys=name_keys(name))
        for n, name in enumerate(names)
    )
    GraphNode.objects.bulk_create(
        GraphNode(world=world, kind=NodeKind.CHARACTER, slug=f"npc-{n}", name=name)
        for n, name in enumerate(names)
    )
    for name in names[-40:]:
        assert find_npc(world, name).name == name
        assert EntityLinker.for_texts(world, [name]).resolve(name).name == name
    found, missing = find_npcs(world, names[-40:])
    assert len(found) == 40
    assert not missing


@pytest.mark.parametrize("reference", ["Mara Voss", "Nira Voss", "Mira", "Voss", "Rory Fenn"])
def test_a_write_takes_no_resembling_name(world: World, reference: str) -> None:
    for slug, name in (("mira-voss", "Mira Voss"), ("jory-fenn", "Jory Fenn")):
        NPC.objects.create(world=world, slug=slug, name=name)
    found, missing = find_npcs(world, [reference, "mira voss", "Mira Voss's"])
    assert set(found) == {"mira voss", "Mira Voss's"}
    assert missing[reference]  # the candidates


def test_a_part_of_a_name_is_found_though_it_is_a_common_word(world: World) -> None:
    save_entry(Lore(world=world, slug="will", title="Will Turnbull"))
    rows = Lore.objects.in_world(world)
    mentions = name_index(rows, "Where is Will?").mentions("Where is Will?")
    assert [match.name for each in mentions for match in each.matches] == ["Will Turnbull"]


def test_a_rare_part_is_found_beside_one_that_many_names_have(world: World) -> None:
    many = [
        Lore(
            world=world,
            slug=f"ash-{number}",
            title=f"Ashen Gate {number}",
            name_keys=name_keys(f"Ashen Gate {number}"),
        )
        for number in range(500)
    ]
    Lore.objects.bulk_create(many)
    save_entry(Lore(world=world, slug="mira", title="Mira Voss"))
    text = "Did Mira see the Ashen one?"
    mentions = name_index(Lore.objects.in_world(world), text).mentions(text)
    assert "Mira Voss" in {match.name for each in mentions for match in each.matches}


def test_reading_may_guess(world: World) -> None:
    NPC.objects.create(world=world, slug="mira-voss", name="Mira Voss")
    for reference in ("Mara Voss", "Mira", "Voss"):
        assert find_npc(world, reference, resembling=True).slug == "mira-voss"
        with pytest.raises(NotFound):
            find_npc(world, reference)
