"""Names as a key of their own: a question that names what a memory is about finds that one."""

from dataclasses import replace
from pathlib import Path

import pytest

from memories.buckets.read_pipeline import ReadPipeline
from memories.haema import Memory
from memories.models import Namespace
from memories.search import named, recall
from memories.similarity.own_names import is_label, label_names
from tests.memories.conftest import remember
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db

LABELS = (
    "toll_ledger Tobin's ledger accounts of the toll",
    "grey_ferry Sparrow GF night crossing",
    "harbour_bell Old Maud bell of the harbour",
    "salt_road Saltway trade route",
    "night_lamp Corvid lantern",
    "eel_weir",
)


def found_texts(namespace: Namespace, question: str) -> list[str]:
    """Ask as a search and as a question: both have to agree."""
    found = [one.text for one in recall.search(namespace, question, share=0.25).memories]
    asked = [one.memory.text for one in ReadPipeline(namespace).query(question).memories]
    assert sorted(found) == sorted(asked), question
    return found


@pytest.fixture
def labelled(mira: Namespace) -> Namespace:
    for number, text in enumerate(LABELS):
        remember(mira, text, key=str(number))
    return mira


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Who steers the Sparrow?", [1]),
        ("is gf moored", [1]),
        ("What does the night crossing cost?", [1]),
        ("Is the Saltwey closed in winter?", [3]),
        ("did anybody ring OLD MAUD", [2]),
        ("Which lanterns are lit?", [4]),
        ("grey_ferry", [1]),
        ("Who owns the eel weir?", [5]),
        ("The Sparrow and the Saltway, which is faster?", [1, 3]),
        ("Who baked the bread?", []),
        ("How high is the Narrow tower?", []),
    ],
)
def test_a_label_is_found_by_its_names_alone(
    labelled: Namespace, question: str, numbers: list[int]
) -> None:
    assert sorted(found_texts(labelled, question)) == sorted(LABELS[number] for number in numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("redis_cache Redis", True),
        ("redisCache Redis in-memory cache", True),
        ("typescript TypeScript TS", True),
        ("mira prefers short answers", False),
        ("Thanks thanks", False),
        ("haha haha great", False),
        ("Mira owes Mira's sister a boat.", False),
        ("grey_ferry sank last night.", False),
        ("", False),
    ],
)
def test_a_label_is_told_from_a_sentence(text: str, *, expected: bool) -> None:
    assert is_label(text) == expected


def test_names_of_a_label_leave_out_what_names_nothing() -> None:
    names = label_names("grey_ferry Sparrow of the night")
    assert names[:4] == ["grey", "ferry", "Sparrow", "night"]
    assert {"grey ferry", "ferry Sparrow"} < set(names)
    assert label_names("redisCache v2")[:4] == ["redis", "Cache", "v2", "redis Cache"]


def test_a_word_that_many_labels_share_names_none(mira: Namespace) -> None:
    for name in ("Ash", "Birch", "Cedar", "Dogwood"):
        remember(mira, f"{name.lower()}_pier {name} pier", key=name)
    assert found_texts(mira, "Which pier is the longest?") == []
    assert found_texts(mira, "Is the Cedar pier open?") == ["cedar_pier Cedar pier"]


@pytest.mark.parametrize(
    "question",
    ["Who is Kostya?", "who is kostya", "What does Vasilakis lead?", "Who is Kostia Vasilaki?"],
)
def test_aliases_find_what_neither_words_nor_meaning_find(mira: Namespace, question: str) -> None:
    names = ["Konstantin Vasilakis", "Kostya"]
    remember(mira, "He leads the guild of lamplighters.", names=names)
    remember(mira, "Who rings the bell is paid twice.", "The bread of Ferrymark is dark.")
    assert [one.text for one in recall.search(mira, question).memories] == [
        "He leads the guild of lamplighters."
    ]


def test_an_alias_is_found_in_russian_cases_and_with_korean_particles(mira: Namespace) -> None:
    remember(mira, "Ведёт гильдию фонарщиков.", names=["Старый Хрыч"])
    remember(mira, "등대를 지킨다.", names=["검은수염"])
    for question, text in (
        ("Что известно о Старом Хрыче?", "Ведёт гильдию фонарщиков."),
        ("검은수염은 무엇을 하나요?", "등대를 지킨다."),
    ):
        assert [one.text for one in recall.search(mira, question).memories] == [text]


def test_only_memories_of_the_subject_that_is_named_are_returned(mira: Namespace) -> None:
    remember(mira, "Owes nine silver to the ferrymen.", subject="Tobin")
    remember(mira, "Owes nine crowns to the lamplighters.", subject="Anna")
    remember(mira, "Tobin paid three silver back.", "Somebody owes the miller nine silver.")
    found = [one.text for one in recall.search(mira, "What does Tobin owe?").memories]
    assert set(found) == {"Owes nine silver to the ferrymen.", "Tobin paid three silver back."}
    asked = {one.memory.text for one in ReadPipeline(mira).query("What does Tobin owe?").memories}
    assert "Owes nine silver to the ferrymen." in asked <= set(found)
    # A question that names nobody reads all of them.
    found = [one.text for one in recall.search(mira, "Who owes nine silver?").memories]
    assert "Somebody owes the miller nine silver." in found
    assert len(found) == 4


def test_an_everyday_word_is_no_name(mira: Namespace) -> None:
    remember(mira, "Keeps the shrine at the weir.", subject="Hope")
    remember(mira, "The ferry is moored at the weir.")
    found = [one.text for one in recall.search(mira, "Does Tobin hope to cross the weir?").memories]
    assert "The ferry is moored at the weir." in found


def test_names_are_added_to_what_is_known_already(mira: Namespace, tobin: Namespace) -> None:
    text = "He leads the guild of lamplighters."
    remember(mira, text, names=["Konstantin"])
    remember(mira, text, names=["Kostya"])
    assert mira.memories.active().get().metadata["names"] == ["Konstantin", "Kostya"]
    others = ["The bread of Ferrymark is dark.", "Nobody crosses the river in spring."]
    remember(mira, *others)
    for name in ("Konstantin", "Kostya"):
        found = recall.search(mira, f"Where does {name} live?").memories
        assert [one.text for one in found] == [text]
    assert recall.search(tobin, "Where does Kostya live?").memories == []


def test_names_over_rest_tools_and_python(world: World, tmp_path: Path) -> None:
    agent = Agent(world, "mira-voss")
    agent("POST", "/memory", {"contents": ["He keeps the bees."], "names": ["Kostya"]}, status=201)
    insert = {"content": "She mends the nets of the harbour.", "names": ["Bex"]}
    agent("POST", "/tools/archival_memory_insert", insert)
    event = {"content": "They guard the weir at night.", "names": ["the Otters"]}
    agent("POST", "/tools/memory_event", event)
    for name, text in (
        ("Kostya", "He keeps the bees."),
        ("Bex", "She mends the nets of the harbour."),
        ("the Otters", "They guard the weir at night."),
    ):
        for path in ("/tools/memory_ask", "/memory/query"):
            answer = agent("POST", path, {"query": f"What do we know of {name}?"})
            assert [hit["text"] for hit in answer["memories"]] == [text], path
            assert answer["decided_by"] == "names"
    memory = Memory(tmp_path)
    memory.add(["He keeps the bees."], details=True, names=["Kostya"])
    memory.add(["The toll bell hangs at the weir."])
    assert memory.search("Who is Kostya?", 5) == ["He keeps the bees."]


def test_every_memory_of_a_subject_is_read_however_many_there_are(
    mira: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named, "MOST_READ", 3)
    remember(mira, "Owes nine silver to the ferrymen.", subject="Tobin")
    dull = [f"Saw the {name} from the {place}." for name, place in SIGHTS]
    remember(mira, *dull, subject="Tobin")
    found = [one.text for one in recall.search(mira, "What does Tobin owe the ferrymen?").memories]
    assert found[0] == "Owes nine silver to the ferrymen."
    assert len(found) == len(SIGHTS) + 1


SIGHTS = [("bell", "gate"), ("lamp", "stair"), ("sign", "tavern"), ("moss", "well")]


def test_labels_that_are_not_named_take_no_place_of_what_answers(mira: Namespace) -> None:
    for number in range(8):
        remember(mira, f"bell_{number} bell of the harbour tower", key=str(number))
    sentence = "The keeper rang before dawn, and the harbour heard the bell."
    remember(mira, sentence)
    found = recall.search(mira, "Which harbour tower bell?", limit=3).memories
    assert sentence in [one.text for one in found]
    assert len(found) <= 3


def test_a_label_of_which_the_relevance_is_unknown_is_shown(labelled: Namespace) -> None:
    [memory] = recall.search(labelled, "eel_weir", limit=1).memories
    assert is_label(memory.text)
    unknown, low = replace(memory, relevance=None), replace(memory, relevance=0.1)
    assert named.NamedMemories().leave_out_labels([unknown, low]) == [unknown]
