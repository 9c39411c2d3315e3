"""A question that says "last session" is answered from that session."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodes.asked_sessions import AskedSession, read_asked_session
from episodes.models import Episode
from retrieval.indexing import embed_pending
from tests.conftest import ApiClient
from worlds.models import Party

pytestmark = pytest.mark.django_db

TEXTS = {
    "ep-1": (1, "Mira Voss paid the party for the ledger."),
    "ep-2": (1, "The party bought a boat from Tobin."),
    "ep-3": (2, "Jory Fenn paid the party for silence."),
    "ep-4": (2, "The party slept in the Toll House."),
    "ep-5": (3, "Mira Voss paid the party for a bell rope."),
    "ep-6": (3, "The party crossed the river at night."),
}
HOURS_APART = 7 * 24


@pytest.fixture
def episodes(engine: ApiClient, lanternbearers: Party) -> None:
    """Three sessions a week apart, the last of them a day ago."""
    for number in (1, 2, 3):
        session = {"session_id": f"s-{number}", "party_id": "lanternbearers", "number": number}
        assert engine.put("world/sessions", session)[0] == 200
        scene = {"scene_id": f"scene-{number}", "party_id": "lanternbearers"}
        scene["session_id"] = f"s-{number}"
        assert engine.put("world/scenes", scene)[0] == 200
    for place, (name, (number, text)) in enumerate(TEXTS.items()):
        body = {"summary_id": name, "party_id": "lanternbearers", "what": text}
        assert engine.post("world/episodes", {**body, "scene_id": f"scene-{number}"})[0] == 200
        age = timedelta(hours=24 + (3 - number) * HOURS_APART, minutes=-place)
        happened_at = timezone.now() - age
        Episode.objects.filter(external_id=name).update(happened_at=happened_at)
    embed_pending(Episode)


def ask(engine: ApiClient, query: str, **arguments: object) -> list[str]:
    status, answer = engine.tool(
        "session_fetch", party_id="lanternbearers", query=query, **arguments
    )
    assert status == 200, answer
    return [episode["summary_id"] for episode in answer["episodes"]]


@pytest.mark.parametrize(
    ("question", "back", "rest"),
    [
        ("Who paid us last session?", 0, "Who paid us ?"),
        ("Last time, who lied to Mira?", 0, "who lied to Mira?"),
        ("Who was at the gate in our previous game?", 0, "Who was at the gate ?"),
        ("What did we buy in the session before last?", 1, "What did we buy ?"),
        ("What happened last week's session?", 0, ""),
        ("where did we leave off", 0, ""),
        ("Кто нам заплатил в прошлый раз?", 0, "Кто нам заплатил ?"),
        ("Что было на прошлой сессии?", 0, ""),
        ("Кого мы встретили на последней игре?", 0, "Кого мы встретили ?"),
        ("Чем закончилась позапрошлая сессия?", 1, ""),
        ("На чём мы остановились?", 0, ""),
        ("지난 세션에서 무슨 일이 있었지?", 0, ""),
        ("지난번에 누가 돈을 줬어?", 0, "누가 돈을 줬어?"),
        ("저번 게임에서 누가 다쳤어?", 0, "누가 다쳤어?"),
        ("지지난번에는 뭘 샀지?", 1, "뭘 샀지?"),
        ("어디까지 했더라?", 0, ""),
    ],
)
def test_a_question_names_a_session_in_three_languages(question: str, back: int, rest: str) -> None:
    assert read_asked_session(question) == AskedSession(back, rest)


@pytest.mark.parametrize(
    "question",
    [
        "When was the last time we saw Mira?",
        "Last time we fought a troll, who died?",
        "last time Mira lied",
        "Who won the last battle?",
        "Когда мы в последний раз видели Миру?",
        "Где мы остановились на ночь?",
        "О чём говорил последний игрок?",
        "지난 겨울에 무슨 일이 있었어?",
        "마지막으로 미라를 본 게 언제야?",
    ],
)
def test_the_last_of_something_else_is_no_session(question: str) -> None:
    assert read_asked_session(question) is None


@pytest.mark.usefixtures("episodes")
def test_what_happened_last_session_is_that_session_alone(engine: ApiClient) -> None:
    assert ask(engine, "What happened last session?") == ["ep-6", "ep-5"]
    assert ask(engine, "지지난 세션에서 무슨 일이 있었지?") == ["ep-4", "ep-3"]


@pytest.mark.usefixtures("episodes")
def test_episodes_of_the_session_come_first_and_others_after_them(engine: ApiClient) -> None:
    assert set(ask(engine, "Who paid us last time?", k=2)) == {"ep-5", "ep-6"}
    assert set(ask(engine, "Кто заплатил на позапрошлой сессии?", k=2)) == {"ep-3", "ep-4"}
    everything = ask(engine, "Who paid us last time?")
    assert set(everything[:2]) == {"ep-5", "ep-6"}
    assert len(everything) == len(TEXTS)


@pytest.mark.usefixtures("episodes")
def test_a_session_that_was_never_played_narrows_nothing(engine: ApiClient) -> None:
    Episode.objects.exclude(external_id__in=["ep-5", "ep-6"]).delete()
    assert set(ask(engine, "Who paid us in the session before last?")) == {"ep-5", "ep-6"}


@pytest.mark.usefixtures("episodes")
def test_a_hidden_session_is_not_counted(engine: ApiClient) -> None:
    Episode.objects.filter(external_id__in=["ep-5", "ep-6"]).update(visibility="gm")
    asked = ask(engine, "What happened last session?", **{"as": "party:lanternbearers"})
    assert asked == ["ep-4", "ep-3"]


@pytest.mark.usefixtures("episodes")
def test_at_the_table_last_session_is_the_one_before(engine: ApiClient) -> None:
    latest = Episode.objects.filter(external_id__in=["ep-5", "ep-6"])
    latest.update(happened_at=timezone.now())
    assert ask(engine, "What happened last session?") == ["ep-4", "ep-3"]
    engine.post("world/scenes/scene-3/end", {})
    assert set(ask(engine, "What happened last session?")) == {"ep-5", "ep-6"}


@pytest.mark.usefixtures("episodes")
def test_episodes_without_a_session_are_told_apart_by_time(engine: ApiClient) -> None:
    Episode.objects.update(session=None, scene=None)
    assert ask(engine, "What happened last session?") == ["ep-6", "ep-5"]
    assert ask(engine, "Чем закончилась позапрошлая сессия?") == ["ep-4", "ep-3"]
